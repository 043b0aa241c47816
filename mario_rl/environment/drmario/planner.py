"""Plans for capsules on whatever the games run on: where they can go, and which buttons take them there.

The plans are made by the rules engine. Games that run on it are planned where they are; those of a console are first
copied over, which any moment of a round allows because the engine's state is the console's RAM.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mario_rl.environment.drmario import memory
from mario_rl.environment.drmario.console import Games, RulesGames
from mario_rl.environment.drmario.memory import ROWS, GameMemory, Mask
from mario_rl.environment.drmario.placements import FEATURES_MOST, PLACEMENTS
from mario_rl.environment.drmario.rules import RulesBatch, Scripts

ROTATIONS = 4
NOWHERE = -1
SPAWN_COLUMN = 3
# Our own cartridge and the engine keep the phase of a finished round here; another cartridge may keep anything.
_PHASE = 0x59

Floats = npt.NDArray[np.float32]


class Chooser(Protocol):
    """Chooses placements: a bot."""

    def choose(self, games: RulesBatch, lanes: Mask, seat: int) -> npt.NDArray[Any]:
        """A placement for each game (those not in `lanes` do not count), whose capsule of that seat waits for one."""


def at_decision(game: GameMemory, seat: int) -> Mask:
    """bool[n]: the seat's capsule has just come under the pad's control; the next frame is the first to move it."""
    waiting = capsule_waits(game, seat)
    return waiting & (game.demo == 0) if waiting.any() else waiting


def capsule_waits(game: GameMemory, seat: int) -> Mask:
    """The same whoever is to move it: in the attract mode, too, where the cartridge plays and pads do nothing."""
    block = game.blocks[:, seat]
    waiting = (block[:, memory.ACTION] == memory.ACTION_FALLING) & (block[:, memory.Y] == ROWS - 1)
    waiting &= (block[:, memory.GRAVITY] == 0) & (block[:, memory.X] == SPAWN_COLUMN)
    if not waiting.any():
        return waiting
    waiting &= (block[:, memory.ROTATION] == 0) & (game.players > seat)
    return waiting & game.falling()[:, seat] & ~game.round_over()


def copy_round(ram: npt.NDArray[np.uint8], games: RulesBatch, lane: int = 0) -> None:
    """Put a console's round, as it is now, onto the rules engine."""
    copied = ram.copy()
    copied[_PHASE] = 0
    games.load_ram(lane, copied.tobytes())


class Planner:
    """Placements and scripts for n games."""

    def __init__(self, games: Games):
        self._game = games.game
        self._mirrored = not isinstance(games, RulesGames)
        self.batch = RulesBatch(games.lanes) if self._mirrored else games.batch  # type: ignore[attr-defined]

    def look(self, lanes: Mask) -> RulesBatch:
        """The masked games on the rules engine, as they are now."""
        if self._mirrored:
            for lane in np.flatnonzero(lanes).tolist():
                copy_round(self._game.ram[lane], self.batch, lane)
        return self.batch

    def reachable(self, lanes: Mask, seat: int, distinct: bool = False) -> Mask:
        """bool[n, 512]: where the seat's capsule can come to rest, for the masked games, which must be at a decision.

        `distinct` leaves out those that look like another: a capsule of one colour has two for every place.
        """
        _, ids, canonical, _ = self.look(lanes).placements(seat, lanes)
        listed = (ids >= 0) & (ids == canonical) if distinct else ids >= 0
        reachable = np.zeros((len(ids), PLACEMENTS), np.bool_)
        reachable[np.nonzero(listed)[0], ids[listed]] = True
        return reachable

    def features(self, placements: npt.NDArray[np.int16], seat: int) -> Floats:
        """float32[n, k, features] in 0 to 1 of placements [n, k] (-1: none, all 0) in games that were looked at."""
        return np.divide(self.batch.placement_features(placements, seat), FEATURES_MOST, dtype=np.float32)

    def write_scripts(self, placements: npt.NDArray[Any], scripts: Scripts, seat: int, lanes: Mask) -> None:
        """The pads that take the seat's capsules there, for the masked games, which must have been looked at."""
        self.batch.write_scripts(placements, scripts, seat, lanes)


def bot_of(opponent: object) -> Chooser | None:
    """The bot an `opponent` setting asks for: by name, or the bot itself; None if it is something else."""
    if isinstance(opponent, str):
        from mario_rl.environment.drmario.bots import make_bot  # here, because bots know this module

        return make_bot(opponent)
    return opponent if hasattr(opponent, "choose") else None
