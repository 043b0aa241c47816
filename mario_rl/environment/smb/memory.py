"""Where Super Mario Bros. keeps its game state in RAM, and vectorised readers of it.

Every address is named once, here. `GameMemory.look` copies the hundred bytes that matter from the RAM of all lanes into
one small table with a row per address, so that everything after it works on contiguous numbers of all lanes at once.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mario_rl._native import gather, gather_decimals, gather_words

Bytes = npt.NDArray[np.uint8]
Shorts = npt.NDArray[np.int16]
Ints = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

# --- the player -------------------------------------------------------------------------------------------------
BUTTONS_AB = 0x0A  # A and B as the game sees them this frame
PLAYER_STATE = 0x0E  # what the game engine does with Mario, see the PLAYER_* values below
FLOAT_STATE = 0x1D  # 0 ground, 1 jump or swim, 2 fall, 3 flagpole or vine
SPEED_X = 0x57  # signed, 1/16 pixel a frame
SPEED_Y = 0x9F  # signed, pixels a frame
SIZE_AND_POWER = 0x0756  # 0 small, 1 tall, 2 fire
SWIMMING = 0x0704
INJURY_TIMER = 0x079E
STAR_TIMER = 0x079F
LIVES = 0x075A

PLAYER_FLAGPOLE = 4  # slides down the pole
PLAYER_END_OF_LEVEL = 5  # walks to the castle
PLAYER_DEAD = 6
PLAYER_NORMAL = 8  # the only state in which the pad moves Mario
PLAYER_DYING = 0x0B

# --- moving things: one slot order (SLOT_*) shared by six arrays ------------------------------------------------
SLOT_X_PAGE = 0x6D
SLOT_X = 0x86
SLOT_Y_PAGE = 0xB5  # 0 above the screen, 1 on it, more: below
SLOT_Y = 0xCE
SLOT_PLAYER = 0
PAGE = 256  # pixels
SLOT_ENEMIES = slice(1, 7)  # the sixth enemy slot is the power-up's
SLOT_MISC = slice(13, 22)  # hammers and the coins that jump out of blocks
ENEMY_ACTIVE = slice(0x0F, 0x15)
ENEMY_TYPE = slice(0x16, 0x1C)
ENEMY_STATE = slice(0x1E, 0x24)
ENEMY_DEFEATED = 0x20  # this bit of the state: harmless, on its way off the screen
ENEMY_SPEED_X = slice(0x58, 0x5E)
FIREBAR_ANGLE = slice(0xA0, 0xA6)  # 32 steps to a turn, 0 is up, clockwise
MISC_STATE = slice(0x2A, 0x33)
MISC_HAMMER = 0x80  # this bit of the state: a hammer (else a coin)

# --- the area ---------------------------------------------------------------------------------------------------
AREA_POINTER = 0xE7  # two bytes, low first: identifies the map; 0 for a moment while it loads
AREA_TYPE = 0x074E  # 0 water, 1 ground, 2 underground, 3 castle
AREA_CASTLE = 3
HARDER_OBJECTS = 0x06CC  # not 0 from 5-3 on
SCREEN_LEFT_PAGE = 0x071A
SCREEN_LEFT = 0x071C
METATILES = slice(0x0500, 0x06A0)  # two pages of 13 rows x 16 columns, a ring over x
CLOUD_BONUS = 0x0743  # not 0: falling out of the screen leads back to the level
MAZE_CORRECT = 0x06D9
MAZE_PASSED = 0x06DA

# --- the game ---------------------------------------------------------------------------------------------------
MODE = 0x0770
MODE_TITLE, MODE_PLAY, MODE_VICTORY, MODE_GAME_OVER = 0, 1, 2, 3
TASK = 0x0772
TASK_RUNNING = 3  # anything less: the area is being loaded
TIME_IS_UP = 0x0759
WORLD = 0x075F  # all three count from 0
STAGE = 0x075C
AREA_OF_WORLD = 0x0760
SCORE_DIGITS = slice(0x07DD, 0x07E3)  # one decimal digit a byte; the screen shows a seventh, always 0
COIN_DIGITS = slice(0x07ED, 0x07EF)
CLOCK_DIGITS = slice(0x07F8, 0x07FB)

THINGS = SLOT_ENEMIES.stop  # Mario and the enemies
_BYTES_LOOKED_AT = (
    *(PLAYER_STATE, TASK, MODE),  # together, for `all_ordinary`
    *(BUTTONS_AB, FLOAT_STATE, SPEED_X, SPEED_Y, SWIMMING, INJURY_TIMER, STAR_TIMER, LIVES, SIZE_AND_POWER),
    *(AREA_POINTER, AREA_POINTER + 1, AREA_TYPE, HARDER_OBJECTS, CLOUD_BONUS, MAZE_CORRECT, MAZE_PASSED),
    *(TIME_IS_UP, WORLD, STAGE),
)
_BLOCKS_LOOKED_AT = (
    slice(SLOT_Y_PAGE, SLOT_Y_PAGE + 1),
    *(ENEMY_ACTIVE, ENEMY_TYPE, ENEMY_STATE, ENEMY_SPEED_X, FIREBAR_ANGLE, MISC_STATE),
)
# The rows of the table `GameMemory.look` fills.
_ADDRESSES = np.concatenate(
    [_BYTES_LOOKED_AT, *(np.arange(block.start, block.stop) for block in _BLOCKS_LOOKED_AT)], dtype=np.int64
)
# All positions: the x of Mario and of the six enemy slots, their y, and the x of the screen's left edge.
_POSITIONS_LOW = np.array([*range(SLOT_X, SLOT_X + THINGS), *range(SLOT_Y, SLOT_Y + THINGS), SCREEN_LEFT], np.int64)
_POSITIONS_HIGH = np.array(
    [*range(SLOT_X_PAGE, SLOT_X_PAGE + THINGS), *range(SLOT_Y_PAGE, SLOT_Y_PAGE + THINGS), SCREEN_LEFT_PAGE], np.int64
)
# The numbers of the status bar: score, coins, clock.
_NUMBERS = (SCORE_DIGITS, COIN_DIGITS, CLOCK_DIGITS)
_NUMBER_STARTS = np.array([digits.start for digits in _NUMBERS], np.int64)
_NUMBER_DIGITS = np.array([digits.stop - digits.start for digits in _NUMBERS], np.int64)


class GameMemory:
    """The game state of every lane as it was at the last `look`."""

    def __init__(self, ram: Bytes):
        self.ram = ram
        self.table = np.zeros((len(_ADDRESSES), len(ram)), np.uint8)
        self._control = self.rows(PLAYER_STATE, 3)
        self._under_control = b"".join(bytes([v]) * len(ram) for v in (PLAYER_NORMAL, TASK_RUNNING, MODE_PLAY))
        self.player_state = self.row(PLAYER_STATE)
        self.mode = self.row(MODE)
        self.task = self.row(TASK)
        self.cloud_bonus = self.row(CLOUD_BONUS)
        self.time_is_up = self.row(TIME_IS_UP)
        self.world = self.row(WORLD)
        self.stage = self.row(STAGE)
        self.lives = self.row(LIVES)
        self.power = self.row(SIZE_AND_POWER)
        self._y_page = self.row(SLOT_Y_PAGE)

        # All positions in pixels: the x of Mario and of the six enemy slots, their y counted from one page above the
        # screen, and the x of the screen's left edge, behind which Mario cannot go. They are int16, so that distances
        # are right even where the loops of 4-4 take x below 0.
        self.positions = np.zeros((2 * THINGS + 1, len(ram)), np.int16)
        self.xs: Shorts = self.positions[:THINGS]
        self.ys_from_above: Shorts = self.positions[THINGS : 2 * THINGS]
        self.x: Shorts = self.xs[SLOT_PLAYER]
        self.screen_left: Shorts = self.positions[-1]
        self._area_low = self.row(AREA_POINTER)
        self._area_high = self.row(AREA_POINTER + 1)

    def look(self) -> None:
        """Take in the RAM as it is now; to be called whenever the consoles have run."""
        gather(self.ram, _ADDRESSES, self.table)
        gather_words(self.ram, _POSITIONS_LOW, _POSITIONS_HIGH, self.positions)
        # in an array of their own each time: environments hand them out
        numbers = np.empty((3, len(self.ram)), np.int32)
        gather_decimals(self.ram, _NUMBER_STARTS, _NUMBER_DIGITS, numbers)
        self.score, self.coins, self.clock = numbers
        self.score *= 10  # the last digit on the screen is always 0

    @staticmethod
    def row_number(address: int) -> int:
        """Which row of `table` is this byte."""
        return int(np.flatnonzero(address == _ADDRESSES)[0])

    def rows(self, address: int, count: int) -> Bytes:
        """uint8[count, lanes]: this byte and its neighbours in the table; the array stays the same for ever."""
        start = self.row_number(address)
        return self.table[start : start + count]

    def row(self, address: int) -> Bytes:
        """uint8[lanes]: this byte of every lane; the array stays the same for ever."""
        return self.rows(address, 1)[0]

    def y(self) -> Shorts:
        """Mario's top edge in pixels below the top of the screen: 176 is small Mario on the ground, < 0 above it."""
        return self.ys_from_above[SLOT_PLAYER] - np.int16(PAGE)

    def area(self) -> Ints:
        """The identity of the map: the address of its objects."""
        return (self._area_high.astype(np.int32) << 8) | self._area_low

    def all_ordinary(self) -> bool:
        """Mario is under control and above ground in every lane: the usual case, told by comparing a few bytes."""
        return self._control.tobytes() == self._under_control and max(self._y_page.tobytes()) <= 1

    def controllable(self) -> Mask:
        """The pad moves Mario: the game runs and nothing plays him (no pipe, no loading, no growing, no death)."""
        return (self.player_state == PLAYER_NORMAL) & (self.task == TASK_RUNNING) & (self.mode == MODE_PLAY)

    def below_screen(self) -> Mask:
        """Mario is below the lower edge of the screen (pages beyond 127 are those above the upper edge)."""
        return self._y_page.view(np.int8) > 1

    def in_pit(self) -> Mask:
        """Mario fell out of the screen, long before the game calls it death (in the cloud bonus it is the way home)."""
        falling = (self.player_state == PLAYER_NORMAL) & (self.task == TASK_RUNNING)
        return self.below_screen() & falling & (self.cloud_bonus == 0)

    def dead(self) -> Mask:
        """Mario is lost: hit, burnt, out of time, or in a pit (seen ~200 frames before the game reacts)."""
        lost = (self.player_state == PLAYER_DYING) | (self.player_state == PLAYER_DEAD)
        return lost | self.in_pit() | (self.mode == MODE_GAME_OVER) | (self.mode == MODE_TITLE)

    def finished(self) -> Mask:
        """The level is won: Mario holds the flagpole, or the axe has been taken."""
        at_flag = (self.player_state == PLAYER_FLAGPOLE) | (self.player_state == PLAYER_END_OF_LEVEL)
        return at_flag | (self.mode == MODE_VICTORY)
