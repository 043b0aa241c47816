"""A plain picture of a game on the rules engine, drawn from its RAM: bottles, next capsules, viruses left.

It has the size of a console's picture, so videos of either look alike.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mario_rl.emulators.base import SCREEN_HEIGHT, SCREEN_WIDTH
from mario_rl.environment.drmario import memory
from mario_rl.environment.drmario.memory import COLUMNS, EMPTY, ROWS, GameMemory, as_one_game

Picture = npt.NDArray[np.uint8]
Shape = npt.NDArray[np.bool_]

CELL = 12  # pixels
BOTTLE_TOP = 40
BOTTLE_LEFT = {1: (80,), 2: (16, 144)}  # by number of players
NEXT_TOP = 16

_BACKGROUND = (22, 24, 38)
_INSIDE = (6, 7, 14)
_GLASS = (120, 140, 190)
_TEXT = (225, 228, 240)
_COLOURS = ((238, 190, 60), (222, 60, 66), (72, 126, 240))  # yellow, red, blue
# 3 x 5 dots a digit, a row of dots a number
_DIGITS = ("75557", "26227", "71747", "71717", "55711", "74717", "74757", "71244", "75757", "75717")
_DOT = 3  # pixels


def _shapes() -> dict[int, Shape]:
    """Which pixels of a cell each kind of piece fills."""
    y, x = np.mgrid[:CELL, :CELL] - (CELL - 1) / 2
    disc = x**2 + y**2 <= (CELL / 2 - 0.6) ** 2
    narrow = abs(x) <= CELL / 2 - 1
    flat = abs(y) <= CELL / 2 - 1
    ring = disc & (x**2 + y**2 >= 9)
    horns = (abs(abs(x) - 3.5) < 1.1) & (y < -3)
    eyes = (abs(abs(x) - 2) < 1) & (abs(y + 0.5) < 1.1)
    return {
        memory.TOP_HALF: disc | (narrow & (y > 0)),
        memory.BOTTOM_HALF: disc | (narrow & (y < 0)),
        memory.LEFT_HALF: disc | (flat & (x > 0)),
        memory.RIGHT_HALF: disc | (flat & (x < 0)),
        memory.SINGLE: disc,
        memory.MATCHED: ring,
        memory.VIRUS: ((x**2 + (1.3 * y - 1) ** 2 <= 26) | horns) & ~eyes,
        memory.POP: disc & (x**2 + y**2 >= 16) & (abs(x) + abs(y) > 4),
    }


def _tiles() -> Picture:
    """uint8[256, 12, 12, 3]: the picture of each value of a cell."""
    tiles = np.full((256, CELL, CELL, 3), _INSIDE, np.uint8)
    for kind, shape in _shapes().items():
        for colour, rgb in enumerate(_COLOURS):
            tiles[kind + colour, shape] = rgb
            if kind in memory.PIECES[:-1]:  # capsules shine, viruses do not
                tiles[kind + colour, 3:5, 3:5] = np.minimum(np.array(rgb) + 80, 255)
    return tiles


_TILES = _tiles()


def draw(ram: npt.NDArray[np.uint8]) -> Picture:
    """uint8[240, 256, 3]: the game in a console's RAM, uint8[2048]."""
    picture = np.full((SCREEN_HEIGHT, SCREEN_WIDTH, 3), _BACKGROUND, np.uint8)
    game = as_one_game(ram)
    players = 2 if game.players[0] == 2 else 1
    for seat, left in enumerate(BOTTLE_LEFT[players]):
        height, width = CELL * ROWS, CELL * COLUMNS
        picture[BOTTLE_TOP - 3 : BOTTLE_TOP + height + 3, left - 3 : left + width + 3] = _GLASS
        picture[BOTTLE_TOP - 3 : BOTTLE_TOP, left + 3 * CELL : left + 5 * CELL] = _INSIDE  # the neck
        cells = _with_capsule(game, seat)
        bottle = _TILES[cells].swapaxes(1, 2).reshape(height, width, 3)
        picture[BOTTLE_TOP : BOTTLE_TOP + height, left : left + width] = bottle
        _draw_next(picture, game, seat, left)
        _draw_number(picture, int(game.viruses()[0, seat]), left)
    return picture


def _with_capsule(game: GameMemory, seat: int) -> npt.NDArray[np.uint8]:
    """uint8[16, 8]: the field's cells, the falling capsule among them."""
    cells = game.fields[0, seat].copy()
    if game.action[0, seat] not in (memory.ACTION_FALLING, memory.ACTION_SPAWNED) or game.mode[0] != memory.MODE_PLAY:
        return cells
    row, column = ROWS - 1 - int(game.y[0, seat]), int(game.x[0, seat])
    first, second = (int(colour) % 3 for colour in game.colours[0, seat])
    rotation = int(game.rotation[0, seat]) % 4
    base, partner = (first, second) if rotation < 2 else (second, first)
    if rotation % 2:
        halves = ((row, column, memory.BOTTOM_HALF + base), (row - 1, column, memory.TOP_HALF + partner))
    else:
        halves = ((row, column, memory.LEFT_HALF + base), (row, column + 1, memory.RIGHT_HALF + partner))
    for half_row, half_column, half in halves:
        if 0 <= half_row < ROWS and half_column < COLUMNS and cells[half_row, half_column] == EMPTY:
            cells[half_row, half_column] = half
    return cells


def _draw_next(picture: Picture, game: GameMemory, seat: int, left: int) -> None:
    halves = (memory.LEFT_HALF, memory.RIGHT_HALF)
    for half, (kind, colour) in enumerate(zip(halves, game.next[0, seat].tolist(), strict=True)):
        x = left + (3 + half) * CELL
        tile = _TILES[kind + colour % 3]
        inside = (tile != _INSIDE).any(axis=2)
        picture[NEXT_TOP : NEXT_TOP + CELL, x : x + CELL][inside] = tile[inside]


def _draw_number(picture: Picture, number: int, left: int) -> None:
    for place, digit in enumerate(f"{number:2d}"):
        if digit == " ":
            continue
        for row, dots in enumerate(_DIGITS[int(digit)]):
            for column in range(3):
                if int(dots) >> (2 - column) & 1:
                    y, x = NEXT_TOP - 2 + _DOT * row, left + _DOT * (4 * place + column)
                    picture[y : y + _DOT, x : x + _DOT] = _TEXT
