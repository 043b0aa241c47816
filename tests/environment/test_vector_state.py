"""A vector environment's saved state goes on exactly: observations, rewards, infos, resets and all randomness."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from mario_rl._native import StateError
from mario_rl.environment.smb.vector import SmbVectorEnv
from tests.snapshots.lives import assert_same, through_a_file

LANES = 4
# Short episodes on levels with pipes, water, lifts and a maze: many resets, waits and truncations.
SETTINGS: dict[str, Any] = {
    "level": ["1-1", "1-2", "2-2", "4-4"],
    "actions": "complex",
    "sticky": 0.25,
    "stuck_steps": 30,
    "max_steps": 80,
}


def actions_of(seed: int, steps: int) -> np.ndarray:
    """Mostly to the right, now and then anything."""
    random = np.random.default_rng(seed)
    to_the_right = random.integers(1, 5, (steps, LANES))
    return np.where(random.random((steps, LANES)) < 0.1, random.integers(0, 12, (steps, LANES)), to_the_right)


def play(env: SmbVectorEnv, actions: np.ndarray) -> Iterator[tuple[Any, ...]]:
    for row in actions:
        yield copy.deepcopy(env.step(row))


@pytest.mark.parametrize("observation", ["tiles", "pixels", "ram"])
def test_a_loaded_state_goes_on_exactly(observation):
    original = SmbVectorEnv(LANES, observation=observation, **SETTINGS)
    original.reset(seed=5)
    last = list(play(original, actions_of(0, 57)))[-1]
    state = through_a_file(original.state_dict())
    actions = actions_of(1, 260)
    expected = list(play(original, actions))
    assert sum(int((step[2] | step[3]).sum()) for step in expected) >= 3 * LANES, "resets are part of it"
    assert {level for step in expected for level in step[4]["level"]} == set(SETTINGS["level"])

    elsewhere = SmbVectorEnv(LANES, threads=2, observation=observation, **SETTINGS)
    elsewhere.reset(seed=77)
    list(play(elsewhere, actions_of(2, 31)))
    for env in (SmbVectorEnv(LANES, observation=observation, **SETTINGS), elsewhere, original):
        env.load_state_dict(state)
        np.testing.assert_array_equal(env.current_observation(), last[0], strict=True)
        for step, other in zip(expected, play(env, actions), strict=True):
            assert_same(step, other)


def test_the_streams_of_random_numbers_go_on_after_a_reset_without_seed():
    original = SmbVectorEnv(LANES, **SETTINGS)
    original.reset(seed=1)
    copied = SmbVectorEnv(LANES, **SETTINGS)
    copied.load_state_dict(original.state_dict())
    for _ in range(3):
        assert_same(original.reset(), copied.reset())


def test_a_state_is_a_copy():
    env = SmbVectorEnv(LANES, observation="pixels", **SETTINGS)
    env.reset(seed=1)
    state, untouched = env.state_dict(), env.state_dict()
    list(play(env, actions_of(0, 5)))
    env.reset()
    assert state == untouched


def test_a_current_observation_is_what_the_last_step_returned():
    env = SmbVectorEnv(LANES, **SETTINGS)
    observation, _ = env.reset(seed=2)
    np.testing.assert_array_equal(env.current_observation(), observation)
    for step in play(env, actions_of(3, 90)):
        np.testing.assert_array_equal(env.current_observation(), step[0])


@pytest.mark.parametrize(
    ("lanes", "other", "says"),
    [
        (3, {}, "lanes 3, ours is 4"),
        (4, {"observation": "pixels"}, "observation pixels, ours is tiles"),
        (4, {"level": "1-1"}, "levels 1-1, ours is 1-1, 1-2, 2-2, 4-4"),
        (4, {"actions": "simple"}, "actions simple, ours is complex"),
        (4, {"sticky": 0.0}, "sticky 0.0, ours is 0.25"),
        (4, {"max_steps": None}, "max_steps None, ours is 80"),
        (4, {"rewards": {"death": -9.0}}, "weights"),
    ],
)
def test_a_state_of_other_settings_is_refused_and_changes_nothing(lanes, other, says):
    env = SmbVectorEnv(LANES, **SETTINGS)
    env.reset(seed=1)
    before = env.state_dict()
    stranger = SmbVectorEnv(lanes, **SETTINGS | other)
    stranger.reset(seed=2)
    with pytest.raises(ValueError, match=says):
        env.load_state_dict(stranger.state_dict())
    assert env.state_dict() == before


def test_a_damaged_state_changes_nothing():
    env = SmbVectorEnv(LANES, **SETTINGS)
    env.reset(seed=1)
    before = env.state_dict()
    other = SmbVectorEnv(LANES, **SETTINGS)
    other.reset(seed=9)
    no_console, short_array = other.state_dict(), other.state_dict()
    no_console["consoles"][2] = b"not a console"
    short_array["arrays"]["counters"] = short_array["arrays"]["counters"][:-4]
    with pytest.raises(StateError):
        env.load_state_dict(no_console)
    with pytest.raises(ValueError):
        env.load_state_dict(short_array)
    assert env.state_dict() == before


def test_the_buttons_held_are_part_of_it():
    """A sticky action right after loading repeats what was pressed before saving."""
    settings = SETTINGS | {"sticky": 0.95}
    original = SmbVectorEnv(LANES, **settings)
    original.reset(seed=4)
    list(play(original, np.full((8, LANES), 4)))  # to the right, A and B
    loaded = SmbVectorEnv(LANES, **settings)
    loaded.load_state_dict(original.state_dict())
    nothing = np.zeros((1, LANES), np.int64)
    assert_same(list(play(original, nothing)), list(play(loaded, nothing)))


def test_ground_walked_twice_in_a_maze_is_part_of_it(recording):
    """Saved right after a loop of 7-4: until Mario is beyond the point where it put him back, nothing is paid."""
    loop = recording("7-4_loop")
    settings = {"level": loop.level, "actions": "complex", "noop_max": 0, "stuck_steps": None}
    original = SmbVectorEnv(1, **settings)
    original.reset(seed=0)
    actions = np.array(loop.actions)[:, None]
    looped_at = next(number for number, step in enumerate(play(original, actions)) if step[4]["loops"][0] == 1)
    loaded = SmbVectorEnv(1, **settings)
    loaded.load_state_dict(original.state_dict())
    onward = np.full((20, 1), 3)
    expected = list(play(original, onward))
    assert looped_at > 0
    assert max(step[1][0] for step in expected) <= 0
    assert_same(expected, list(play(loaded, onward)))
