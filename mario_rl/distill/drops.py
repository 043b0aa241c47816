"""The places that a player inside the cartridge looks at: straight drops along the top of the bottle.

A drop is a rotation and a column; the capsule lands on the highest piece below it. The cartridge knows no tucks,
and it looks at the top row only to see how far the capsule can be moved. DROPS is the order in which it looks, which
decides between places that score alike: the first of them is taken.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mario_rl.environment.drmario.memory import COLUMNS, POP, ROWS, GameMemory
from mario_rl.environment.drmario.placements import PLACEMENT_FEATURES, PLACEMENTS
from mario_rl.environment.drmario.planner import SPAWN_COLUMN
from mario_rl.environment.drmario.rules import RulesBatch

NOWHERE = -1
LEAST_TOP = 2  # rows that must be free above the highest piece: both halves of an upright capsule lie inside
ORDERS = (1, 0, 3, 2)  # rotations in the order in which a column's are looked at: upright first

DROPS: tuple[tuple[int, int], ...] = tuple(
    (rotation, column) for column in reversed(range(COLUMNS)) for rotation in ORDERS
)
"""(rotation, column), the first one first."""

# What simple 6502 code can count about a drop; nothing lies above one, so `tucked` says nothing.
FEATURES = tuple(name for name in PLACEMENT_FEATURES if name != "tucked")
_COLUMNS_OF_FEATURES = np.array([PLACEMENT_FEATURES.index(name) for name in FEATURES])

_ROTATION = np.array([rotation for rotation, _ in DROPS])
_COLUMN = np.array([column for _, column in DROPS])


class Drops(NamedTuple):
    """The drops of m games, in the order of DROPS."""

    ids: npt.NDArray[np.int16]
    """[m, 32]: their placements; NOWHERE for those that cannot be."""
    features: npt.NDArray[np.uint8]
    """[m, 32, len(FEATURES)]; 0 for those."""


def tops(fields: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """[m, 8]: the free rows above the highest piece of each column, 16 in an empty one."""
    taken = fields < POP
    return np.where(taken.any(axis=1), taken.argmax(axis=1), ROWS)


def drop_ids(fields: npt.NDArray[np.uint8]) -> npt.NDArray[np.int16]:
    """int16[m, 32]: the placements of the drops into these bottles, uint8[m, 16, 8]; NOWHERE for those without room."""
    free = tops(fields)
    opened = open_columns(free)
    beside = np.minimum(_COLUMN + 1, COLUMNS - 1)
    flat = _ROTATION % 2 == 0
    room = np.where(flat, np.minimum(free[:, _COLUMN], free[:, beside]), free[:, _COLUMN])
    possible = opened[:, _COLUMN] & (room >= LEAST_TOP)
    possible &= ~flat | ((_COLUMN < COLUMNS - 1) & opened[:, beside])
    ids = (_ROTATION * ROWS + ROWS - room) * COLUMNS + _COLUMN  # y counts from the bottom: 15 - (room - 1)
    return np.where(possible, ids, NOWHERE).astype(np.int16)


def open_columns(free: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """bool[m, 8]: the columns along the top row up to the first one on either side that is full; 3 and 4 always."""
    opened = free > 0
    left = np.cumprod(opened[:, SPAWN_COLUMN - 1 :: -1], axis=1)[:, ::-1]
    right = np.cumprod(opened[:, SPAWN_COLUMN + 2 :], axis=1)
    spawn = np.ones((len(free), 2), np.int64)
    return np.concatenate([left, spawn, right], axis=1).astype(np.bool_)


def look(games: RulesBatch, lanes: npt.NDArray[np.intp], seat: int) -> Drops:
    """The drops of some games, by number, in which the seat's capsule waits for a placement or falls."""
    ids = np.full((games.n, len(DROPS)), NOWHERE, np.int16)
    ids[lanes] = drop_ids(GameMemory(games.ram).fields[lanes, seat])
    features = games.placement_features(ids, seat)[lanes]
    return Drops(ids[lanes], features[..., _COLUMNS_OF_FEATURES])


def reachable(
    games: RulesBatch, lanes: npt.NDArray[np.intp], seat: int, ids: npt.NDArray[np.int16]
) -> npt.NDArray[np.bool_]:
    """bool[m, 32]: which of these drops the buttons can bring about before the capsule has fallen too far."""
    mask = np.zeros(games.n, np.bool_)
    mask[lanes] = True
    found = games.placements(seat, mask).ids[lanes]
    known = np.zeros((len(lanes), PLACEMENTS + 1), np.bool_)  # the last one is NOWHERE's
    rows, columns = np.nonzero(found >= 0)
    known[rows, found[rows, columns]] = True
    return known[np.arange(len(lanes))[:, None], ids]
