"""What a player sees: "planes" (for convolutions; with `features` a Dict) and "flat" (for MLPs), float32 in [0, 1].

planes, float32[12, 16, 8], six for the own bottle and six for the other one (all 0 if nobody sits there), row 0 on top:

| plane  | value of a cell                                                                             |
|--------|---------------------------------------------------------------------------------------------|
| 0      | 1 where nothing is (a cleared piece that still pops is nothing)                             |
| 1 2 3  | yellow, red, blue: 1 where a virus of that colour sits, 0.5 where a piece of a capsule lies |
| 4      | the falling capsule's two halves: 1/3 yellow, 2/3 red, 1 blue; 0 elsewhere                  |
| 5      | its rotation, in both of its cells: (rotation + 1) / 4                                      |

A half that sticks out above the bottle is not seen. FEATURES and FLAT name the numbers of the other two forms.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from mario_rl.environment.drmario import memory
from mario_rl.environment.drmario.memory import (
    CELLS,
    COLOUR_COUNT,
    COLUMNS,
    MOST_VIRUSES,
    PIECES,
    ROWS,
    VIRUS,
    GameMemory,
    Mask,
)
from mario_rl.environment.one_lane import Seen

Floats = npt.NDArray[np.float32]

PLANES_PER_SIDE = 6
PLANES = (2 * PLANES_PER_SIDE, ROWS, COLUMNS)
CAPSULE_PIECE = 0.5  # beside 1 for a virus

_COLOUR_NAMES = ("yellow", "red", "blue")
# Of one side; the vector holds the own side's numbers and then the other's, which are 0 if nobody sits there.
_SIDE_FEATURES = (
    "viruses",  # left, / 84
    *(f"next{half}_{colour}" for half in (1, 2) for colour in _COLOUR_NAMES),  # one-hot
    "drop_timer",  # the part of the time until the next row that has gone by
    *(f"height{column}" for column in range(COLUMNS)),  # of each column, / 16
)
_SIDE_CAPSULE = (
    *(f"capsule{half}_{colour}" for half in (1, 2) for colour in _COLOUR_NAMES),  # one-hot; 0 if none is falling
    "x",  # / 7; this and the next two are 0 if no capsule is falling
    "y",  # / 15
    *(f"rotation{rotation}" for rotation in range(4)),  # one-hot
)
FEATURES = tuple(f"{side}_{name}" for side in ("own", "other") for name in _SIDE_FEATURES)

_KINDS = ("empty", *_COLOUR_NAMES)
_SIDE_FLAT = (
    *(f"row{row}_column{column}_{kind}" for row in range(ROWS) for column in range(COLUMNS) for kind in _KINDS),
    *_SIDE_CAPSULE,
    *_SIDE_FEATURES[:8],  # without the heights, which the field tells
)
FLAT = tuple(f"{side}_{name}" for side in ("own", "other") for name in _SIDE_FLAT)


def _kinds_of_cells() -> Floats:
    """float32[4, 256]: for each value of a cell its number in the planes 0 to 3. Text and frames count as nothing."""
    kinds = np.zeros((1 + COLOUR_COUNT, 256), np.float32)
    kinds[0] = 1
    for piece in PIECES:
        for colour in range(COLOUR_COUNT):
            kinds[0, piece + colour] = 0
            kinds[1 + colour, piece + colour] = 1 if piece == VIRUS else CAPSULE_PIECE
    return kinds


_KINDS_OF_CELLS = _kinds_of_cells()


class Observation(Protocol):
    """A way to see games, from a seat."""

    @property
    def space(self) -> spaces.Space[Any]:
        """The space of one game."""

    def read(self, game: GameMemory, seat: int) -> Seen:
        """What seat 0 or 1 sees in each of the games: arrays of their own, [n, ...]."""


class Planes:
    """float32[12, 16, 8], as in the table above."""

    space = spaces.Box(0, 1, PLANES, np.float32)

    def read(self, game: GameMemory, seat: int) -> Floats:
        """See `Observation.read`."""
        seen = np.empty((len(game.ram), *PLANES), np.float32)
        for side, number in enumerate((seat, 1 - seat)):
            planes = seen[:, side * PLANES_PER_SIDE : (side + 1) * PLANES_PER_SIDE]
            cells = game.fields[:, number]
            for kind, values in enumerate(_KINDS_OF_CELLS):
                planes[:, kind] = values[cells]
            planes[:, 4:] = 0
            _draw_capsules(game, number, planes[:, 4], planes[:, 5])
        seen[~game.two_players(), PLANES_PER_SIDE:] = 0
        return seen


class PlanesAndFeatures:
    """{"planes": float32[12, 16, 8], "features": float32[32]}."""

    space = spaces.Dict({"planes": Planes.space, "features": spaces.Box(0, 1, (len(FEATURES),), np.float32)})

    def read(self, game: GameMemory, seat: int) -> dict[str, Floats]:
        """See `Observation.read`."""
        other = game.two_players()[:, None]
        features = [_side_features(game, seat), _side_features(game, 1 - seat) * other]
        return {"planes": Planes().read(game, seat), "features": np.concatenate(features, axis=1)}


class Flat:
    """float32[1064]: the cells of each field as 4 numbers (those of the planes 0 to 3), its capsules, its counts."""

    space = spaces.Box(0, 1, (len(FLAT),), np.float32)

    def read(self, game: GameMemory, seat: int) -> Floats:
        """See `Observation.read`."""
        games = len(game.ram)
        sides = []
        for number in (seat, 1 - seat):
            cells = np.moveaxis(_KINDS_OF_CELLS[:, game.fields[:, number]], 0, -1).reshape(games, 4 * CELLS)
            sides += [cells, _side_capsule(game, number), _side_features(game, number)[:, :8]]
        seen = np.concatenate(sides, axis=1)
        seen[~game.two_players(), len(_SIDE_FLAT) :] = 0
        return seen


OBSERVATIONS: dict[str, Observation] = {"planes": Planes(), "flat": Flat()}


def observation_of(name: str, features: bool) -> Observation:
    """The observation of these settings; a ValueError says what there is."""
    if name not in OBSERVATIONS:
        raise ValueError(f"unknown observation {name!r}; use one of {', '.join(OBSERVATIONS)}")
    if not features:
        return OBSERVATIONS[name]
    if name != "planes":
        raise ValueError(f'features=True goes with observation="planes": "{name}" has those numbers already')
    return PlanesAndFeatures()


def falling(game: GameMemory, seat: int) -> Mask:
    """bool[n]: the seat's capsule is in the air (or about to be: the frame in which it enters the bottle)."""
    action = game.action[:, seat]
    in_the_air = (action == memory.ACTION_FALLING) | (action == memory.ACTION_SPAWNED)
    return in_the_air & (game.failed[:, seat] == 0) & (game.mode == memory.MODE_PLAY)


