"""The contract of our vector environments, over every kind: n lanes are n single ones, and a state goes on exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
import pytest

from mario_rl.environment.drmario.env import DrMarioEnv
from mario_rl.environment.drmario.placement import DrMarioPlacementEnv
from mario_rl.environment.drmario.vector import DrMarioPlacementVectorEnv, DrMarioVectorEnv
from mario_rl.environment.smb.env import SmbEnv
from mario_rl.environment.smb.vector import SmbVectorEnv
from mario_rl.environment.vector import LanesVectorEnv
from tests.contracts.vector_play import draw, play
from tests.snapshots.lives import assert_same, through_a_file

LANES = 3

Settings = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A vector environment, the single one it should equal, and how many steps see several resets."""

    vector: Callable[..., LanesVectorEnv]
    single: Callable[..., gymnasium.Env[Any, Any]]
    settings: Settings
    steps: int


def smb(**settings: Any) -> Kind:
    """Short episodes on levels with pipes, water, lifts and a maze: many resets, waits and truncations."""
    short: Settings = {"level": ["1-1", "1-2", "2-2", "4-4"], "actions": "complex", "sticky": 0.25, "stuck_steps": 30}
    return Kind(SmbVectorEnv, SmbEnv, short | {"max_steps": 80} | settings, 220)


def buttons(**settings: Any) -> Kind:
    short: Settings = {"level": [0, 9, 20], "speed": ["med", "hi"], "max_frames": 700, "frame_skip": 7}
    return Kind(DrMarioVectorEnv, DrMarioEnv, short | settings, 110)


def placements(**settings: Any) -> Kind:
    short: Settings = {"level": [0, 9, 20], "speed": ["med", "hi"], "max_frames": 700}
    return Kind(DrMarioPlacementVectorEnv, DrMarioPlacementEnv, short | settings, 25)


