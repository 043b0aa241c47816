"""The actions of an agent that chooses placements: which there are, and what they mean.

Without tucks an action is rotation * 8 + column, one of 32: the highest place in which the capsule can come to rest
with that rotation in that column. That is where it lands when it is dropped straight down; only if nothing can be
dropped there, because the way is blocked further up, it is a place under the overhang. With tucks an action is the
placement itself, rotation * 128 + y * 8 + x with y counted from the bottom, one of 512. In both, x is the column of the
left half, or of the upright capsule.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from mario_rl.environment.drmario.memory import COLUMNS, ROWS, GameMemory, Ints, Mask
from mario_rl.environment.drmario.placements import PLACEMENTS
from mario_rl.environment.drmario.planner import (
    NOWHERE,
    ROTATIONS,
    SPAWN_COLUMN,
    Floats,
    Planner,
    at_decision,
)

DROPS = ROTATIONS * COLUMNS


class Choices:
    """What one seat can choose among, in n games."""

    def __init__(self, planner: Planner, game: GameMemory, seat: int, tucks: bool, distinct: bool):
        self.seat = seat
        self._planner = planner
        self._game = game
        self._tucks = tucks
        self._distinct = distinct
        self.count = PLACEMENTS if tucks else DROPS
        self.space = spaces.Discrete(self.count)
        self._reachable = np.zeros((len(game.ram), ROTATIONS, ROWS, COLUMNS), np.bool_)

    def look(self) -> Mask:
        """Find the placements of the games as they stand; the games in which the seat waits for a choice."""
        waiting = at_decision(self._game, self.seat)
        self._reachable[:] = False
        if waiting.any():
            found = self._planner.reachable(waiting, self.seat, self._distinct)
            self._reachable[waiting] = found.reshape(self._reachable.shape)[waiting]
        return waiting

    def masks(self) -> Mask:
        """bool[n, actions]: what can be chosen, as of the last look; nothing where nobody waits."""
        reachable = self._reachable if self._tucks else np.logical_or.reduce(self._reachable, axis=2)
        return np.reshape(reachable, (len(self._reachable), self.count)).copy()

    def placements(self, actions: npt.NDArray[Any]) -> tuple[Ints, Mask]:
        """What the actions mean, [n], and which of them the mask forbids.

        A forbidden one means: straight down from where the capsule appears.
        """
        forbidden = ~self.masks()[np.arange(len(actions)), actions]
        placements = self._meaning(actions[:, None])[:, 0]
        return np.where(forbidden, self.straight_down(), placements).astype(np.int32), forbidden

    def _meaning(self, actions: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The placements of actions [n, k]; only of those that the mask allows."""
        if self._tucks:
            return actions
        rotation, x = actions // COLUMNS, actions % COLUMNS
        highest = ROWS - 1 - self._reachable[:, :, ::-1].argmax(axis=2)  # [n, rotation, column]
        y = highest[np.arange(len(actions))[:, None], rotation, x]
        return (rotation * ROWS + y) * COLUMNS + x

    def features(self) -> Floats:
        """float32[n, actions, features]: what there is to say about each action's placement (PLACEMENT_FEATURES).

        Each is a number from 0 to 1, scaled by the most it can be; all are 0 for an action that the mask forbids, and
        never all for another.
        """
        listed = np.broadcast_to(np.arange(self.count), (len(self._reachable), self.count))
        ids = np.where(self.masks(), self._meaning(listed), NOWHERE)
        return self._planner.features(ids.astype(np.int16), self.seat)

    def straight_down(self) -> Ints:
        """[n]: the placement of a capsule that is left alone."""
        highest = ROWS - 1 - self._reachable[:, 0, ::-1, SPAWN_COLUMN].argmax(axis=1)
        return (highest * COLUMNS + SPAWN_COLUMN).astype(np.int32)
