"""An archive of places reached, in the spirit of Go-Explore (Ecoffet et al. 2021): cells, and the shortest way to each.

A cell is a small piece of the level together with what decides how it goes on from there. It keeps one console state
and the inputs that led to it. Exploration (`explore.py`) returns to a promising cell and goes on from it at random;
what it comes across enters the archive, if it is new or was reached by a shorter way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mario_rl.environment.smb import memory
from mario_rl.environment.smb.memory import GameMemory, Mask

CELL_WIDTH = 32
CELL_HEIGHT = 32
CANDIDATES = 6  # drawn for every choice; the one that was chosen least is taken
DRAWS = CANDIDATES + 1  # random numbers that a choice takes
# In the air little can be decided and much was decided before: such a cell counts as chosen so often at once, and so is
# chosen that much less often than one where Mario stands or swims.
CHOICES_IN_THE_AIR = 3
# A cell that was chosen so often in vain holds a state without hope (falling, in front of an enemy):
WORN_OUT = 30
DETOUR = 60  # steps by which another state may be later and still take its place
SHORTER = 2  # steps by which a way must be shorter to replace the old one; less is not worth the work
USED_BLOCK = 0xC4  # metatile: what is left of a block that Mario has hit


class Way:
    """The inputs from the level's start to a cell: those of the cell it was reached from, and then some.

    One byte is a pad held for four frames.
    """

    __slots__ = ("before", "pads", "steps")

    def __init__(self, before: Way | None, pads: bytes):
        self.before = before
        self.pads = pads
        self.steps: int = len(pads) + (0 if before is None else before.steps)

    def all_pads(self) -> bytes:
        """From the start on."""
        parts = []
        way: Way | None = self
        while way is not None:
            parts.append(way.pads)
            way = way.before
        return b"".join(reversed(parts))


@dataclass(slots=True)
class Cell:
    """A place, the state that waits there, and how it was reached."""

    key: int
    area: int
    x: int
    y: int
    state: bytes
    way: Way
    looped: bool
    """The way has looped in this area."""
    in_the_air: bool
    chosen: int = 0


class Archive:
    """All cells of a level."""

    def __init__(self) -> None:
        self.cells: list[Cell] = []  # in the order in which they were found
        self.changes: list[Cell] = []  # every cell once for every state it was given, the latest last
        self._by_key: dict[int, Cell] = {}

    def __len__(self) -> int:
        return len(self.cells)

    def wants(self, key: int, steps: int) -> bool:
        """Whether a state in this cell, reached in so many steps, would be kept."""
        cell = self._by_key.get(key)
        if cell is None or steps < cell.way.steps - SHORTER:
            return True
        return cell.chosen > WORN_OUT and steps < cell.way.steps + DETOUR

    def put(self, new: Cell) -> None:
        """Keep a cell, or what is new about it."""
        cell = self._by_key.get(new.key)
        if cell is None:
            cell = self._by_key[new.key] = new
            self.cells.append(new)
        else:
            cell.x, cell.y, cell.state, cell.way = new.x, new.y, new.state, new.way
            cell.chosen //= 2
        self.changes.append(cell)

    def productive(self) -> list[Cell]:
        """The cells from which others were reached."""
        led_on = {id(cell.way.before) for cell in self.cells}
        return [cell for cell in self.cells if id(cell.way) in led_on]

    def choose(self, random: npt.NDArray[np.float64]) -> Cell:
        """A promising cell, from `DRAWS` random numbers in [0, 1): mostly a new one, and one that was seldom chosen."""
        return self._choose_from(self.cells, random)

    def choose_shortened(self, random: npt.NDArray[np.float64]) -> Cell:
        """The same, but new are those whose way has just become shorter: so it does behind them, too."""
        return self._choose_from(self.changes, random)

    @staticmethod
    def _choose_from(cells: list[Cell], random: npt.NDArray[np.float64]) -> Cell:
        count = len(cells)
        if random[0] < 0.5:
            # the logarithm of the age is uniform: as often among the last 10 as among the 90 before these
            draws = count - np.ceil(count ** random[1:5]).astype(np.int64)
        else:
            draws = (random[1:] * count).astype(np.int64)
        cell = min((cells[draw] for draw in draws.tolist()), key=lambda cell: cell.chosen)
        cell.chosen += CHOICES_IN_THE_AIR if cell.in_the_air else 1
        return cell


class CellKeys:
    """Tells which cell each lane of a game is in.

    Beside area, place, power and swimming there count

    - whether Mario stands: on top of something he is where he did not get by flying past;
    - whether a block in sight has been hit: a pipe of 8-4 is reached from a block that is hidden until then;
    - the counters of the maze castles, and whether the way has looped in this area: 8-4 makes two passages of the same
      x, and the pipe that leads on stands only behind its loop.
    """

    def __init__(self, game: GameMemory):
        self._game = game
        self._maze_correct = game.row(memory.MAZE_CORRECT)
        self._maze_passed = game.row(memory.MAZE_PASSED)
        self._swimming = game.row(memory.SWIMMING)
        self._float_state = game.row(memory.FLOAT_STATE)
        self._metatiles = game.ram[:, memory.METATILES]

    def __call__(self, looped: Mask) -> npt.NDArray[np.int64]:
        """int64[lanes], as of the game's last look."""
        game = self._game
        keys = game.area().astype(np.int64)
        keys = keys << 12 | (game.x.astype(np.int64) + 0x8000) // CELL_WIDTH  # x is from -0x8000 to 0x7FFF
        keys = keys << 6 | ((game.y().astype(np.int64) + memory.PAGE) // CELL_HEIGHT) & 0x3F
        keys = keys << 2 | self._maze_correct & 3
        keys = keys << 2 | self._maze_passed & 3
        keys = keys << 1 | (game.power != 0)
        keys = keys << 1 | (self._swimming != 0)
        keys = keys << 1 | self.standing()
        keys = keys << 1 | (self._metatiles == USED_BLOCK).any(axis=1)
        return keys << 1 | looped

    def standing(self) -> Mask:
        """Where Mario has ground under his feet."""
        return self._float_state == 0

    def in_the_air(self) -> Mask:
        """Where he has neither ground nor water."""
        return (self._float_state != 0) & (self._swimming == 0)
