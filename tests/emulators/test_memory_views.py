"""The native loops over many memories against the same in plain NumPy, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mario_rl._native import gather, gather_decimals, gather_words, look_up, look_up_window, mark

SIZE = 64


def memories(seed: int, lanes: int) -> np.ndarray:
    """Memories that lie apart, as those of a batch do."""
    return np.random.default_rng(seed).integers(0, 256, (lanes, 3 * SIZE), np.uint8)[:, SIZE : 2 * SIZE]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), lanes=st.integers(1, 9), count=st.integers(1, 12))
def test_gathering_equals_numpy(seed: int, lanes: int, count: int) -> None:
    memory = memories(seed, lanes)
    generator = np.random.default_rng(seed)
    low, high = generator.integers(0, SIZE, (2, count))

    found = np.zeros((count, lanes), np.uint8)
    gather(memory, low, found)
    assert (found == memory.T[low]).all()

    words = np.zeros((count, lanes), np.int16)
    gather_words(memory, low, high, words)
    assert (words == (memory.T[high].astype(np.uint16) << 8 | memory.T[low]).astype(np.int16)).all()

    tables = generator.random((count, 256), np.float32)
    wide = np.full((lanes, count + 3), -1, np.float32)
    look_up(memory, low, tables, wide[:, 1:])
    assert (wide[:, 1 : count + 1] == np.stack([tables[k, memory[:, low[k]]] for k in range(count)], axis=1)).all()
    assert (wide[:, 0] == -1).all() and (wide[:, count + 1 :] == -1).all()


@settings(max_examples=20, deadline=None)
@given(number=st.integers(0, 999_999), start=st.integers(0, SIZE - 6))
def test_decimal_digits_make_a_number(number: int, start: int) -> None:
    memory = np.zeros((2, SIZE), np.uint8)
    memory[1, start : start + 6] = [int(digit) for digit in f"{number:06}"]
    out = np.zeros((1, 2), np.int32)
    gather_decimals(memory, np.array([start]), np.array([6]), out)
    assert out.tolist() == [[0, number]]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), lanes=st.integers(1, 5))
def test_window_equals_numpy(seed: int, lanes: int) -> None:
    memory = memories(seed, lanes)
    generator = np.random.default_rng(seed)
    rows, columns, stride, outside = 3, 4, 16, b"\x07\xf0"
    starts = generator.integers(-2, SIZE - 2 * stride, (lanes, columns))
    tables = generator.random((2, 256), np.float32)
    out = np.zeros((lanes, 2 * rows * columns + 1), np.float32)
    look_up_window(memory, starts, rows, stride, outside, tables, out)
    for lane in range(lanes):
        for plane in range(2):
            for row in range(rows):
                for column in range(columns):
                    start = starts[lane, column]
                    byte = memory[lane, start + row * stride] if start >= 0 else outside[-1 - start]
                    assert out[lane, (plane * rows + row) * columns + column] == tables[plane, byte]
    assert (out[:, -1] == 0).all()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), lanes=st.integers(1, 5), things=st.integers(1, 6))
def test_marks_are_set_where_things_are(seed: int, lanes: int, things: int) -> None:
    generator = np.random.default_rng(seed)
    plane, row, column = generator.integers(-2, 6, (3, things, lanes), np.int16)
    there = generator.random((things, lanes)) < 0.7
    out = np.zeros((lanes, 2 * 3 * 4), np.float32)
    mark(out, there, plane, row, column, (2, 3, 4))
    expected = np.zeros((lanes, 2, 3, 4), np.float32)
    for thing, lane in np.argwhere(there):
        p, r, c = plane[thing, lane], row[thing, lane], column[thing, lane]
        if 0 <= p < 2 and 0 <= r < 3 and 0 <= c < 4:
            expected[lane, p, r, c] = 1
    assert (out.reshape(expected.shape) == expected).all()


@pytest.mark.parametrize("address", [-1, SIZE])
def test_addresses_outside_the_memory_are_refused(address: int) -> None:
    memory, at = memories(0, 2), np.array([address])
    inside, tables = np.array([0]), np.zeros((1, 256), np.float32)
    for call in (
        lambda: gather(memory, at, np.zeros((1, 2), np.uint8)),
        lambda: gather_words(memory, at, inside, np.zeros((1, 2), np.int16)),
        lambda: gather_words(memory, inside, at, np.zeros((1, 2), np.int16)),
        lambda: gather_decimals(memory, at, np.array([1]), np.zeros((1, 2), np.int32)),
        lambda: look_up(memory, at, tables, np.zeros((2, 1), np.float32)),
        lambda: look_up_window(memory, np.full((2, 1), address), 1, 1, b"", tables, np.zeros((2, 1), np.float32)),
    ):
        with pytest.raises(ValueError, match="outside the memory"):
            call()


def test_wrong_shapes_are_refused() -> None:
    memory, inside, tables = memories(0, 2), np.array([0]), np.zeros((1, 256), np.float32)
    for call in (
        lambda: gather(memory, inside, np.zeros((1, 3), np.uint8)),
        lambda: gather_words(memory, inside, np.array([0, 1]), np.zeros((1, 2), np.int16)),
        lambda: gather_decimals(memory, inside, np.array([10]), np.zeros((1, 2), np.int32)),
        lambda: look_up(memory, inside, tables, np.zeros((3, 1), np.float32)),
        lambda: look_up_window(memory, np.zeros((2, 1), int), 9, 16, b"", tables, np.zeros((2, 9), np.float32)),
        lambda: look_up_window(memory, np.zeros((2, 1), int), 2, 1, b"", tables, np.zeros((2, 1), np.float32)),
        lambda: mark(np.zeros((2, 3), np.float32), *[np.zeros((1, 2), t) for t in (bool, *"hhh")], (1, 2, 2)),
        lambda: gather(memory[:, ::2], inside, np.zeros((1, 2), np.uint8)),
    ):
        with pytest.raises(ValueError):
            call()
