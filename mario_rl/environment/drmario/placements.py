"""Where a capsule can come to lie: the numbers of placements, and what the engine says about them.

A capsule waits for a placement at its decision point, the end of the frame in which it comes under control: the next
frame is the first that can move it. A placement is numbered rotation * 128 + y * 8 + x, as the bytes of the player's
block have them when it locks: y counts from the bottom; x and y are those of the left half, or of the lower one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mario_rl._drmario import PLACEMENT_FEATURES, PLACEMENT_FEATURES_MOST

__all__ = ["FEATURES_MOST", "PLACEMENTS", "PLACEMENT_FEATURES", "Placements", "placement", "position"]

PLACEMENTS = 4 * 16 * 8

FEATURES_MOST: NDArray[np.uint8] = np.frombuffer(PLACEMENT_FEATURES_MOST, np.uint8)
"""The greatest value of each of PLACEMENT_FEATURES; their meaning is in native/drmario/placement_features.hpp."""


class Placements(NamedTuple):
    """The placements of n games, from the top row of the bottle down; every one that the buttons can bring about."""

    counts: NDArray[np.int32]
    """[n]; 0 in a game in which no capsule waits."""
    ids: NDArray[np.int16]
    """[n, k], k the greatest count; -1 behind a game's last one."""
    canonical: NDArray[np.int16]
    """[n, k]: the placement itself, or that of the opposite rotation where two halves of one colour look the same.
    To leave out duplicates, take those with ids == canonical."""
    tucked: NDArray[np.uint8]
    """[n, k]: 1 if something lies above it, so that no straight drop gets there."""


def placement(x: int, y: int, rotation: int) -> int:
    """The number of a placement."""
    if not (0 <= x < 8 and 0 <= y < 16 and 0 <= rotation < 4):
        raise ValueError(f"no placement has x {x}, y {y} and rotation {rotation}: they go up to 7, 15 and 3")
    return rotation * 128 + y * 8 + x


def position(placement: int) -> tuple[int, int, int]:
    """x, y and rotation of a placement."""
    if not 0 <= placement < PLACEMENTS:
        raise ValueError(f"placements are numbered 0..{PLACEMENTS - 1}, not {placement}")
    return placement % 8, placement // 8 % 16, placement // 128
