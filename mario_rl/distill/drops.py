"""The places that a player inside the cartridge looks at: straight drops along the top of the bottle, and what it sees.

A drop is a rotation and a column; the capsule lands on the highest piece below it. The cartridge knows no tucks. What
there is to say about a drop is defined here once, by the features of the rules engine: a teacher on the cartridge's
features, whatever is distilled from it, and its mirror in Python all look through this file. counting.py has the 6502
code that counts the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mario_rl.environment.drmario.memory import CAPSULES, COLUMNS, EMPTY, POP, ROWS, VIRUS, GameMemory
from mario_rl.environment.drmario.placements import FEATURES_MOST, PLACEMENT_FEATURES
from mario_rl.environment.drmario.planner import SPAWN_COLUMN
from mario_rl.environment.drmario.rules import RulesBatch

NOWHERE = -1
LEAST_TOP = 2  # rows that must be free above the highest piece: both halves of an upright capsule lie inside

DROPS: tuple[tuple[int, int], ...] = tuple(
    (rotation, column) for column in reversed(range(COLUMNS)) for rotation in (3, 2, 1, 0)
)
"""(rotation, column), in the order in which the cartridge looks at them."""
DROP_ROTATIONS, DROP_COLUMNS = np.array(DROPS, np.int64).T

WHIM = "whim"
"""(column XOR the capsule's number, as its byte in RAM has it) AND 7: what decides between places of the same worth
changes with every capsule, so that who plays by fixed rules does not go round in circles."""
MOST_WHIM = 7

WANTED = "wanted"
"""Of each half, the highest virus of its column: there is none, it has another colour, it has the half's own colour."""
NO_VIRUS, OTHER_COLOUR, OWN_COLOUR = range(3)

GROUND = "ground"
"""Of each half, what it comes to lie on, the better the more: another colour's piece, another colour's virus, nothing,
the floor, or 1, 2, 3 cells of its own colour."""
OTHER_PIECE, OTHER_VIRUS, NOTHING, FLOOR, RUN = range(5)
_GROUND_OF_CONTACT = np.array([NOTHING, FLOOR, OTHER_VIRUS, OTHER_PIECE, RUN], np.uint8)  # by the engine's numbers

# What simple 6502 code can count about a drop. Of the engine's features `ground` has the place of contact and run, and
# nothing lies above a drop, so `tucked` says nothing.
_COUNTED = tuple(name for name in PLACEMENT_FEATURES if not name.startswith(("contact", "run_l", "run_h", "tucked")))
_COLUMNS_OF = {name: number for number, name in enumerate(PLACEMENT_FEATURES)}
_COLUMNS_OF_COUNTED = np.array([_COLUMNS_OF[name] for name in _COUNTED])
FEATURES = (*_COUNTED, *(f"{pair}_{half}" for pair in (GROUND, WANTED) for half in ("low", "high")), WHIM)
MOST = {name: int(FEATURES_MOST[_COLUMNS_OF[name]]) for name in _COUNTED}
MOST |= {f"{GROUND}_{half}": RUN + 2 for half in ("low", "high")}
MOST |= {f"{WANTED}_{half}": OWN_COLOUR for half in ("low", "high")} | {WHIM: MOST_WHIM}
"""The greatest value of each feature."""


class Drops(NamedTuple):
    """The drops of m games, in the order of DROPS, and what else the cartridge can see."""

    ids: npt.NDArray[np.int16]
    """[m, 32]: their placements; NOWHERE for those without room."""
    open: npt.NDArray[np.bool_]
    """[m, 32]: there is room, and no column that is full to the top stands in the way."""
    features: npt.NDArray[np.uint8]
    """[m, 32, len(FEATURES)]; 0 for those without room."""
    fields: npt.NDArray[np.uint8]
    """[m, 16, 8]"""
    colours: npt.NDArray[np.uint8]
    """[m, 2]: of the capsule, as it came in: left and right."""
    capsules: npt.NDArray[np.uint8]
    """[m]: the capsule's number, as its byte in RAM has it."""

    def some(self, games: npt.NDArray[np.intp]) -> Drops:
        """Those of some of the games."""
        return Drops._make(part[games] for part in self)


def tops(fields: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """[m, 8]: the free rows above the highest piece of each column, 16 in an empty one."""
    taken = fields < POP
    return np.where(taken.any(axis=1), taken.argmax(axis=1), ROWS)


def drop_ids(free: npt.NDArray[np.int64]) -> npt.NDArray[np.int16]:
    """int16[m, 32]: the placements of the drops, by the free rows [m, 8] of bottles; NOWHERE for those without room."""
    beside = np.minimum(DROP_COLUMNS + 1, COLUMNS - 1)
    flat = DROP_ROTATIONS % 2 == 0
    room = np.where(flat, np.minimum(free[:, DROP_COLUMNS], free[:, beside]), free[:, DROP_COLUMNS])
    possible = (room >= LEAST_TOP) & ~(flat & (DROP_COLUMNS == COLUMNS - 1))
    ids = (DROP_ROTATIONS * ROWS + ROWS - room) * COLUMNS + DROP_COLUMNS  # y counts from the bottom: 15 - (room - 1)
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
    memory = GameMemory(games.ram)
    fields = memory.fields[lanes, seat]
    free = tops(fields)
    opened = open_columns(free)
    every = np.full((games.n, len(DROPS)), NOWHERE, np.int16)
    every[lanes] = ids = drop_ids(free)
    room = ids != NOWHERE
    beside = np.minimum(DROP_COLUMNS + 1 - DROP_ROTATIONS % 2, COLUMNS - 1)
    capsules = memory.blocks[lanes, seat, CAPSULES]
    colours = memory.colours[lanes, seat]
    highest = _highest_viruses(fields)
    low = np.where(DROP_ROTATIONS < 2, colours[:, :1], colours[:, 1:])
    high = np.where(DROP_ROTATIONS < 2, colours[:, 1:], colours[:, :1])
    wanted = [_wanted(highest[:, DROP_COLUMNS], low), _wanted(highest[:, beside], high)]
    whims = (capsules[:, None] ^ DROP_COLUMNS.astype(np.uint8)) & MOST_WHIM
    counted = games.placement_features(every, seat)[lanes]
    grounds = [_ground(counted, half) for half in ("low", "high")]
    seen = np.stack([*grounds, *wanted, whims], axis=2) * room[..., None]
    return Drops(
        ids=ids,
        open=room & opened[:, DROP_COLUMNS] & opened[:, beside],
        features=np.concatenate([counted[..., _COLUMNS_OF_COUNTED], seen.astype(np.uint8)], axis=2),
        fields=fields,
        colours=colours,
        capsules=capsules,
    )


def _highest_viruses(fields: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """[m, 8]: the colour of the highest virus of each column; EMPTY where there is none."""
    viruses = (fields >= VIRUS) & (fields < POP)
    cells = np.take_along_axis(fields, viruses.argmax(axis=1)[:, None], axis=1)[:, 0]
    return np.where(viruses.any(axis=1), cells & 3, EMPTY).astype(np.uint8)


def _ground(counted: npt.NDArray[np.uint8], half: str) -> npt.NDArray[np.uint8]:
    contact, run = (counted[..., _COLUMNS_OF[f"{name}_{half}"]] for name in ("contact", "run"))
    return np.where(run > 0, RUN - 1 + run, _GROUND_OF_CONTACT[contact])


def _wanted(highest: npt.NDArray[np.uint8], colours: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    return np.where(highest == EMPTY, NO_VIRUS, np.where(highest == colours, OWN_COLOUR, OTHER_COLOUR))
