"""Two agents: PettingZoo's contract, and that both play the one game that the reference plays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mario_rl.environment.drmario.buttons import DISCRETE
from mario_rl.environment.drmario.rules import IMAGE
from tests.environment.drmario.plain_games import begin

pytest.importorskip("pettingzoo")

from pettingzoo.test import parallel_api_test, parallel_seed_test

from mario_rl.environment.drmario.versus import AGENTS, PlacementVersusEnv, parallel_env

FIRST, SECOND = AGENTS


@pytest.mark.parametrize("decisions", ["buttons", "placements"])
def test_pettingzoo_s_tests_are_content(decisions: str) -> None:
    parallel_api_test(parallel_env(decisions, level=3), num_cycles=300)
    parallel_seed_test(lambda: parallel_env(decisions, level=range(21)), num_cycles=30)


def test_buttons_play_the_game_of_the_reference() -> None:
    env = parallel_env(level=4, frame_skip=3, render_mode="rgb_array")
    seen, infos = env.reset(seed=0)
    game = begin(infos[FIRST]["seed"], 4, 2)
    while game.seats[0][0x17] != 0:
        game.step(0, 0)
    np.testing.assert_array_equal(seen[FIRST][:6], seen[SECOND][6:])
    random = np.random.default_rng(0)
    while env.agents:
        actions = {agent: int(random.integers(12)) for agent in AGENTS}
        seen, rewards, terminated, _, infos = env.step(actions)
        for _ in range(3):
            game.step(DISCRETE[actions[FIRST]], DISCRETE[actions[SECOND]])
        assert bytes(env.lanes.game.ram[0, IMAGE]) == bytes(np.frombuffer(game.ram, np.uint8)[IMAGE])
        np.testing.assert_array_equal(seen[FIRST][6:], seen[SECOND][:6])
        for seat, agent in enumerate(AGENTS):
            assert infos[agent]["viruses"] == int(f"{game.seats[seat][0x24]:x}")
            assert infos[agent]["viruses_cleared"] == game.counts["viruses"][seat]
    results = [infos[agent]["result"] for agent in AGENTS]
    assert sorted(results) == ["top_out", "win"] and all(terminated.values())
    winner = AGENTS[results.index("win")]
    assert infos[winner]["reward_terms"]["win"] == 1000 and rewards[winner] > 900
    picture = env.render()
    assert picture is not None and picture.shape == (240, 256, 3)
    with pytest.raises(ValueError, match="call reset"):
        env.step({FIRST: 0, SECOND: 0})


def play_placements(**settings: Any) -> list[Any]:
    """A round of random placements: what happened in it."""
    env = parallel_env("placements", level=2, **settings)
    assert isinstance(env, PlacementVersusEnv)
    _, infos = env.reset(seed=4)
    random = np.random.default_rng(1)
    story: list[Any] = []
    turns = set()
    while env.agents:
        waiting = tuple(not infos[agent]["action_mask"][-1] for agent in AGENTS)
        turns.add(waiting)
        actions = {agent: int(random.choice(np.flatnonzero(infos[agent]["action_mask"]))) for agent in AGENTS}
        before = {agent: infos[agent]["placement"] for agent in AGENTS}
        _, rewards, terminated, _, infos = env.step(actions)
        for agent, chooses in zip(AGENTS, waiting, strict=True):
            assert infos[agent]["landed"] and infos[agent]["missed"] == 0
            if chooses:
                action, placement = actions[agent], infos[agent]["placement"]
                assert (placement // 128, placement % 8) == (action // 8, action % 8)
            else:
                assert actions[agent] == env.wait and infos[agent]["placement"] == before[agent]
        story.append((actions, rewards, terminated, {agent: infos[agent]["frame"] for agent in AGENTS}))
        assert any(not infos[agent]["action_mask"][-1] for agent in AGENTS) or not env.agents, "somebody has to choose"
    assert turns == {(True, True), (True, False), (False, True)}
    assert {infos[agent]["result"] for agent in AGENTS} == {"win", "top_out"}
    assert min(infos[agent]["capsules"] for agent in AGENTS) > 3
    return story


def test_placements_take_turns_as_capsules_come_and_all_backends_agree() -> None:
    assert play_placements() == play_placements(backend="embedded")


def test_an_agent_that_waits_when_it_has_to_choose_lets_its_capsule_fall() -> None:
    env = parallel_env("placements")
    _, infos = env.reset(seed=0)
    assert not infos[FIRST]["action_mask"][32] and not infos[SECOND]["action_mask"][32]
    *_, infos = env.step({FIRST: 32, SECOND: 0})
    assert infos[FIRST]["placement"] % 8 == 3 and infos[FIRST]["placement"] // 128 == 0
    assert infos[SECOND]["placement"] % 8 == 0


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"opponent": "greedy"}, "opponent cannot be set"),
        ({"players": 2}, "players cannot be set"),
        ({"player_id": 2}, "player_id cannot be set"),
        ({"decisions": "turns"}, "unknown decisions 'turns'; use one of buttons, placements"),
        ({"render_mode": "human"}, "unknown render_mode"),
    ],
)
def test_mistakes_in_settings(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parallel_env(**settings)


@pytest.mark.parametrize("decisions", ["buttons", "placements"])
def test_mistakes_in_actions(decisions: str) -> None:
    env = parallel_env(decisions)
    env.reset(seed=0)
    before = bytes(env.lanes.game.ram[0])
    for actions, says in (
        ({FIRST: 0}, "an action of player_2 is missing"),
        ({FIRST: 0, SECOND: 99}, "action"),
        ({FIRST: 0, SECOND: 0.5}, "action"),
    ):
        with pytest.raises(ValueError, match=says):
            env.step(actions)
        assert bytes(env.lanes.game.ram[0]) == before
