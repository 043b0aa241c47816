"""Where Dr. Mario keeps its game in RAM, and vectorised readers of it.

Every address is named once, here. The same readers serve the rules engine and any emulator: all they need is the RAM of
n games, uint8[n, 2048]. Arrays of players are [n, 2], player 1 first; fields have row 0 at the top. Readers that are
attributes look into the RAM itself; those that are calls return arrays of their own. docs/drmario.md has the whole map.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

# --- the game -----------------------------------------------------------------------------------------------------
RANDOM_HIGH, RANDOM_LOW = 0x17, 0x18
FRAME_COUNT = 0x43
MODE = 0x46
MODE_TITLE, MODE_OPTIONS, MODE_LOAD, MODE_INIT_ROUND = 0, 1, 2, 3
MODE_PLAY, MODE_TOPPED_OUT, MODE_END_SCREEN, MODE_VIRUSES_APPEAR = 4, 5, 7, 8
ROUND_WINNER = 0x55
WHO_FAILED = 0x61
THROW_INDEX = 0x7D  # of the animation in which a single player's capsule is thrown
THROW_STEPS = 22
WORKING_COPY = 0x80  # the block of the player the cartridge processed last
PRESSED, HELD = 0xF5, 0xF7  # player 1's byte, then player 2's
PAUSE = 0x068D
WINS_NEEDED = 0x0725
PLAYERS = 0x0727
SCORE_DIGITS = slice(0x0729, 0x072F)  # a decimal digit a byte, the least first; the screen shows another 0 behind them
DEMO = 0x0741
RESERVE = slice(0x0780, 0x0800)  # 128 capsules, colour 1 x 3 + colour 2

# --- Antidote's own; another cartridge may keep anything there ------------------------------------------------------
VS_CPU = 0x04  # 1: the player inside the cartridge holds the second pad
LATE_FRAMES = 0x35  # frames that were not done in time, since power-on
TITLE_WAIT = 0x51  # times the frame counter has wrapped on the title
TITLE_WAIT_ENDS = 8  # then the attract mode begins

# --- a player's block: offsets from BLOCK (player 1) or BLOCK + BLOCK_SIZE (player 2) -----------------------------
BLOCK, BLOCK_SIZE = 0x0300, 0x80
COLOURS = slice(0x01, 0x03)  # 0 yellow, 1 red, 2 blue
X = 0x05  # column of the left half, or of an upright capsule
Y = 0x06  # 15 is the top row, 0 the bottom row; of the lower half of an upright capsule
FAILED = 0x09
SPEED_UPS = 0x0A
SPEED = 0x0B
COMBO = 0x0F  # lines matched since the capsule locked
CAPSULES, CAPSULES_HUNDREDS = 0x10, 0x11  # both BCD
GRAVITY = 0x12  # counts up; the capsule falls by a row when it exceeds the table's value
SHIFT = 0x13  # delayed auto shift: frames a direction has been held
LEVEL = 0x16
ACTION = 0x17
ATTACK = 0x18  # pieces waiting to be delivered to the other player
NEXT = slice(0x1A, 0x1C)
WINS = 0x1E
CELLS_MATCHED = 0x21  # in this settling, viruses included; 0 again once a capsule falls
VIRUSES = 0x24  # BCD
ROTATION = 0x25
VIRUSES_TO_PLACE = 0x28  # while they appear
ATTACK_COLOURS = slice(0x29, 0x2D)

ACTION_FALLING, ACTION_SETTLING, ACTION_ATTACK, ACTION_SPAWNED, ACTION_THROW = 0, 1, 2, 3, 6

# --- fields -------------------------------------------------------------------------------------------------------
FIELD, FIELD_PAGE = 0x0400, 0x0100
ROWS, COLUMNS = 16, 8
CELLS = ROWS * COLUMNS
EMPTY = 0xFF
POP = 0xF0  # this and above: nothing is there (any more)
VIRUS = 0xD0
TOP_HALF, BOTTOM_HALF, LEFT_HALF, RIGHT_HALF, SINGLE, MATCHED = 0x40, 0x50, 0x60, 0x70, 0x80, 0xB0
PIECES = (TOP_HALF, BOTTOM_HALF, LEFT_HALF, RIGHT_HALF, SINGLE, MATCHED, VIRUS)
COLOUR_COUNT = 3
YELLOW, RED, BLUE = range(COLOUR_COUNT)

MOST_VIRUSES = 84
HIGHEST_LEVEL = 20
SPEEDS = ("low", "med", "hi")

# A capsule falls by a row every (table value + 1) frames. The index is the speed's base plus the speed-ups.
GRAVITY_TABLE = np.array(
    [*range(69, 18, -2), *range(18, 8, -1), *(9, 8, 8, 7, 7, 6, 6)]
    + [5] * 12 + [4] * 5 + [3] * 5 + [2] * 5 + [1] * 10 + [0],
    np.int32,
)  # fmt: skip
GRAVITY_BASE = np.array([15, 25, 31], np.int32)

# The number a byte of two decimal digits stands for; bytes of RAM that are none get some number, too.
_DECIMAL = np.array([10 * (byte >> 4) + (byte & 15) for byte in range(256)], np.int32)


class GameMemory:
    """The games in the RAM of n consoles."""

    def __init__(self, ram: Bytes):
        games = len(ram)
        self.ram = ram
        self.mode = ram[:, MODE]
        self.frame_count = ram[:, FRAME_COUNT]
        self.paused = ram[:, PAUSE]
        self.demo = ram[:, DEMO]
        self.players = ram[:, PLAYERS]
        self.pressed = ram[:, PRESSED : PRESSED + 2]
        self.held = ram[:, HELD : HELD + 2]
        self.fields = ram[:, FIELD : FIELD + 2 * FIELD_PAGE].reshape(games, 2, FIELD_PAGE)[:, :, :CELLS]
        self.fields = self.fields.reshape(games, 2, ROWS, COLUMNS)

        self.blocks = blocks = ram[:, BLOCK : BLOCK + 2 * BLOCK_SIZE].reshape(games, 2, BLOCK_SIZE)
        self.colours = blocks[:, :, COLOURS]
        self.next = blocks[:, :, NEXT]
        self.x = blocks[:, :, X]
        self.y = blocks[:, :, Y]
        self.rotation = blocks[:, :, ROTATION]
        self.action = blocks[:, :, ACTION]
        self.level = blocks[:, :, LEVEL]
        self.speed = blocks[:, :, SPEED]
        self.failed = blocks[:, :, FAILED]
        self.combo = blocks[:, :, COMBO]
        self.attack = blocks[:, :, ATTACK]
        self.cells_matched = blocks[:, :, CELLS_MATCHED]
        self.wins = blocks[:, :, WINS]
        self.gravity = blocks[:, :, GRAVITY]
        self.speed_ups = blocks[:, :, SPEED_UPS]

    def viruses(self) -> Ints:
        """int32[n, 2]: the viruses left. With one player, player 2's number is that of the round's start."""
        return _DECIMAL[self.blocks[:, :, VIRUSES]]

    def capsules(self) -> Ints:
        """int32[n, 2]: the capsules thrown in this round, the one that is falling included."""
        hundreds = _DECIMAL[self.blocks[:, :, CAPSULES_HUNDREDS]]
        return 100 * hundreds + _DECIMAL[self.blocks[:, :, CAPSULES]] - 1

    def score(self) -> Ints:
        """int32[n]: as on the screen; only a single player's game keeps one."""
        powers = 10 ** np.arange(1, 7, dtype=np.int32)
        return self.ram[:, SCORE_DIGITS].astype(np.int32) @ powers

    def two_players(self) -> Mask:
        """bool[n]: both seats take part."""
        return self.players == 2

    def controllable(self) -> Mask:
        """bool[n, 2]: a capsule falls and the pad moves it. Whether the round is over is another question."""
        return self.falling() & (self.demo == 0)[:, None]

    def falling(self) -> Mask:
        """bool[n, 2]: a capsule falls and somebody moves it: the pad, or in the attract mode the cartridge."""
        running = (self.mode == MODE_PLAY) & (self.paused == 0)
        return running[:, None] & (self.action == ACTION_FALLING)

    def cleared(self) -> Mask:
        """bool[n, 2]: no virus is left; of the seats that take part, and once the viruses have appeared."""
        playing = (self.mode == MODE_PLAY) | (self.mode == MODE_TOPPED_OUT) | (self.mode == MODE_END_SCREEN)
        return self._taking_part(playing[:, None] & (self.blocks[:, :, VIRUSES] == 0))

    def topped_out(self) -> Mask:
        """bool[n, 2]: there was no room for the next capsule; of the seats that take part."""
        return self._taking_part(self.failed != 0)

    def round_over(self) -> Mask:
        """bool[n]: somebody cleared the bottle or topped out."""
        over = self.cleared() | self.topped_out()
        return over[:, 0] | over[:, 1]

    def fall_frames(self) -> Ints:
        """int32[n, 2]: the frames a capsule now takes for a row, 40 at first on LOW down to 1."""
        index = GRAVITY_BASE[np.minimum(self.speed, 2)] + self.speed_ups
        return GRAVITY_TABLE[np.minimum(index, len(GRAVITY_TABLE) - 1)] + 1

    def throw_frames(self) -> Ints:
        """int32[n]: frames a single player's throw still takes at least (LOW takes twice as many), 1 or more."""
        return np.maximum(THROW_STEPS - self.ram[:, THROW_INDEX].astype(np.int32), 1)

    def heights(self) -> Ints:
        """int32[n, 2, 8]: rows from the bottom up to the highest piece of each column, 0 to 16."""
        occupied = self.fields < POP
        highest = ROWS - occupied.argmax(axis=2)
        return np.where(occupied.any(axis=2), highest, 0).astype(np.int32)

    def _taking_part(self, seats: Mask) -> Mask:
        seats[:, 1] &= self.two_players()
        return seats


def as_one_game(ram: npt.NDArray[Any]) -> GameMemory:
    """The readers over the RAM of a single console, uint8[2048]."""
    return GameMemory(ram[None])
