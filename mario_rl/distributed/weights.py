"""Weights on their way from the coordinator to the workers: written by one, read by all, nobody waits.

There are two copies. The coordinator writes the older one and then makes it the current one, so a coordinator that is
killed in the middle leaves the current weights whole, and its successor writes over the torn copy. Each copy has a
sequence number, odd while it is written: a reader that was overtaken twice notices by it and reads again.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mario_rl.distributed.shared_memory import CACHE_LINE, SharedBlock, fence

Floats = npt.NDArray[np.float32]

_SEQUENCE, _VERSION = range(2)  # words of a copy's header
NOTHING_PUBLISHED = -1


class SharedWeights:
    """The newest weights of a run; `size` is the number of floats in them."""

    def __init__(self, name: str, size: int, *, create: bool = False) -> None:
        self.name = name
        self.size = size
        stride = CACHE_LINE + -(-size * 4 // CACHE_LINE) * CACHE_LINE
        self._block = SharedBlock(name, CACHE_LINE + 2 * stride, kind="weights", shape=(size,), create=create)
        self._published = self._block.words(0, 1)  # how many times; its parity is the current copy
        starts = [CACHE_LINE, CACHE_LINE + stride]
        self._headers = [self._block.words(start, 2) for start in starts]
        self._copies = [self._block.floats(start + CACHE_LINE, size) for start in starts]

    @property
    def version(self) -> int:
        """The version published last; -1 if there is none."""
        while True:
            published = self._published[0]
            if published == 0:
                return NOTHING_PUBLISHED
            version = int(self._headers[published % 2][_VERSION])
            fence()
            if self._published[0] == published:  # only then had the coordinator not begun to write this copy again
                return version

    def publish(self, weights: Floats, version: int) -> None:
        """Make these the current weights. Versions only grow, also over a restart of the coordinator."""
        self._check(weights)
        if version <= self.version:
            raise ValueError(f"weights version {version} after {self.version}: go on counting from `version`")
        published = self._published[0] + 1
        header = self._headers[published % 2]
        writing = (header[_SEQUENCE] + 1) | 1  # the next odd number, also after a predecessor that died while writing
        header[_SEQUENCE] = writing
        fence()
        np.copyto(self._copies[published % 2], weights)
        header[_VERSION] = version
        fence()
        header[_SEQUENCE] = writing + 1
        fence()
        self._published[0] = published

    def read_into(self, weights: Floats, newer_than: int = NOTHING_PUBLISHED, first: int | None = None) -> int | None:
        """Copy the current weights and return their version; None, and nothing is copied, if none are newer.

        With `first` only so many are copied, from the beginning.
        This never waits for the coordinator, dead or alive: it reads again only if two publications began meanwhile.
        """
        self._check(weights)
        while True:
            published = self._published[0]
            if published == 0:
                return None
            header = self._headers[published % 2]
            sequence = header[_SEQUENCE]
            fence()
            version = int(header[_VERSION])
            if version > newer_than:
                current = self._copies[published % 2]
                np.copyto(weights, current) if first is None else np.copyto(weights[:first], current[:first])
            fence()
            if sequence % 2 == 0 and header[_SEQUENCE] == sequence:
                return version if version > newer_than else None

    def close(self) -> None:
        """Let go of the memory; its creator also removes it from the machine."""
        self._block.close()

    def _check(self, weights: Floats) -> None:
        if weights.shape != (self.size,) or weights.dtype != np.float32:
            raise ValueError(
                f"weights are float32[{self.size}] here, not {weights.dtype}{list(weights.shape)}:"
                " worker and coordinator must build the same model"
            )
