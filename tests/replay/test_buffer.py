"""The replay buffer samples what a plain record of whole episodes says, and nothing else."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from mario_rl.learners.base import LaneSteps
from mario_rl.replay.buffer import LEAST_ERROR, Batch, ReplayBuffer
from tests.replay.lane_stories import Record, Story, stories

GAMMA = 0.9
PLAIN = spaces.Box(-4, 4, (3,), np.float32)
STACKED = spaces.Box(0, 255, (4, 2, 3), np.uint8)


def buffer_for(story: Story, space: spaces.Box, alpha: float, seed: int = 0) -> ReplayBuffer:
    # not a whole multiple of the lanes: the rest is not used
    capacity = story.slots * story.lanes + story.lanes - 1
    return ReplayBuffer(capacity, story.lanes, space, story.n_step, GAMMA, alpha, seed)


def played(story: Story, space: spaces.Box, record: Record) -> Any:
    return story.play(space.shape, space.dtype.type, stacked=space is STACKED, record=record)


@settings(deadline=None)
@given(stories(), st.sampled_from([PLAIN, STACKED]), st.sampled_from([0.0, 0.6]))
def test_it_samples_exactly_the_complete_transitions_of_the_record(story, space, alpha):
    buffer, record = buffer_for(story, space, alpha), Record(story.lanes)
    for number, steps in enumerate(played(story, space, record)):
        buffer.add(steps)
        assert len(buffer) == min(number + 1, story.slots) * story.lanes
        if number % 5 and number != len(story.endings) - 1:
            continue
        expected = record.sampleable(story.n_step, GAMMA, story.slots)
        assert buffer.sampleable == len(expected)
        if not expected:
            with pytest.raises(ValueError, match="nothing to sample yet"):
                buffer.sample(1, 1.0)
            continue
        # 25 draws a transition: one is missed by chance once in 1e11
        batch = buffer.sample(25 * len(expected), beta=1.0)
        indices, rows = np.unique(batch.indices, return_index=True)
        assert {divmod(index, story.lanes) for index in indices.tolist()} == set(expected)
        for row in rows.tolist():
            transition = expected[divmod(int(batch.indices[row]), story.lanes)]
            np.testing.assert_array_equal(batch.states[row], transition.observation)
            np.testing.assert_array_equal(batch.next_states[row], transition.next_observation)
            assert batch.actions[row] == transition.action
            assert batch.dones[row] == transition.done
            assert batch.rewards[row] == pytest.approx(transition.reward, abs=1e-5)
            assert batch.discounts[row] == pytest.approx(transition.discount, rel=1e-6)


@settings(deadline=None)
@given(stories(), st.sampled_from([0.0, 0.6]), st.integers(0, 29))
def test_a_saved_buffer_goes_on_exactly(story, alpha, saved_after):
    """Through torch.save and the strict loader, into a buffer of another seed that has memories of its own."""
    record = Record(story.lanes)
    original, other = buffer_for(story, STACKED, alpha), buffer_for(story, STACKED, alpha, seed=9)
    copy: ReplayBuffer | None = None
    for number, steps in enumerate(played(story, STACKED, record)):
        original.add(steps)
        if copy is not None:
            copy.add(steps)
            _sample_and_compare(original, copy)
        elif number == saved_after:
            _sample_and_compare(original, original)  # moves the random numbers and priorities on
            file = io.BytesIO()
            torch.save(original.state_dict(), file)
            file.seek(0)
            other.load_state_dict(torch.load(file, weights_only=True))
            copy = other
            _sample_and_compare(original, copy)
        else:
            other.add(steps)


def _sample_and_compare(original: ReplayBuffer, copy: ReplayBuffer) -> None:
    assert len(original) == len(copy)
    assert original.sampleable == copy.sampleable
    if not original.sampleable:
        return
    first = original.sample(7, 0.5)
    if original is not copy:
        second = copy.sample(7, 0.5)
        for name in Batch.__slots__:
            np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
        copy.update_priorities(second.indices, second.rewards)
    original.update_priorities(first.indices, first.rewards)


def test_a_state_dict_is_a_copy():
    story = Story(2, 2, 4, [[0, 0]] * 9, seed=0)
    record = Record(2)
    buffer, copy = buffer_for(story, PLAIN, 0.5), buffer_for(story, PLAIN, 0.5)
    steps = list(played(story, PLAIN, record))
    for step in steps[:5]:
        buffer.add(step)
    state = buffer.state_dict()
    for step in steps[5:]:
        buffer.add(step)
    copy.load_state_dict(state)
    for step in steps[5:]:
        copy.add(step)
    _sample_and_compare(buffer, copy)


def test_a_state_of_other_settings_is_refused_and_changes_nothing():
    story = Story(2, 2, 4, [[0, 0]] * 6, seed=0)
    buffer = buffer_for(story, PLAIN, 0.0)
    for step in played(story, PLAIN, Record(2)):
        buffer.add(step)
    before = buffer.state_dict()
    for other in (buffer_for(story, STACKED, 0.0), buffer_for(story, PLAIN, 0.5), buffer_for(story, PLAIN, 0.0)):
        if other._settings == buffer._settings:
            continue
        with pytest.raises(ValueError, match="other settings"):
            buffer.load_state_dict(other.state_dict())
    np.testing.assert_array_equal(buffer.sample(9, 1.0).states, _loaded(before, story).sample(9, 1.0).states)


def _loaded(state: dict[str, Any], story: Story) -> ReplayBuffer:
    buffer = buffer_for(story, PLAIN, 0.0)
    buffer.load_state_dict(state)
    return buffer


# --- how likely a transition is -------------------------------------------------------------------------------------


def steady_steps(lanes: int, time: int) -> LaneSteps:
    """Step number `time` of episodes without an end: everything is the time."""
    no = np.zeros(lanes, np.bool_)
    now, then = (np.full((lanes, 3), value, np.float32) for value in (time, time + 1))
    return LaneSteps(now, np.full(lanes, time), np.full(lanes, time, np.float32), then, no, no)


def filled(lanes: int, slots: int, steps: int, alpha: float, n_step: int = 1) -> ReplayBuffer:
    buffer = ReplayBuffer(lanes * slots, lanes, PLAIN, n_step, GAMMA, alpha, seed=3)
    for time in range(steps):
        buffer.add(steady_steps(lanes, time))
    return buffer


def counts(buffer: ReplayBuffer, draws: int) -> dict[int, int]:
    indices, numbers = np.unique(buffer.sample(draws, 0.4).indices, return_counts=True)
    return dict(zip(indices.tolist(), numbers.tolist(), strict=True))


def test_without_priorities_all_are_as_likely():
    buffer = filled(lanes=2, slots=5, steps=13, alpha=0.0)
    buffer.update_priorities(np.array([20]), np.array([1e9]))  # means nothing here
    assert buffer.sample(4, 0.4).weights.tolist() == [1.0] * 4
    found = counts(buffer, 20_000)
    assert sorted(found) == list(range(16, 26))
    assert all(abs(number - 2000) < 6 * 2000**0.5 for number in found.values())


def test_priorities_are_powers_of_the_errors_and_new_rows_get_the_largest():
    alpha = 0.5
    buffer = filled(lanes=1, slots=6, steps=4, alpha=alpha)
    assert counts(buffer, 400) == dict.fromkeys(range(4), 100), "all new: all the same, and draws are stratified"
    errors = {0: 4.0, 1: -1.0, 2: 0.25, 3: 0.0}
    buffer.update_priorities(np.array(list(errors)), np.array(list(errors.values())))
    buffer.add(steady_steps(1, 4))
    priorities = {index: (abs(error) + LEAST_ERROR) ** alpha for index, error in errors.items()}
    priorities[4] = priorities[0]
    total = sum(priorities.values())
    draws = 10_000
    found = counts(buffer, draws)
    for index, priority in priorities.items():
        assert found[index] == pytest.approx(draws * priority / total, abs=2), "stratified: off by the borders only"

    batch = buffer.sample(1000, beta=0.7)
    likelihoods = np.array([priorities[index] / total for index in batch.indices.tolist()])
    plain = (len(buffer) * likelihoods) ** -0.7
    largest = (len(buffer) * min(priorities.values()) / total) ** -0.7
    np.testing.assert_allclose(batch.weights, plain / largest, rtol=1e-5)
    assert buffer.sample(50, beta=0.0).weights.tolist() == [1.0] * 50


def test_of_an_index_that_was_sampled_twice_the_last_error_counts():
    buffer = filled(lanes=1, slots=4, steps=4, alpha=1.0)
    buffer.update_priorities(np.array([0, 1, 2, 3, 1]), np.array([1.0, 50.0, 1.0, 1.0, 1.0]))
    assert counts(buffer, 400)[1] == pytest.approx(100, abs=2)


def test_errors_of_rows_that_are_gone_are_not_given_to_their_successors():
    buffer = filled(lanes=1, slots=4, steps=4, alpha=1.0)
    for time in range(4, 8):
        buffer.add(steady_steps(1, time))
    buffer.update_priorities(np.array([0, 1, 3]), np.full(3, 1e6))
    assert counts(buffer, 400) == dict.fromkeys(range(4, 8), 100)


@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])
def test_errors_that_are_not_finite_are_ignored(broken):
    buffer = filled(lanes=1, slots=4, steps=4, alpha=0.5)
    buffer.update_priorities(np.array([0, 1]), np.array([broken, 1.0]))
    assert set(counts(buffer, 400)) == {0, 1, 2, 3}
    assert np.isfinite(buffer.sample(8, 1.0).weights).all()


def test_incomplete_rows_have_no_priority_even_where_an_old_one_had():
    buffer = filled(lanes=2, slots=5, steps=30, alpha=0.5, n_step=3)
    assert set(counts(buffer, 600)) == set(range(25 * 2, 28 * 2))


def test_the_same_seed_draws_the_same():
    first, second = (filled(2, 8, 20, alpha=0.5) for _ in range(2))
    np.testing.assert_array_equal(first.sample(64, 1.0).indices, second.sample(64, 1.0).indices)


def test_what_cannot_be():
    with pytest.raises(ValueError, match="at least 16"):
        ReplayBuffer(15, 4, PLAIN, 3, GAMMA, 0.0, 0)
    with pytest.raises(ValueError, match="Box"):
        ReplayBuffer(100, 4, spaces.Discrete(3), 3, GAMMA, 0.0, 0)
    buffer = filled(lanes=2, slots=5, steps=2, alpha=0.0)
    with pytest.raises(ValueError, match=r"float32\[2, 3\], not float32\[3, 3\]"):
        buffer.add(steady_steps(3, 0))
