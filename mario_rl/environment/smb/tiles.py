"""The "tiles" observation: what stands where around Mario, read from RAM. Its written spec is docs/environment.md.

A window of 13 rows x 16 columns of 16-pixel tiles, Mario always in column 4, one plane per kind of thing, then a vector
of scalars: one flat float32 vector. `PLANES`, `SCALARS` and `LAYOUT` name its parts.

Everything is computed for all lanes at once from precomputed tables: a vector step must stay cheap beside the
emulation, so there is no Python loop over lanes or tiles here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from mario_rl._native import look_up, look_up_window, mark
from mario_rl.environment.smb import memory
from mario_rl.environment.smb.memory import Bytes, GameMemory, Shorts

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[Any]

ROWS, COLUMNS = 13, 16
CELLS = ROWS * COLUMNS
TILE = 16  # pixels
MARIO_COLUMN = 4
STATUS_BAR = 32  # pixels above the first row of tiles

PLANES = ("solid", "blocks", "coins", "enemies", "platforms", "powerups", "mario")
MAP_PLANES = 3  # the first three show the map, the others what moves in it
ENEMIES, PLATFORMS, POWERUPS, MARIO = (PLANES.index(name) for name in ("enemies", "platforms", "powerups", "mario"))

# --- the map (the game's "metatiles") -----------------------------------------------------------------------------
AIR, WALL = 0x00, 0xFF
HIDDEN_BLOCKS = (0x5F, 0x60)  # not there until hit from below
COINS = (0xC2, 0xC3)
GOALS = (0x24, 0x25, 0xC5)  # flagpole ball, flagpole, axe: touching one ends the level
VINE = 0x26
NOT_SOLID = (AIR, *HIDDEN_BLOCKS, *COINS, *GOALS, VINE)
BRICKS_AND_QUESTION_BLOCKS = (0x51, 0x52, *range(0x55, 0x5F), 0xC0, 0xC1)
PIPE_MOUTHS = (0x10, 0x11, 0x1F, 0x6C)  # of pipes that lead somewhere: from above, from the side, under water

# The ring holds 32 columns. Counted from the screen's left edge, the game has drawn at least 22 columns ahead
# (measured over whole levels); beyond them the ring still holds what Mario left behind long ago.
COLUMNS_AHEAD = 22
OUTSIDE = bytes([WALL, AIR])
BEHIND_THE_SCREEN, NOT_DRAWN_YET = -1, -2  # stand for columns of these two bytes (see `look_up_window`)

# --- moving things ------------------------------------------------------------------------------------------------
FIREBARS = (0x1B, 0x1C, 0x1D, 0x1E, 0x1F)
LONG_FIREBAR = 0x1F
SHORT_FIREBAR_BALLS, LONG_FIREBAR_BALLS = 6, 12
BOWSER = 0x2D
FLAME = 0x15  # Bowser's breath
LIFTS = tuple(range(0x24, 0x2D))
SMALL_LIFTS = (0x2B, 0x2C)
SPRING = 0x32
PLATFORM_TYPES = (*LIFTS, SPRING)
ENEMY_TYPES = (*range(0x13), 0x14, FLAME, *FIREBARS, BOWSER, 0x33)
POWERUP = 0x2E
LIFT_WIDTH, SHORT_LIFT_WIDTH = 48, 32  # pixels; the short ones are in castles and from 5-3 on
SMALL_LIFT_DISTANCE = 128  # small lifts come in pairs, one above the other
MARIO_FEET, MARIO_HEAD = 24, 8  # pixels below his y: the middle of his lower and of his upper tile

# Scalars describe the things in the first five slots while they are this near, in pixels from Mario.
SCALAR_SLOTS = 5
NEAR_LEFT, NEAR_RIGHT = -80, 208
NEAR_ABOVE, NEAR_BELOW = -256, 256


def _signed(value: int) -> int:
    return value - 256 if value > 127 else value


# The scalars that are a function of one byte: name, address, function.
BYTE_SCALARS: tuple[tuple[str, int, Callable[[int], float]], ...] = (
    ("speed_x", memory.SPEED_X, lambda v: _signed(v) / 40),
    ("speed_y", memory.SPEED_Y, lambda v: _signed(v) / 5),
    ("x_in_tile", memory.SLOT_X, lambda v: v % TILE / TILE),
    ("y_in_tile", memory.SLOT_Y, lambda v: v % TILE / TILE),
    ("on_ground", memory.FLOAT_STATE, lambda v: v == 0),
    ("jumping", memory.FLOAT_STATE, lambda v: v == 1),
    ("falling", memory.FLOAT_STATE, lambda v: v == 2),
    ("climbing", memory.FLOAT_STATE, lambda v: v >= 3),
    ("a_held", memory.BUTTONS_AB, lambda v: bool(v & 0x80)),
    ("b_held", memory.BUTTONS_AB, lambda v: bool(v & 0x40)),
    ("tall", memory.SIZE_AND_POWER, lambda v: v > 0),
    ("fire", memory.SIZE_AND_POWER, lambda v: v > 1),
    ("injured", memory.INJURY_TIMER, lambda v: v > 0),
    ("star", memory.STAR_TIMER, lambda v: v > 0),
    ("swimming", memory.SWIMMING, lambda v: v > 0),
    ("area_water", memory.AREA_TYPE, lambda v: v & 3 == 0),
    ("area_ground", memory.AREA_TYPE, lambda v: v & 3 == 1),
    ("area_underground", memory.AREA_TYPE, lambda v: v & 3 == 2),
    ("area_castle", memory.AREA_TYPE, lambda v: v & 3 == 3),
    ("area_id", memory.AREA_POINTER, lambda v: v / 128 - 1),
    ("maze_correct", memory.MAZE_CORRECT, lambda v: v / 2),
    ("maze_passed", memory.MAZE_PASSED, lambda v: v / 2),
)
SCALARS = (
    *(name for name, _, _ in BYTE_SCALARS),
    "x",
    "y",
    "screen_x",
    *(f"thing{slot}_{what}" for what in ("kind", "dx", "dy", "speed_x") for slot in range(SCALAR_SLOTS)),
)
SIZE = len(PLANES) * CELLS + len(SCALARS)
LAYOUT = {name: slice(plane * CELLS, (plane + 1) * CELLS) for plane, name in enumerate(PLANES)}
LAYOUT["scalars"] = slice(len(PLANES) * CELLS, SIZE)
LARGEST = 4.0  # no value is beyond +-LARGEST; planes are 0 to 1


def _table(default: float, *entries: tuple[Iterable[int], float], dtype: type = np.float32) -> npt.NDArray[Any]:
    """A 256-entry lookup table: `default`, and for each (bytes, value) that value at those bytes."""
    table: npt.NDArray[Any] = np.full(256, default, dtype)
    for keys, value in entries:
        table[list(keys)] = value
    return table


MAP_TABLES = np.stack(
    [
        _table(1, (NOT_SOLID, 0)),
        _table(0, (BRICKS_AND_QUESTION_BLOCKS, 1), (PIPE_MOUTHS, 0.5)),
        _table(0, (COINS, 1), (GOALS, 0.5)),
    ]
)
IS_KNOWN = _table(0, ((*ENEMY_TYPES, *PLATFORM_TYPES, POWERUP), 1), dtype=np.uint8)
PLANE_OF_TYPE = _table(0, (ENEMY_TYPES, ENEMIES), (PLATFORM_TYPES, PLATFORMS), ((POWERUP,), POWERUPS), dtype=np.int16)
KIND_OF_TYPE = _table(0, (ENEMY_TYPES, 1), (PLATFORM_TYPES, -1), ((POWERUP,), 0.5))
SPEED_TABLE = np.array([_signed(value) / 16 for value in range(256)], np.float32).clip(-LARGEST, LARGEST)
# From a thing's y to the middle of its lowest tile (measured on the game's sprites): most things are drawn down to
# y + 24, flat ones from y to y + 8.
MIDDLE_OF_TYPE = _table(16, (LIFTS, 4), ((FLAME,), 4), (FIREBARS, 4), dtype=np.int16)
IS_LARGE = _table(False, ((*FIREBARS, *LIFTS, FLAME, BOWSER), True), dtype=np.bool_)


def _column_table() -> npt.NDArray[np.int64]:
    """The address of the top cell of each of the window's 16 columns, or what stands in for it outside the ring.

    Indices: (window start - screen start) mod 64 and window start mod 32, in columns.
    """
    columns = np.arange(COLUMNS)
    in_ring = (np.arange(32)[:, None] + columns) % 32
    addresses = memory.METATILES.start + in_ring // 16 * CELLS + in_ring % 16
    window_from_screen = (np.arange(64) + 32) % 64 - 32
    on_screen = window_from_screen[:, None, None] + columns
    table = np.where(on_screen < 0, BEHIND_THE_SCREEN, np.broadcast_to(addresses, (64, 32, COLUMNS)))
    return np.where(on_screen > COLUMNS_AHEAD, NOT_DRAWN_YET, table).astype(np.int64)


_COLUMNS = _column_table()
_BYTE_SCALAR_TABLE = np.array([[f(v) for v in range(256)] for _, _, f in BYTE_SCALARS], np.float32)
_BYTE_SCALAR_TABLE = _BYTE_SCALAR_TABLE.clip(-LARGEST, LARGEST)
_BYTE_SCALAR_ADDRESSES = np.array([address for _, address, _ in BYTE_SCALARS], np.int64)
_SCALAR_START = LAYOUT["scalars"].start
_X = SCALARS.index("x")  # then y and screen_x, then 4 x SCALAR_SLOTS
_PER_128 = np.float32(1 / 128)
_MARIO_SCALE = np.array([[1 / 4096], [1 / 128], [1 / 128]], np.float32)
_MARIO_OFFSET = np.array([[0], [1 + memory.PAGE / 128], [1]], np.float32)
_NEAR_FROM = np.array([NEAR_LEFT, NEAR_ABOVE], np.int16)[:, None, None]
_NEAR_SIZE = np.array([NEAR_RIGHT - NEAR_LEFT, NEAR_BELOW - NEAR_ABOVE], np.uint16)[:, None, None]
_ROWS = slice(memory.THINGS, 2 * memory.THINGS)
_SMALL_TYPES = bytes(np.flatnonzero(~IS_LARGE).tolist())
ABOVE_THE_WINDOW = memory.PAGE + STATUS_BAR  # pixels from where y is counted to the first row
MIDDLE_IN_WINDOW_OF_TYPE = MIDDLE_OF_TYPE - np.int16(ABOVE_THE_WINDOW)


class TileReader:
    """Reads the observation of every lane from their RAM."""

    def __init__(self, game: GameMemory):
        self._game = game
        self._lanes = len(game.ram)

        def rows(block: slice) -> Bytes:
            return game.rows(block.start, block.stop - block.start)

        self._active = rows(memory.ENEMY_ACTIVE)
        self._type = rows(memory.ENEMY_TYPE)
        self._state = rows(memory.ENEMY_STATE)
        self._speed = rows(memory.ENEMY_SPEED_X)[:SCALAR_SLOTS]
        self._mario = np.zeros((3, self._lanes), np.int16)  # x, y, distance from the screen's left edge
        self._angle = rows(memory.FIREBAR_ANGLE)
        self._misc_state = rows(memory.MISC_STATE)
        self._harder = game.row(memory.HARDER_OBJECTS)
        self._area_type = game.row(memory.AREA_TYPE)

        # Of every slot: is something there, and in which plane. Row 0 is Mario's: constant.
        self._there = np.ones((memory.THINGS, self._lanes), np.bool_)
        self._plane = np.full((memory.THINGS, self._lanes), MARIO, np.int16)
        # From a position to a point in the tile it stands for: half a tile to the right, down to the middle of the tile
        # (y counts from a page above the screen, rows from the status bar), nothing for the edge of the screen.
        self._to_tile = np.zeros_like(game.positions)
        self._to_tile[: memory.THINGS] = TILE // 2
        self._to_tile[_ROWS] = MARIO_FEET - ABOVE_THE_WINDOW
        self._enemy_middle = self._to_tile[memory.THINGS + 1 : 2 * memory.THINGS]
        self._nobody_is_tall = bytes(self._lanes)
        self._no_misc = bytes(self._misc_state.size)

    def read(self) -> Floats:
        """A fresh float32[lanes, SIZE] of what `GameMemory.look` saw last."""
        out = np.empty((self._lanes, SIZE), np.float32)
        kind = self._type.astype(np.intp)
        MIDDLE_IN_WINDOW_OF_TYPE.take(kind, out=self._enemy_middle, mode="clip")
        where = (self._game.positions + self._to_tile) >> 4  # columns, rows and the screen's first column
        first_column = where[memory.SLOT_PLAYER] - np.int16(MARIO_COLUMN)
        self._draw_map(out, first_column, where[-1])
        self._draw_things(out, kind, first_column, where)
        self._write_scalars(out, kind)
        if self._has_large_things():
            self._draw_large_things(out, first_column)
        if self._game.power.tobytes() != self._nobody_is_tall:
            self._draw_heads(out)
        if self._misc_state.tobytes() != self._no_misc:
            self._draw_hammers(out, first_column)
        return out

    def _draw_map(self, out: Floats, first_column: Shorts, screen_column: Shorts) -> None:
        columns = _COLUMNS[(first_column - screen_column) & 63, first_column & 31]
        look_up_window(self._game.ram, columns, ROWS, COLUMNS, OUTSIDE, MAP_TABLES, out)

    def _draw_things(self, out: Floats, kind: Indices, first_column: Shorts, where: Shorts) -> None:
        """Mario and the six enemy slots, one tile each."""
        out[:, MAP_PLANES * CELLS : _SCALAR_START] = 0
        enemies = memory.SLOT_ENEMIES
        # known (1) and not defeated (0), told by one comparison
        np.logical_and(
            self._active, IS_KNOWN.take(kind) > (self._state & memory.ENEMY_DEFEATED), out=self._there[enemies]
        )
        PLANE_OF_TYPE.take(kind, out=self._plane[enemies], mode="clip")
        columns = where[: memory.THINGS]
        columns -= first_column
        mark(out, self._there, self._plane, where[_ROWS], columns, (len(PLANES), ROWS, COLUMNS))

    def _write_scalars(self, out: Floats, kind: Indices) -> None:
        look_up(self._game.ram, _BYTE_SCALAR_ADDRESSES, _BYTE_SCALAR_TABLE, out[:, _SCALAR_START:])
        scalars = np.empty((len(SCALARS) - _X, self._lanes), np.float32)
        mario = self._mario
        mario[:2] = self._game.positions[:: memory.THINGS][:2]
        np.subtract(mario[0], self._game.screen_left, out=mario[2])
        np.subtract(mario * _MARIO_SCALE, _MARIO_OFFSET, out=scalars[:3])
        np.minimum(scalars[1], LARGEST, out=scalars[1])

        by_axis = self._game.positions[:-1].reshape(2, memory.THINGS, self._lanes)
        distances = by_axis[:, 1 : 1 + SCALAR_SLOTS] - by_axis[:, :1]
        near = (distances - _NEAR_FROM).view(np.uint16) < _NEAR_SIZE
        described = scalars[3:].reshape(4, SCALAR_SLOTS, self._lanes)
        KIND_OF_TYPE.take(kind[:SCALAR_SLOTS], out=described[0], mode="clip")
        np.multiply(distances, _PER_128, out=described[1:3])
        SPEED_TABLE.take(self._speed, out=described[3], mode="clip")
        described *= near[0] & near[1] & self._there[1 : 1 + SCALAR_SLOTS]
        out[:, _SCALAR_START + _X :] = scalars.T

    def _has_large_things(self) -> bool:
        """Perhaps: the types of empty slots count, too."""
        return len(self._type.tobytes().translate(None, _SMALL_TYPES)) > 0

    def _draw_heads(self, out: Floats) -> None:
        tall = np.flatnonzero(self._game.power)
        rows = (self._game.ys_from_above[0, tall] + (MARIO_HEAD - ABOVE_THE_WINDOW)) >> 4
        self._mark(out, MARIO, tall, np.full(len(tall), MARIO_COLUMN), rows)

    def _draw_large_things(self, out: Floats, first_column: Shorts) -> None:
        for slot, lane in np.argwhere(IS_LARGE[self._type] & self._there[1:]).tolist():
            kind = int(self._type[slot, lane])
            across, down = self._points(lane, slot, kind)
            columns = ((self._game.xs[slot + 1, lane] + across).astype(np.int32) >> 4) - first_column[lane]
            rows = (self._game.ys_from_above[slot + 1, lane] + down - ABOVE_THE_WINDOW).astype(np.int32) >> 4
            self._mark(out, int(PLANE_OF_TYPE[kind]), np.full(len(rows), lane), columns, rows)
            if kind in FIREBARS and slot < SCALAR_SLOTS:  # the byte of the speed is part of a firebar's angle
                out[lane, _SCALAR_START + SCALARS.index(f"thing{slot}_speed_x")] = 0

    def _points(self, lane: int, slot: int, kind: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Where, from its x and y, a thing larger than a tile touches tiles."""
        if kind in FIREBARS:  # a row of fireballs, 8 pixels apart, turning about the first
            balls = np.arange(LONG_FIREBAR_BALLS if kind == LONG_FIREBAR else SHORT_FIREBAR_BALLS)
            angle = self._angle[slot, lane] * (np.pi / 16)
            return 4 + 8 * balls * np.sin(angle), 4 - 8 * balls * np.cos(angle)
        if kind == BOWSER:  # two slots, front and rear; the upper half of each is above the tile drawn already
            return np.array([8]), np.array([0])
        if kind == FLAME or kind in SMALL_LIFTS:
            across = np.array([6, 18])
        else:
            short = self._harder[lane] != 0 or self._area_type[lane] == memory.AREA_CASTLE
            across = np.arange(TILE // 2, SHORT_LIFT_WIDTH if short else LIFT_WIDTH, TILE)
        down = np.full(len(across), MIDDLE_OF_TYPE[kind])
        if kind in SMALL_LIFTS:
            return np.tile(across, 3), np.concatenate([down - SMALL_LIFT_DISTANCE, down, down + SMALL_LIFT_DISTANCE])
        return across, down

    def _draw_hammers(self, out: Floats, first_column: Shorts) -> None:
        misc, lane = np.nonzero(self._misc_state >= memory.MISC_HAMMER)
        ram, slot = self._game.ram, misc + memory.SLOT_MISC.start
        x = (ram[lane, memory.SLOT_X_PAGE + slot].astype(np.int32) << 8) + ram[lane, memory.SLOT_X + slot]
        y = ram[lane, memory.SLOT_Y + slot].astype(np.int32)
        y[ram[lane, memory.SLOT_Y_PAGE + slot] != 1] = -1000  # off the screen
        self._mark(out, ENEMIES, lane, ((x + 8) >> 4) - first_column[lane], (y + 8 - STATUS_BAR) >> 4)

    def _mark(self, out: Floats, plane: int, lane: Indices, columns: Indices, rows: Indices) -> None:
        """Set these cells of a plane, where they are in the window."""
        seen = (columns >= 0) & (columns < COLUMNS) & (rows >= 0) & (rows < ROWS)
        out[lane[seen], plane * CELLS + rows[seen] * COLUMNS + columns[seen]] = 1
