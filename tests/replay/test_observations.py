"""Observations come back bit for bit, and what is shared between them is stored once."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from mario_rl.environment.smb import tiles
from mario_rl.environment.smb.observation import Pixels, Tiles
from mario_rl.environment.smb.vector import SmbVectorEnv
from mario_rl.learners.base import LaneSteps
from mario_rl.replay.buffer import ReplayBuffer
from mario_rl.replay.observations import ObservationRing

SPACES = {
    "stack": spaces.Box(0, 255, (3, 2, 5), np.uint8),
    "one picture": spaces.Box(0, 255, (1, 2, 2), np.uint8),
    "coloured floats": spaces.Box(-1, 1, (2, 2, 3), np.float32),
    "vector": spaces.Box(-1, 1, (3,), np.float64),
}


@settings(deadline=None)
@given(st.sampled_from(list(SPACES)), st.integers(1, 3), st.integers(1, 5), st.integers(0, 10**6))
def test_anything_comes_back_whether_or_not_it_looks_like_an_environment(kind, lanes, reserve, seed):
    """Each lane's next observation is at random unrelated, moved on, or the same; two values make them often equal."""
    space, random = SPACES[kind], np.random.default_rng(seed)

    def anything() -> np.ndarray:
        return random.integers(0, 2, (lanes, *space.shape)).astype(space.dtype)

    ring = ObservationRing(space, rows=8 * lanes, lanes=lanes, reserve=reserve)
    added = []
    following = anything()
    for _ in range(30):
        observations = np.where(random.random(lanes).reshape(-1, *[1] * len(space.shape)) < 0.5, following, anything())
        moved = np.concatenate([observations[:, 1:], anything()[:, :1]], axis=1)
        following = [anything(), moved, observations.copy()][random.integers(3)]
        added.append((*ring.add(observations, following), observations.copy(), following.copy()))
    there = 0
    for numbers, next_numbers, _, observations, following in added:
        kept = (numbers >= ring.oldest).all(axis=1) & (next_numbers >= ring.oldest).all(axis=1)
        there += kept.all()
        np.testing.assert_array_equal(ring.read(numbers[kept]), observations[kept], strict=True)
        np.testing.assert_array_equal(ring.read(next_numbers[kept]), following[kept], strict=True)
    assert there >= reserve
    for (_, _, _, _, before), (_, _, continues, observations, _) in pairwise(added):
        assert continues.tolist() == [bool((a == b).all()) for a, b in zip(before, observations, strict=True)]


def test_ten_thousand_transitions_of_pixels_take_less_than_90_mb():
    buffer = ReplayBuffer(10_000, 16, Pixels.space, 3, 0.99, 0.5, 0)
    arrays = [*buffer._observations.frames.arrays.values(), *buffer._transitions.values()]
    assert 10_000 * 84 * 84 < sum(array.nbytes for array in arrays) <= buffer.nbytes < 90e6


def test_tiles_take_a_byte_a_cell():
    buffer = ReplayBuffer(50_000, 8, Tiles.space, 3, 0.99, 0.0, 0)
    assert buffer.nbytes < 50_000 * 2000


def test_when_episodes_are_too_short_for_the_ring_the_oldest_go_early_and_nothing_is_mixed():
    """Whole new stacks at every step need nine times the frames; what is left is still right."""
    lanes, slots = 2, 900
    space = spaces.Box(0, 255, (4, 84, 84), np.uint8)
    buffer = ReplayBuffer(lanes * slots, lanes, space, 2, 0.9, 0.5, 0)
    yes, no = np.ones(lanes, np.bool_), np.zeros(lanes, np.bool_)

    def stack(time: int, part: int) -> np.ndarray:
        values = (time * 8 + part * 4 + np.arange(4)) % 251  # a prime: no two neighbours alike
        return np.broadcast_to(values.astype(np.uint8)[:, None, None], (lanes, 4, 84, 84))

    steps = 1000
    for time in range(steps):
        buffer.add(LaneSteps(stack(time, 0), np.full(lanes, time), np.ones(lanes, np.float32), stack(time, 1), yes, no))
    room = buffer._observations.capacity // (9 * lanes)
    assert len(buffer) == room * lanes < slots * lanes
    batch = buffer.sample(500, 1.0)
    assert batch.actions.min() >= steps - len(buffer) // lanes
    for row, time in enumerate(batch.actions.tolist()):
        np.testing.assert_array_equal(batch.states[row], stack(time, 0)[0])
        np.testing.assert_array_equal(batch.next_states[row], stack(time, 1)[0])


# --- the game itself ------------------------------------------------------------------------------------------------


def play_into(buffer: ReplayBuffer, env: SmbVectorEnv, steps: int) -> list[LaneSteps]:
    """Play at random; returns all steps."""
    random = np.random.default_rng(4)
    observations, _ = env.reset(seed=1)
    played = []
    for _ in range(steps):
        actions = random.integers(0, env.single_action_space.n, env.num_envs)
        after, rewards, terminated, truncated, infos = env.step(actions)
        following = after.copy()
        for lane in np.flatnonzero(terminated | truncated):
            following[lane] = infos["final_obs"][lane]
        played.append(LaneSteps(observations, actions, rewards, following, terminated, truncated))
        buffer.add(played[-1])
        observations = after
    return played


@pytest.mark.parametrize(
    ("observation", "settings"),
    [
        # all 32 levels, their enemies and lifts; complex actions go down pipes, and waits replace frames
        ("tiles", {"level": "random", "actions": "complex", "stuck_steps": 30}),
        ("pixels", {"level": ["1-1", "1-2", "2-2", "8-4"], "actions": "complex", "stuck_steps": 20, "max_steps": 50}),
    ],
)
def test_what_the_game_shows_comes_back_and_is_stored_once(smb_rom: Path, observation, settings):
    lanes, steps = 16, 130
    env = SmbVectorEnv(lanes, observation=observation, **settings)
    buffer = ReplayBuffer(lanes * steps, lanes, env.single_observation_space, 1, 0.99, 0.0, 0)
    played = play_into(buffer, env, steps)
    begun = lanes
    for before, step in pairwise(played):  # who never moved ends where he begins anew: that frame is there already
        begun += sum((a != b).any() for a, b in zip(before.next_observations, step.observations, strict=True))
    assert begun > 2 * lanes
    assert buffer._observations.written == lanes * steps + begun, "a frame a step, and one for every beginning"

    seen = set()
    for _ in range(60):
        batch = buffer.sample(256, 1.0)
        for row, index in enumerate(batch.indices.tolist()):
            time, lane = divmod(index, lanes)
            seen.add(index)
            assert batch.states[row].tobytes() == played[time].observations[lane].tobytes()
            assert batch.next_states[row].tobytes() == played[time].next_observations[lane].tobytes()
    assert len(seen) > 0.99 * lanes * steps


def test_tiles_that_are_none_are_refused():
    ring = ObservationRing(Tiles.space, 20, 1, 1)
    good = np.zeros((1, tiles.SIZE), np.float32)
    for value in (0.25, -0.5, 200.0, np.nan):
        bad = good.copy()
        bad[0, 7] = value
        with pytest.raises(ValueError, match="multiples of 1/2"):
            ring.add(good, bad)
