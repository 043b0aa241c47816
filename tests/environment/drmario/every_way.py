"""Every way a capsule can take, found by trying: all pads in all frames, on the engine itself."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from mario_rl.emulators.base import DOWN, LEFT, RIGHT, UP, A, B
from mario_rl.environment.drmario.rules import RulesBatch

DIRECTIONS = (0, UP, DOWN, LEFT, RIGHT, UP | LEFT, UP | RIGHT, DOWN | LEFT, DOWN | RIGHT)
PADS = np.array([direction | buttons for direction, buttons in product(DIRECTIONS, (0, A, B, A | B))], np.uint8)
BLOCK, FIELD, HELD, FRAME_COUNT = slice(0x300, 0x330), slice(0x400, 0x480), 0xF7, 0x43
X, Y, GRAVITY, DAS, ACTION, ROTATION = 0x05, 0x06, 0x12, 0x13, 0x17, 0x25


TOGETHER = 256  # states that are tried in one step of the engine


class EveryWay:
    """Tries all pads on many states of one game's first player at once."""

    def __init__(self) -> None:
        self._engine = RulesBatch(TOGETHER * len(PADS))
        self._pads = np.zeros((TOGETHER * len(PADS), 2), np.uint8)
        self._pads[:, 0] = np.tile(PADS, TOGETHER)

    def fewest_frames(self, state: bytes) -> dict[int, int]:
        """Each placement the capsule can lock in, and after how many frames at the earliest."""
        ram = np.frombuffer(state, np.uint8)
        self._engine.ram[:] = ram
        blocks, held, frame_count = ram[None, BLOCK].copy(), ram[None, HELD].copy(), int(ram[FRAME_COUNT])
        found: dict[int, int] = {}
        seen = np.zeros(0, np.uint64)
        frames = 0
        while len(blocks):
            frames += 1
            tried = [self._try(ram, *part, frame_count) for part in _parts(blocks, held)]
            locked, after, pads = (np.concatenate(column) for column in zip(*tried, strict=True))
            for placement in np.unique(locked).tolist():
                found.setdefault(placement, frames)
            frame_count = (frame_count + 1) % 256
            keys, first = np.unique(_keys(after, pads, frame_count), return_index=True)
            fresh = first[~np.isin(keys, seen)]
            seen = np.union1d(seen, keys)
            blocks, held = after[fresh], pads[fresh]
        return found

    def _try(
        self, ram: NDArray[np.uint8], blocks: NDArray[np.uint8], held: NDArray[np.uint8], frame_count: int
    ) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.uint8]]:
        """One frame: the placements that were locked in; the other capsules' blocks, and the pads that led to them."""
        lanes = len(blocks) * len(PADS)
        games = self._engine.ram
        games[:, FIELD] = ram[FIELD]  # without what locked in the step before
        games[:, FRAME_COUNT] = frame_count
        games[:lanes, BLOCK] = np.repeat(blocks, len(PADS), axis=0)
        games[:lanes, HELD] = np.repeat(held, len(PADS))
        before = games[:lanes, BLOCK].astype(np.int32)
        mask = np.arange(len(games)) < lanes
        self._engine.step(self._pads, 1, mask)
        locked = games[:lanes, 0x300 + ACTION] == 1
        placements = before[:, ROTATION] * 128 + before[:, Y] * 8 + before[:, X]
        return placements[locked], games[:lanes, BLOCK][~locked].copy(), self._pads[:lanes, 0][~locked]


def _parts(blocks: NDArray[np.uint8], held: NDArray[np.uint8]) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.uint8]]]:
    for start in range(0, len(blocks), TOGETHER):
        yield blocks[start : start + TOGETHER], held[start : start + TOGETHER]


def _keys(blocks: NDArray[np.uint8], pads: NDArray[np.uint8], frame_count: int) -> NDArray[np.uint64]:
    """What a capsule's future depends on: the counter of a direction only while it is held, frames only by parity."""
    sideways = (pads & (LEFT | RIGHT)).astype(np.uint64)
    key = np.full(len(blocks), frame_count & 1, np.uint64)
    for value, size in (
        (blocks[:, X], 8),
        (blocks[:, Y], 16),
        (blocks[:, ROTATION], 4),
        (sideways, 4),
        (np.where(sideways > 0, blocks[:, DAS], 0), 16),
        (pads >> 6, 4),
        (blocks[:, GRAVITY], 128),
    ):
        key = key * np.uint64(size) + value.astype(np.uint64)
    return key
