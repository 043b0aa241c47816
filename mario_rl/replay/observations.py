"""Observations kept once and without loss, however often they occur in transitions.

A transition has two observations, and most of what they show is in its neighbours, too: what followed one step is where
the next one began, and stacked frames are the same pictures moved on by one. So single frames are stored, in one ring
for all lanes, and a transition holds their numbers. Numbers count up for ever; a frame whose number is `oldest` or
larger is still there. Whether a frame is already stored is seen by comparing, not concluded from how environments
usually behave, so that whatever is read is exactly what was added.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from mario_rl.environment.smb import tiles

Array = npt.NDArray[Any]
Numbers = npt.NDArray[np.int64]

# An episode needs one frame more than it has steps. The ring has room for this share of additional frames, and always
# for so many bytes of them; when episodes are so short that it does not suffice, the oldest transitions go early.
SPARE_FRAMES = 1 / 8
SPARE_BYTES = 8 << 20


class Frames(Protocol):
    """Where frames are kept, and in which form."""

    @property
    def arrays(self) -> dict[str, Array]:
        """By name; one row per frame in each."""

    def write(self, at: Numbers, frames: Array) -> None:
        """Store frames at these positions."""

    def read(self, at: Numbers) -> Array:
        """The frames at these positions (any shape of them), as they were given."""


class PlainFrames:
    """Frames as they are."""

    def __init__(self, count: int, shape: tuple[int, ...], dtype: np.dtype[Any]):
        self._frames: Array = np.zeros((count, *shape), dtype)

    @property
    def arrays(self) -> dict[str, Array]:
        """See `Frames.arrays`."""
        return {"frames": self._frames}

    def write(self, at: Numbers, frames: Array) -> None:
        """See `Frames.write`."""
        self._frames[at] = frames

    def read(self, at: Numbers) -> Array:
        """See `Frames.read`."""
        return self._frames.take(at, axis=0)


class TileFrames:
    """Super Mario Bros. tiles: the planes hold only 0, 1/2 and 1, so a byte a cell is enough; the scalars are kept."""

    def __init__(self, count: int):
        self._planes = np.zeros((count, tiles.LAYOUT["scalars"].start), np.uint8)
        self._scalars = np.zeros((count, len(tiles.SCALARS)), np.float32)

    @property
    def arrays(self) -> dict[str, Array]:
        """See `Frames.arrays`."""
        return {"planes": self._planes, "scalars": self._scalars}

    def write(self, at: Numbers, frames: Array) -> None:
        """See `Frames.write`; a ValueError if a plane holds something else."""
        doubled = frames[:, : self._planes.shape[1]] * np.float32(2)
        # what lies outside of a byte becomes some other number and is refused, so the cast need not warn
        with np.errstate(invalid="ignore"):
            planes = doubled.astype(np.uint8)
        if not (planes == doubled).all():
            raise ValueError("tile planes hold multiples of 1/2 from 0 on; these observations are something else")
        self._planes[at] = planes
        self._scalars[at] = frames[:, self._planes.shape[1] :]

    def read(self, at: Numbers) -> Array:
        """See `Frames.read`."""
        out = np.empty((len(at), tiles.SIZE), np.float32)
        cells = self._planes.shape[1]
        np.multiply(self._planes.take(at, axis=0), np.float32(0.5), out=out[:, :cells], dtype=np.float32)
        out[:, cells:] = self._scalars.take(at, axis=0)
        return out


def is_stack(space: spaces.Box) -> bool:
    """Whether the first axis counts pictures in time: several grey pictures, as `pixels` are."""
    return space.dtype == np.uint8 and len(space.shape) == 3 and space.shape[0] > 1


class ObservationRing:
    """The observations of at least the last transitions of all lanes: `rows` transitions, if episodes are not tiny.

    `reserve` steps of all lanes are kept in any case, even if no two observations have anything in common.
    """

    def __init__(self, space: spaces.Box, rows: int, lanes: int, reserve: int):
        self.shape = (lanes, *space.shape)
        self.dtype = space.dtype
        self._lanes = lanes
        self._stack = space.shape[0] if is_stack(space) else 1
        frame_shape = space.shape[1:] if is_stack(space) else space.shape
        self._are_tiles = space.shape == (tiles.SIZE,) and space.dtype == np.float32
        frame_bytes = tiles.SIZE if self._are_tiles else int(np.prod(frame_shape)) * self.dtype.itemsize
        spare = max(int(rows * SPARE_FRAMES), min(rows, SPARE_BYTES // frame_bytes))
        # at worst a step writes two whole stacks and a frame, and begins with frames of `stack` steps before
        self.capacity = max(rows + spare, (2 * self._stack + 1) * lanes * (reserve + self._stack))
        self.frames: Frames = (
            TileFrames(self.capacity) if self._are_tiles else PlainFrames(self.capacity, frame_shape, self.dtype)
        )
        self.written = 0
        # What followed the step before, and the numbers of its frames: where the next step usually begins.
        self._last = np.zeros(self.shape, self.dtype)
        self._last_numbers = np.zeros((lanes, self._stack), np.int64)

    @property
    def stack(self) -> int:
        """Frames in an observation."""
        return self._stack

    @property
    def oldest(self) -> int:
        """Frames with lower numbers are gone."""
        return max(0, self.written - self.capacity)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(array.nbytes for array in self.frames.arrays.values()) + self._last.nbytes

    def add(self, observations: Array, following: Array) -> tuple[Numbers, Numbers, npt.NDArray[np.bool_]]:
        """Store where a step of all lanes began and what followed.

        Returns the frame numbers of both, int64[lanes, stack], and in which lanes the step began where the last ended.
        """
        continues = self._same(observations, self._last) if self.written else np.zeros(self._lanes, np.bool_)
        numbers = self._last_numbers.copy()
        for lane in np.flatnonzero(~continues).tolist():
            numbers[lane] = self._store_whole(observations[lane])

        following_numbers = np.empty_like(numbers)
        following_numbers[:, :-1] = numbers[:, 1:]
        following_numbers[:, -1] = self.written + np.arange(self._lanes)
        newest = following if self._stack == 1 else following[:, -1]
        self._store(newest)
        if self._stack > 1:
            moved_on = self._same(following[:, :-1], observations[:, 1:])
            for lane in np.flatnonzero(~moved_on).tolist():
                following_numbers[lane] = self._store_whole(following[lane])

        self._last[:] = following
        self._last_numbers[:] = following_numbers
        return numbers, following_numbers, continues

    def read(self, numbers: Numbers) -> Array:
        """Observations by their frame numbers, int64[n, stack], as an array of their own."""
        at = numbers % self.capacity
        return self.frames.read(at[:, 0] if self._stack == 1 else at)

    def state_dict(self) -> dict[str, Any]:
        """All frames that were written, and where the lanes are."""
        used = min(self.written, self.capacity)
        kept = {name: array[:used] for name, array in self.frames.arrays.items()}
        return kept | {"written": self.written, "last": self._last, "last_numbers": self._last_numbers}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take a state over (of the same settings: `ReplayBuffer` has checked that)."""
        for name, array in self.frames.arrays.items():
            array[: len(state[name])] = state[name]
        self.written = int(state["written"])
        self._last[:] = state["last"]
        self._last_numbers[:] = state["last_numbers"]

    def _same(self, some: Array, others: Array) -> npt.NDArray[np.bool_]:
        """In which lanes all bits are the same."""
        return (_words(some) == _words(others)).reshape(self._lanes, -1).all(axis=1)

    def _store(self, frames: Array) -> None:
        at = (self.written + np.arange(len(frames))) % self.capacity
        self.frames.write(at, frames)
        self.written += len(frames)

    def _store_whole(self, observation: Array) -> Numbers:
        """Store all frames of one observation, frames that are repeated (an episode's beginning) once."""
        frames = observation[None] if self._stack == 1 else observation
        new = np.array([True, *(bool((a != b).any()) for a, b in pairwise(frames))])
        numbers = self.written + np.cumsum(new) - 1
        self._store(frames[new])
        return numbers


def _words(array: Array) -> Array:
    """The same bytes in words as wide as the rows allow: fewer of them to compare, and NaN equals itself."""
    row_bytes = array.shape[-1] * array.itemsize
    word = next(word for word in (np.uint64, np.uint32, np.uint16, np.uint8) if row_bytes % word().itemsize == 0)
    return np.asarray(array if array.strides[-1] == array.itemsize else array.copy()).view(word)
