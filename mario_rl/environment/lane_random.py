"""A stream of random numbers for every lane, drawn for all lanes at once.

SplitMix64: each lane is one 64-bit counter, so lane i of a vector environment seeded with s draws exactly what a single
environment seeded with s + i draws, however many lanes there are and whenever they reset.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


class LaneRandom:
    """One generator a lane; its whole state is `counters`, uint64[lanes]."""

    def __init__(self, lanes: int):
        self.counters = np.zeros(lanes, np.uint64)

    def uniform(self, lanes: npt.NDArray[np.bool_] | slice = slice(None)) -> npt.NDArray[np.float64]:
        """One number in [0, 1) from each of these lanes."""
        self.counters[lanes] += _STEP
        mixed = self.counters[lanes]
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX_1
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX_2
        mixed ^= mixed >> np.uint64(31)
        return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def below(self, limit: int, lanes: npt.NDArray[np.bool_] | slice = slice(None)) -> npt.NDArray[np.int32]:
        """One whole number in 0 .. limit-1 from each of these lanes."""
        return (self.uniform(lanes) * limit).astype(np.int32)
