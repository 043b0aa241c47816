"""The sequence replay gives back what a plain list of every lane's rows holds, and nothing else."""

from __future__ import annotations

import io

import numpy as np
import pytest
import torch
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from mario_rl.environment.smb import tiles
from mario_rl.learners.base import LaneSteps
from mario_rl.replay.sequences import Latents, SequenceReplay

PLAIN = spaces.Box(-4, 4, (3,), np.float32)
STACKED = spaces.Box(0, 255, (4, 2, 3), np.uint8)
GOES_ON, TERMINATED, TRUNCATED = range(3)
DETERMINISTIC, VARIABLES = 5, 2


class Row:
    """What a lane saw, and how it came there."""

    def __init__(self, seen: np.ndarray, action: int, reward: float, first: bool, terminal: bool, latent: int | None):
        self.seen, self.action, self.reward = seen, action, reward
        self.first, self.terminal, self.latent = first, terminal, latent


def latents(numbers: list[int]) -> Latents:
    """A latent that tells its number."""
    column = np.array(numbers)[:, None]
    return Latents(
        np.repeat(column, DETERMINISTIC, 1).astype(np.float16), np.repeat(column % 251, VARIABLES, 1).astype(np.uint8)
    )


def play(replay: SequenceReplay, space: spaces.Box, endings: list[list[int]], lanes: int) -> list[list[Row]]:
    """Play a story into a replay; the rows of every lane, as plain lists."""
    random = np.random.default_rng(0)

    def seen() -> np.ndarray:
        return random.integers(0, 200, space.shape).astype(space.dtype)

    rows: list[list[Row]] = [[] for _ in range(lanes)]
    observations = [seen() for _ in range(lanes)]
    begins = [True] * lanes
    number = 0
    for ends in endings:
        following = [seen() for _ in range(lanes)]
        actions = random.integers(0, 5, lanes)
        rewards = random.normal(size=lanes).astype(np.float32)
        numbers = []
        for lane in range(lanes):
            number += 1
            numbers.append(number)
            if begins[lane]:
                rows[lane].append(Row(observations[lane], 0, 0.0, True, False, None))
            rows[lane][-1].latent = number
            over = ends[lane] == TERMINATED
            rows[lane].append(Row(following[lane], int(actions[lane]), float(rewards[lane]), False, over, None))
        steps = LaneSteps(
            np.stack(observations), actions, rewards, np.stack(following),
            np.array([end == TERMINATED for end in ends]), np.array([end == TRUNCATED for end in ends]),
        )  # fmt: skip
        replay.add(steps, latents(numbers))
        begins = [end != GOES_ON for end in ends]
        observations = [seen() if begin else after for begin, after in zip(begins, following, strict=True)]
    return rows


@st.composite
def stories(draw: st.DrawFn) -> tuple[int, int, int, list[list[int]]]:
    """Lanes, the length of sequences, rows a lane, and how every step of every lane ends."""
    lanes, length = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    ending = st.sampled_from([GOES_ON] * 6 + [TERMINATED, TRUNCATED])
    step = st.lists(ending, min_size=lanes, max_size=lanes)
    return lanes, length, draw(st.integers(length + 1, length + 8)), draw(st.lists(step, min_size=1, max_size=25))


@settings(deadline=None)
@given(stories(), st.sampled_from([PLAIN, STACKED]), st.sampled_from([0.0, 0.5, 1.0]))
def test_it_samples_the_sequences_of_the_record_and_the_state_before_them(story, space, share) -> None:
    lanes, length, capacity, endings = story
    replay = SequenceReplay(capacity * lanes + lanes - 1, lanes, space, length, DETERMINISTIC, VARIABLES, share, seed=0)
    rows = play(replay, space, endings, lanes)
    assert len(replay) == sum(min(len(lane), capacity) for lane in rows)

    expected = {}
    for lane, all_rows in enumerate(rows):
        gone = len(all_rows) - capacity
        for begin in range(max(gone, 0), len(all_rows) - length + 1):
            if begin > max(gone, 0) or begin == 0:  # the state before the oldest row is gone, but for a lane's first
                expected[lane, begin % capacity] = (
                    all_rows[begin - 1] if begin else None,
                    all_rows[begin : begin + length],
                )
    assert replay.sampleable == len(expected)
    if not expected:
        with pytest.raises(ValueError, match="nothing to sample"):
            replay.sample(1)
        return

    sampled = replay.sample(30 * len(expected))
    found = set()
    for column in range(sampled.places.shape[1]):
        key = divmod(int(sampled.places[0, column]), capacity)
        found.add(key)
        before, sequence = expected[key]
        for step, row in enumerate(sequence):
            newest = row.seen[-1] if space is STACKED else row.seen
            np.testing.assert_array_equal(sampled.observations[step, column], newest)
            assert sampled.first[step, column] == row.first and sampled.terminal[step, column] == row.terminal
            assert sampled.actions[step, column] == row.action
            assert sampled.rewards[step, column] == np.float32(row.reward)
        if not sequence[0].first:
            assert before is not None and not before.terminal
            assert (sampled.before.deterministic[column] == before.latent).all()
            assert (sampled.before.classes[column] == before.latent % 251).all()
    if share < 1:
        assert found == set(expected)


