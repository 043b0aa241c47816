"""Steering: placements carried out on a pad, frame by frame, and checked when the capsule has come to rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mario_rl.environment.drmario import memory
from mario_rl.environment.drmario.memory import COLUMNS, ROWS, GameMemory, Ints, Mask
from mario_rl.environment.drmario.planner import NOWHERE, Chooser, Planner, at_decision
from mario_rl.environment.drmario.rules import LONGEST_SCRIPT, Scripts


@dataclass
class Landing:
    """Which cells a placed capsule fills, and with what; for some lanes."""

    cells: npt.NDArray[np.intp]  # [k, 2] field indices; a half above the bottle has the index of its partner
    values: npt.NDArray[np.uint8]  # [k, 2]


def landing(placements: Ints, colours: npt.NDArray[np.uint8]) -> Landing:
    """The cells of placements [k] of capsules with colours [k, 2]."""
    rotation, y, x = placements // 128, placements // 8 % 16, placements % 8
    base = (ROWS - 1 - y) * COLUMNS + x
    upright = rotation % 2 == 1
    partner = np.where(upright, base - COLUMNS, base + 1)
    swapped = (rotation >= 2)[:, None]
    halves = np.where(swapped, colours[:, ::-1], colours)
    kinds = np.where(upright[:, None], [memory.BOTTOM_HALF, memory.TOP_HALF], [memory.LEFT_HALF, memory.RIGHT_HALF])
    values = (kinds + halves).astype(np.uint8)
    outside = partner < 0
    partner[outside], values[outside, 1] = base[outside], values[outside, 0]
    return Landing(np.stack([base, partner], axis=1).astype(np.intp), values)


class Pilot:
    """Steers the capsules of one seat in n games, each by its script; 0 is held where there is none."""

    def __init__(self, planner: Planner, game: GameMemory, seat: int):
        self.seat = seat
        self._planner = planner
        self._game = game
        games = len(game.ram)
        self.scripts = np.zeros((games, LONGEST_SCRIPT), np.uint8)
        self.lengths = np.zeros(games, np.int32)
        self.position = np.zeros(games, np.int32)
        self.targets = np.full(games, NOWHERE, np.int32)
        self.landed = np.ones(games, np.bool_)  # the last capsule came to rest where it was sent
        self.missed = np.zeros(games, np.int32)  # how many did not, in this round
        self._lanes = np.arange(games)

    def forget(self, lanes: Mask) -> None:
        """Drop the scripts of the masked games: new rounds begin there."""
        self.lengths[lanes] = self.position[lanes] = self.missed[lanes] = 0
        self.targets[lanes] = NOWHERE
        self.landed[lanes] = True

    def send(self, lanes: Mask, placements: npt.NDArray[Any]) -> None:
        """Begin to steer the masked games' capsules, which wait (and were looked at), to these places."""
        self._planner.write_scripts(placements, self.script_arrays, self.seat, lanes)
        self.targets[lanes] = placements[lanes]

    @property
    def script_arrays(self) -> Scripts:
        """The scripts and how far they have come: the arrays themselves."""
        return Scripts(self.scripts, self.lengths, self.position)

    def steering(self) -> Mask:
        """bool[n]: a script is under way."""
        return self.position < self.lengths

    def pads(self) -> npt.NDArray[np.uint8]:
        """uint8[n]: what to hold in the next frame."""
        return self.scripts[self._lanes, np.minimum(self.position, LONGEST_SCRIPT - 1)] * self.steering()

    def advance(self, frames: Ints) -> None:
        """The games ran for so many frames; see whether those whose script is done came to rest as planned."""
        before = self.steering()
        self.position += frames * before
        done = before & ~self.steering()
        if not done.any():
            return
        lanes = np.flatnonzero(done)
        cells = self._game.fields[lanes, self.seat].reshape(len(lanes), -1)
        planned = landing(self.targets[lanes], self._game.colours[lanes, self.seat])
        there = np.take_along_axis(cells, planned.cells, axis=1) == planned.values
        locked = self._game.action[lanes, self.seat] != memory.ACTION_FALLING
        self.landed[lanes] = there.all(axis=1) & locked
        self.missed[lanes] += ~self.landed[lanes]

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What it remembers, by name: the arrays themselves."""
        names = ("scripts", "lengths", "position", "targets", "landed", "missed")
        return {f"pilot{self.seat + 1}_{name}": getattr(self, name) for name in names}


class BotPads:
    """The pad of a seat that a bot plays, frame by frame."""

    def __init__(self, bot: Chooser, planner: Planner, game: GameMemory, seat: int):
        self._bot = bot
        self._planner = planner
        self._game = game
        self.pilot = Pilot(planner, game, seat)

    def pads(self) -> npt.NDArray[np.uint8]:
        """uint8[n]: what to hold in the next frame, in every game."""
        waiting = at_decision(self._game, self.pilot.seat)
        if waiting.any():
            games = self._planner.look(waiting)
            self.pilot.send(waiting, self._bot.choose(games, waiting, self.pilot.seat))
        pads = self.pilot.pads()
        self.pilot.position += self.pilot.steering()
        return pads
