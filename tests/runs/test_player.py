"""A model at play for people: every frame is shown, and it is what the agent did."""

from __future__ import annotations

from contextlib import closing
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from mario_rl.config import TrainingConfig
from mario_rl.environment.smb.env import SmbEnv
from mario_rl.runs.player import Player
from tests.runs.players import Chooser, Replayer, Walker, flag_config, trained


@pytest.fixture(autouse=True)
def _the_game(smb_rom: Path) -> None:
    """Every test here plays it."""


@pytest.mark.parametrize("name", ["1-1_finish", "1-1_bonus"])
def test_it_is_the_environments_game_with_every_frame(name: str) -> None:
    """Beside an environment that renders: the same infos, and its picture is the last of each step's frames."""
    model = Replayer(name)
    env = model.recording.environment(render_mode="rgb_array")
    env.reset()
    waited = 0
    with closing(Player(trained(model, flag_config()))) as player:
        for action, moment in zip(model.recording.actions, player.play(seed=0), strict=False):
            _, _, terminated, _, info = env.step(np.int64(action))
            assert moment.info == info
            assert (moment.action, moment.ended) == (action, terminated)
            assert len(moment.frames) >= 4
            waited += len(moment.frames) - 4
            np.testing.assert_array_equal(moment.frames[-1], env.render())
    assert moment.info["x_pos"] > 400
    assert (waited > 100) == (name == "1-1_bonus"), "the ride through a pipe takes no step, but is shown"


def test_frames_move_one_at_a_time() -> None:
    with closing(Player(trained(Walker()))) as player:
        frames = [frame for moment in player.play(seed=0) for frame in moment.frames]
    repeated = sum(np.array_equal(one, other) for one, other in pairwise(frames))
    assert repeated < len(frames) / 4, "a walking Mario moves in most frames"


def test_the_same_seed_plays_the_same_episode_drawn_or_not() -> None:
    with closing(Player(trained(Chooser()), "sticky")) as player:
        seen = [
            [(m.action, m.info["x_pos"]) for m in player.play(seed, drawn)] for seed, drawn in ((3, True), (3, False))
        ]
        other = [(moment.action, moment.info["x_pos"]) for moment in player.play(4, drawn=False)]
    assert seen[0] == seen[1]
    assert seen[0] != other


def test_sticky_actions_repeat_what_was_held() -> None:
    """Each action is the greedy one or the one before; with chance 0.5 both happen often."""
    model = Chooser()
    seen: list[int] = []
    choose = model.select_action

    def remember(x: torch.Tensor, *others: object) -> torch.Tensor:
        seen.append(int(choose(x)[0]))
        return choose(x)

    model.select_action = remember  # type: ignore[method-assign]
    stuck = told_apart = before = 0
    with closing(Player(trained(model), "sticky", sticky=0.5)) as player:
        for seed in range(4):
            before = 0
            for moment in player.play(seed, drawn=False):
                assert moment.action in (seen[-1], before)
                told_apart += seen[-1] != before
                stuck += moment.action != seen[-1]
                before = moment.action
    assert told_apart > 30
    assert 0.2 < stuck / told_apart < 0.8


def test_values_and_pads_are_those_of_the_moment() -> None:
    with closing(Player(trained(Walker(action=4)))) as player:
        moment = next(player.play(0, drawn=False))
    assert moment.values.tolist() == [0, 0, 0, 0, 1]
    assert (moment.action, moment.pad) == (4, 0b1100_0001)
    assert moment.frames == ()


def test_pixels_can_be_watched_too() -> None:
    with closing(Player(trained(Walker(), TrainingConfig(observation="pixels")))) as player:
        *_, last = player.play(0)
    assert last.info["death"]


def test_after_the_flag_the_game_goes_on() -> None:
    with closing(Player(trained(Replayer("1-1_finish"), flag_config()))) as player:
        *_, last = player.play(0)
        assert last.episode.flag
        afterwards = list(player.afterwards(200))
    assert len(afterwards) == 200
    assert not np.array_equal(afterwards[0], afterwards[-1]), "Mario slides down and walks on"


def test_a_second_console_that_shows_something_else_is_noticed() -> None:
    with closing(Player(trained(Walker()))) as player:
        episode = player.play(0)
        next(episode)
        environment: SmbEnv = player._env
        environment.lanes.console.ram[0, 0x07ED] ^= 1  # a digit of the coins
        with pytest.raises(AssertionError, match="does not show what the environment played"):
            next(episode)