KINDS: dict[str, Kind] = {
    "smb-tiles": smb(),
    "smb-pixels": smb(observation="pixels"),
    "smb-ram": smb(observation="ram"),
    # The opponent plans its placements, which is part of the state.
    "buttons-features-opponent": buttons(features=True, opponent="greedy"),
    "buttons-multidiscrete-flat": buttons(actions="multidiscrete", observation="flat"),
    "buttons-embedded": buttons(backend="embedded", players=2, player_id=2),
    "placements-opponent": placements(opponent="greedy"),
    "placements-tucks": placements(observation="placements", tucks=True),
    "placements-embedded": placements(backend="embedded"),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


@pytest.fixture
def env(kind: Kind) -> LanesVectorEnv:
    return kind.vector(LANES, **kind.settings)


def of_lane(values: Any, lane: int) -> Any:
    """A lane's part of nested observations and infos, without Gymnasium's masks."""
    if isinstance(values, dict):
        return {
            key: of_lane(value, lane)
            for key, value in values.items()
            if not key.startswith("_") and not key.startswith("final_")
        }
    return values[lane]


def test_a_lane_plays_as_a_single_environment_with_its_seed(kind: Kind) -> None:
    threads = 1 if kind.settings.get("backend") else 2
    envs = kind.vector(LANES, threads=threads, **kind.settings)
    singles = [kind.single(**kind.settings) for _ in range(LANES)]
    seen, info = envs.reset(seed=11)
    for lane, env in enumerate(singles):
        assert_same((of_lane(seen, lane), of_lane(info, lane)), env.reset(seed=11 + lane))
    ended = 0
    for actions, seen, reward, terminated, truncated, infos in play(envs, 1, kind.steps):
        for lane, env in enumerate(singles):
            step = env.step(actions[lane])
            assert (reward[lane], terminated[lane], truncated[lane]) == step[1:4]
            if terminated[lane] or truncated[lane]:
                ended += 1
                assert infos["_final_obs"][lane] and infos["_final_info"][lane]
                assert_same((infos["final_obs"][lane], of_lane(infos["final_info"], lane)), (step[0], step[4]))
                first, told = env.reset()
                if "reward_terms" in told:
                    told["reward_terms"] = step[4]["reward_terms"]  # the reward that came with this step
                assert_same((of_lane(seen, lane), of_lane(infos, lane)), (first, told))
            else:
                assert "final_obs" not in infos or infos["final_obs"][lane] is None
                assert_same((of_lane(seen, lane), of_lane(infos, lane)), (step[0], step[4]))
    assert ended >= LANES, "resets are part of it"


def test_a_loaded_state_goes_on_exactly(kind: Kind, env: LanesVectorEnv) -> None:
    env.reset(seed=5)
    last = list(play(env, 0, 13))[-1]
    state = through_a_file(env.state_dict())
    assert_same(env.current_observation(), last[1])
    expected = list(play(env, 1, kind.steps))
    assert sum(int((step[3] | step[4]).sum()) for step in expected) >= LANES, "resets are part of it"

    elsewhere = kind.vector(LANES, threads=1 if kind.settings.get("backend") else 2, **kind.settings)
    elsewhere.reset(seed=77)
    list(play(elsewhere, 2, 9))
    for loaded in (kind.vector(LANES, **kind.settings), elsewhere, env):
        loaded.load_state_dict(state)
        assert_same(loaded.current_observation(), last[1])
        for step, other in zip(expected, play(loaded, 1, kind.steps), strict=True):
            assert_same(step, other)


def test_a_current_observation_is_what_the_last_step_returned(kind: Kind, env: LanesVectorEnv) -> None:
    observation, _ = env.reset(seed=2)
    assert_same(env.current_observation(), observation)
    for step in play(env, 3, kind.steps):
        assert_same(env.current_observation(), step[1])


def test_the_streams_of_random_numbers_go_on_after_a_reset_without_seed(kind: Kind, env: LanesVectorEnv) -> None:
    env.reset(seed=1)
    copied = kind.vector(LANES, **kind.settings)
    copied.load_state_dict(env.state_dict())
    for _ in range(3):
        assert_same(env.reset(), copied.reset())


def test_a_state_is_a_copy(env: LanesVectorEnv) -> None:
    env.reset(seed=1)
    state, untouched = env.state_dict(), env.state_dict()
    list(play(env, 0, 5))
    env.reset()
    assert state == untouched


def test_a_damaged_state_changes_nothing(kind: Kind, env: LanesVectorEnv) -> None:
    env.reset(seed=1)
    before = env.state_dict()
    other = kind.vector(LANES, **kind.settings)
    other.reset(seed=9)
    no_game, short_array, fewer_lanes = other.state_dict(), other.state_dict(), other.state_dict()
    no_game["consoles" if "consoles" in no_game else "games"][2] = b"not a game"
    short_array["arrays"]["random"] = short_array["arrays"]["random"][:-4]
    fewer_lanes["settings"]["lanes"] = "2"
    for damaged in (no_game, short_array, fewer_lanes):
        with pytest.raises(ValueError):
            env.load_state_dict(damaged)
        assert env.state_dict() == before


def test_some_lanes_can_be_reset(env: LanesVectorEnv) -> None:
    env.reset(seed=0)
    for step in play(env, 0, 5):
        before = step
    seen, info = env.reset(options={"reset_mask": np.array([False, True, False])})
    assert info["episode_length"].tolist() == [before[5]["episode_length"][0], 0, before[5]["episode_length"][2]]
    assert all(info[f"_{key}"].tolist() == [False, True, False] for key in info if not key.startswith("_"))
    assert_same(of_lane(seen, 0), of_lane(before[1], 0))
    for wrong in ([True], [1, 0, 1], [False] * LANES):
        with pytest.raises(ValueError, match="reset_mask"):
            env.reset(options={"reset_mask": np.array(wrong)})


def test_actions_that_are_none_are_refused(env: LanesVectorEnv) -> None:
    env.reset(seed=0)
    good = draw(env, np.random.default_rng(0))
    for wrong in (good[:2], good.astype(float), good - 1000, good + 1000):
        with pytest.raises(ValueError, match="action") as error:
            env.step(wrong)
        assert "\n" not in str(error.value)


def test_every_environment_has_spaces_of_its_own(kind: Kind) -> None:
    """A space holds a random generator: seeding one must not touch another's."""
    first, second = (kind.single(**kind.settings) for _ in range(2))
    assert first.observation_space is not second.observation_space and first.action_space is not second.action_space
