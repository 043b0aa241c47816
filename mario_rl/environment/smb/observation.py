"""The three observations: "tiles", "pixels" and "ram". Each knows its space and reads all lanes at once.

The written spec of each is docs/environment.md.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from mario_rl.emulators.embedded import EmbeddedBatch
from mario_rl.environment.smb import tiles
from mario_rl.environment.smb.memory import GameMemory

__all__ = ["OBSERVATIONS", "Observation", "Pixels", "Ram", "Tiles"]

PIXELS_SIZE = (84, 84)
PIXELS_STACK = 4
# The status bar is cut off (top): its digits tell nothing about where to go, and 208 rows of level keep more detail.
PIXELS_CROP = (32, 0, 0, 0)  # top, bottom, left, right
RAM_SIZE = 2048


class Observation(Protocol):
    """What a lane's player gets to see."""

    @property
    def space(self) -> spaces.Box:
        """The space of one lane."""

    @property
    def drawn(self) -> bool:
        """Whether the console must draw every step and push the frame into its stack."""

    @property
    def remembered(self) -> npt.NDArray[Any] | None:
        """What it shows of the past, which the consoles do not hold; the array itself, one row a lane."""

    def read(self) -> npt.NDArray[Any]:
        """The observations of all lanes now, as an array of its own."""

    def read_lane(self, lane: int) -> npt.NDArray[Any]:
        """The observation of one lane now, as an array of its own."""


class Tiles:
    """What stands where around Mario, and how he moves: float32[tiles.SIZE]."""

    space = spaces.Box(-tiles.LARGEST, tiles.LARGEST, (tiles.SIZE,), np.float32)
    drawn = False
    remembered = None

    def __init__(self, console: EmbeddedBatch, game: GameMemory):
        self._reader = tiles.TileReader(game)
        self._ram = console.ram
        self._one = GameMemory(np.zeros((1, RAM_SIZE), np.uint8))
        self._one_reader = tiles.TileReader(self._one)

    def read(self) -> npt.NDArray[np.float32]:
        """See `tiles.TileReader.read`."""
        return self._reader.read()

    def read_lane(self, lane: int) -> npt.NDArray[np.float32]:
        """As `read`, from a copy of the lane's RAM."""
        self._one.ram[0] = self._ram[lane]
        self._one.look()
        return self._one_reader.read()[0]


class Pixels:
    """The last four frames, grey, 84 x 84, the newest last: uint8[4, 84, 84]."""

    space = spaces.Box(0, 255, (PIXELS_STACK, *PIXELS_SIZE), np.uint8)
    drawn = True

    def __init__(self, console: EmbeddedBatch, game: GameMemory):
        # max_pool: the game moves sprites in and out of the 8 a line can show; the brighter of two frames has them all
        self._stack = console.configure_screen(
            colour="grey", crop=PIXELS_CROP, size=PIXELS_SIZE, stack=PIXELS_STACK, max_pool=True
        )

    @property
    def remembered(self) -> npt.NDArray[np.uint8]:
        """The stacks the console fills."""
        return self._stack

    def read(self) -> npt.NDArray[np.uint8]:
        """A copy of the stacks the console fills."""
        return self._stack.copy()

    def read_lane(self, lane: int) -> npt.NDArray[np.uint8]:
        """A copy of one stack."""
        return self._stack[lane].copy()


class Ram:
    """The console's whole RAM: uint8[2048]."""

    space = spaces.Box(0, 255, (RAM_SIZE,), np.uint8)
    drawn = False
    remembered = None

    def __init__(self, console: EmbeddedBatch, game: GameMemory):
        self._ram = console.ram

    def read(self) -> npt.NDArray[np.uint8]:
        """A copy of the RAM."""
        return np.array(self._ram, order="C")

    def read_lane(self, lane: int) -> npt.NDArray[np.uint8]:
        """A copy of one lane's RAM."""
        return self._ram[lane].copy()


OBSERVATIONS: dict[str, type[Tiles] | type[Pixels] | type[Ram]] = {"tiles": Tiles, "pixels": Pixels, "ram": Ram}
