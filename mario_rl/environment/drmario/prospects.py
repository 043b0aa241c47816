"""What placements lead to, in bytes: what a policy sees that scores each of them.

A prospect is the field after a placement has settled, what the settling brought, the frames it takes and what the next
capsule could do there; the situation is that of both players before. Their meaning is in native/drmario/prospects.hpp.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mario_rl._drmario import BOARD_FEATURES, MOST_PLACEMENTS, PROSPECT_FEATURES, SITUATION_FEATURES

__all__ = [
    "BOARD_FEATURES",
    "MOST_PLACEMENTS",
    "PROSPECT_FEATURES",
    "SITUATION_FEATURES",
    "SLOTS",
    "Prospects",
]

SLOTS = 64
"""Placements that a policy chooses among at most. A capsule has 35 on average; of more, the highest are left out."""


class Prospects(NamedTuple):
    """The prospects of m capsules that wait for a placement, one for each placement that looks different."""

    counts: NDArray[np.int32]
    """[m]"""
    ids: NDArray[np.int16]
    """[m, slots]: the placements; -1 behind the last one."""
    features: NDArray[np.uint8]
    """[m, slots, len(PROSPECT_FEATURES)]; 0 behind the last one."""
    situations: NDArray[np.uint8]
    """[m, len(SITUATION_FEATURES)]"""