def _draw_capsules(game: GameMemory, seat: int, colours: Floats, rotations: Floats) -> None:
    """Put the seat's falling capsules into two planes, [n, 16, 8] each."""
    games = np.flatnonzero(falling(game, seat))
    row = ROWS - 1 - game.y[games, seat].astype(np.intp)
    column = game.x[games, seat].astype(np.intp)
    rotation = game.rotation[games, seat]
    first, second = (game.colours[games, seat, half] for half in (0, 1))
    swapped = rotation >= 2  # the 2nd half is the left one, or the lower one
    base, partner = np.where(swapped, second, first), np.where(swapped, first, second)
    upright = rotation % 2
    for colour, up, right in ((base, 0, 0), (partner, upright, 1 - upright)):
        there = (row - up >= 0) & (row < ROWS) & (column + right < COLUMNS)  # RAM may hold anything
        where = games[there], (row - up)[there], (column + right)[there]
        colours[where] = (np.minimum(colour[there], 2) + np.float32(1)) / COLOUR_COUNT
        rotations[where] = (np.minimum(rotation[there], 3) + np.float32(1)) / 4


def _side_features(game: GameMemory, seat: int) -> Floats:
    """float32[n, 16]: the numbers of _SIDE_FEATURES."""
    features = np.empty((len(game.ram), len(_SIDE_FEATURES)), np.float32)
    features[:, 0] = np.minimum(game.viruses()[:, seat] / MOST_VIRUSES, 1)
    features[:, 1:7] = _one_hot_colours(game.next[:, seat])
    features[:, 7] = np.minimum(game.gravity[:, seat] / game.fall_frames()[:, seat], 1)
    features[:, 8:] = game.heights()[:, seat] / ROWS
    return features


def _side_capsule(game: GameMemory, seat: int) -> Floats:
    """float32[n, 12]: the numbers of _SIDE_CAPSULE."""
    capsule = np.empty((len(game.ram), len(_SIDE_CAPSULE)), np.float32)
    capsule[:, :6] = _one_hot_colours(game.colours[:, seat])
    capsule[:, 6] = np.minimum(game.x[:, seat] / (COLUMNS - 1), 1)
    capsule[:, 7] = np.minimum(game.y[:, seat] / (ROWS - 1), 1)
    capsule[:, 8:] = game.rotation[:, seat, None] == np.arange(4)
    return capsule * falling(game, seat)[:, None]


def _one_hot_colours(pair: npt.NDArray[np.uint8]) -> Floats:
    """float32[n, 6] of colours [n, 2]."""
    hot = pair[:, :, None] == np.arange(COLOUR_COUNT, dtype=np.uint8)
    return hot.reshape(len(pair), -1).astype(np.float32)
