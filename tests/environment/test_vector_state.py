"""What belongs to a saved state of Super Mario Bros. (the contract is in tests/contracts/test_vector_env.py)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mario_rl.environment.smb.vector import SmbVectorEnv
from tests.snapshots.lives import assert_same, steps_of

LANES = 4
SETTINGS: dict[str, Any] = {
    "level": ["1-1", "1-2", "2-2", "4-4"],
    "actions": "complex",
    "sticky": 0.25,
    "stuck_steps": 30,
    "max_steps": 80,
}


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


def test_the_buttons_held_are_part_of_it():
    """A sticky action right after loading repeats what was pressed before saving."""
    settings = SETTINGS | {"sticky": 0.95}
    original = SmbVectorEnv(LANES, **settings)
    original.reset(seed=4)
    list(steps_of(original, np.full((8, LANES), 4)))  # to the right, A and B
    loaded = SmbVectorEnv(LANES, **settings)
    loaded.load_state_dict(original.state_dict())
    nothing = np.zeros((1, LANES), np.int64)
    assert_same(list(steps_of(original, nothing)), list(steps_of(loaded, nothing)))


def test_ground_walked_twice_in_a_maze_is_part_of_it(recording):
    """Saved right after a loop of 7-4: until Mario is beyond the point where it put him back, nothing is paid."""
    loop = recording("7-4_loop")
    settings = {"level": loop.level, "actions": "complex", "noop_max": 0, "stuck_steps": None}
    original = SmbVectorEnv(1, **settings)
    original.reset(seed=0)
    actions = np.array(loop.actions)[:, None]
    looped_at = next(number for number, step in enumerate(steps_of(original, actions)) if step[4]["loops"][0] == 1)
    loaded = SmbVectorEnv(1, **settings)
    loaded.load_state_dict(original.state_dict())
    onward = np.full((20, 1), 3)
    expected = list(steps_of(original, onward))
    assert looped_at > 0
    assert max(step[1][0] for step in expected) <= 0
    assert_same(expected, list(steps_of(loaded, onward)))