def test_so_many_sequences_hold_an_end() -> None:
    endings = [[TERMINATED if number in (40, 90) else GOES_ON] for number in range(200)]
    drawn = {}
    for share in (0.0, 0.5):
        replay = SequenceReplay(300, 1, PLAIN, 8, DETERMINISTIC, VARIABLES, share, seed=0)
        play(replay, PLAIN, endings, 1)
        drawn[share] = replay.sample(1000).terminal.any(axis=0).mean()
    assert drawn[0.0] < 0.15 and 0.5 <= drawn[0.5] < 0.65


def test_refreshed_latents_are_what_the_next_sequences_begin_with() -> None:
    replay = SequenceReplay(100, 1, PLAIN, 4, DETERMINISTIC, VARIABLES, 0.0, seed=0)
    play(replay, PLAIN, [[GOES_ON]] * 60, 1)
    sampled = replay.sample(200)
    count = sampled.places.size
    replay.refresh(
        sampled.places,
        Latents(np.full((count, DETERMINISTIC), -1, np.float16), np.full((count, VARIABLES), 7, np.uint8)),
    )
    again = replay.sample(200)
    inside = np.isin(again.places[0] - 1, sampled.places)
    assert inside.mean() > 0.9
    assert (again.before.deterministic[inside] == -1).all() and (again.before.classes[inside] == 7).all()


def test_tiles_and_pixels_take_a_byte_a_cell() -> None:
    space = spaces.Box(-tiles.LARGEST, tiles.LARGEST, (tiles.SIZE,), np.float32)
    replay = SequenceReplay(1000, 2, space, 4, 128, 8, 0.0, seed=0)
    assert replay.nbytes / 1000 < 2.2 * tiles.SIZE  # float32 would be 4 x; latents and scalars are the rest
    pixels = SequenceReplay(1000, 2, spaces.Box(0, 255, (4, 84, 84), np.uint8), 4, 128, 8, 0.0, seed=0)
    assert pixels.nbytes / 1000 < 84 * 84 + 300


def test_a_state_goes_on_exactly_and_one_of_other_settings_is_refused() -> None:
    first, second = (SequenceReplay(60, 2, STACKED, 4, DETERMINISTIC, VARIABLES, 0.5, seed=seed) for seed in (0, 1))
    endings = [[GOES_ON, TERMINATED if number % 7 == 3 else GOES_ON] for number in range(50)]
    play(first, STACKED, endings, 2)
    first.sample(3)
    file = io.BytesIO()
    torch.save(first.state_dict(), file)
    file.seek(0)
    second.load_state_dict(torch.load(file, weights_only=True))
    for _ in range(3):
        ours, theirs = first.sample(8), second.sample(8)
        np.testing.assert_array_equal(ours.places, theirs.places)
        np.testing.assert_array_equal(ours.observations, theirs.observations)
        np.testing.assert_array_equal(ours.before.deterministic, theirs.before.deterministic)
    other = SequenceReplay(60, 2, STACKED, 5, DETERMINISTIC, VARIABLES, 0.5, seed=0)
    with pytest.raises(ValueError, match="other settings"):
        other.load_state_dict(first.state_dict())


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="too small"):
        SequenceReplay(9, 2, PLAIN, 4, DETERMINISTIC, VARIABLES, 0.0, seed=0)
    replay = SequenceReplay(20, 2, PLAIN, 4, DETERMINISTIC, VARIABLES, 0.0, seed=0)
    wrong = np.zeros((2, 4), np.float32)
    with pytest.raises(ValueError, match="observations are"):
        replay.add(
            LaneSteps(
                wrong, np.zeros(2, np.int64), np.zeros(2, np.float32), wrong, np.zeros(2, bool), np.zeros(2, bool)
            ),
            latents([1, 2]),
        )
