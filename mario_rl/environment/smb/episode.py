"""The rules of an episode: what counts as progress and what ends it, for all lanes at once.

`Episodes` holds every per-lane number an episode needs, one array each. `begin` starts an episode from whatever the
console shows now (a level's start or a snapshot); `advance` books one step and says what happened in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mario_rl.environment.smb.memory import GameMemory, Ints, Mask

# The maze castles (4-4, 7-4, 8-4) put Mario back by 1024 pixels when the path was wrong; nothing else moves him so far.
LOOP_PIXELS = 700


@dataclass(slots=True)
class Outcome:
    """What one step did, one entry a lane."""

    pixels: npt.NDArray[Any]  # moved to the right; 0 where that is not Mario's merit (pipe, loop, falling, replaying)
    clock: Ints  # units of the level's clock gone by
    death: Mask
    flag: Mask  # flagpole or axe
    warp: Mask  # a warp zone led to another world
    stuck: Mask
    truncated: Mask
    terminated: Mask
    any_ended: bool


class Episodes:
    """The running episode of every lane."""

    def __init__(self, lanes: int, stuck_steps: int | None, max_steps: int | None):
        self._stuck_steps = stuck_steps or np.iinfo(np.int32).max
        self._max_steps = max_steps or np.iinfo(np.int32).max
        self.level = np.full(lanes, "", "<U3")
        self.world = np.zeros(lanes, np.uint8)  # of the level; another one in RAM means a warp
        self.counters = np.zeros((9, lanes), np.int32)
        self.steps, self.idle_steps, self.x, self.best_x, self.reach = self.counters[:5]
        self.clock, self.area, self.loops, self._distance_before = self.counters[5:]
        # best_x: since the area was entered. reach: the same, but anew after a loop. idle_steps: without a new reach.
        # _distance_before: what best_x needs to be the distance, pixels of new ground over all areas.
        self.replaying = np.zeros(lanes, np.bool_)  # looped back and not yet beyond best_x
        self.nowhere = np.zeros(lanes, np.bool_)
        self.nowhere.flags.writeable = False  # shared by the outcomes of all steps in which nothing special happens

    def begin(self, lanes: Mask, game: GameMemory, levels: list[str]) -> None:
        """Start an episode in the masked lanes (`levels`: one name for each of them, in order)."""
        x = game.x[lanes]
        self.counters[:, lanes] = 0
        self.level[lanes] = levels
        self.world[lanes] = [int(level[0]) - 1 for level in levels]
        self.area[lanes] = game.area()[lanes]
        self.clock[lanes] = game.clock[lanes]
        self.x[lanes] = self.best_x[lanes] = self.reach[lanes] = x
        self._distance_before[lanes] = -x
        self.replaying[lanes] = False

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Everything there is to know about the running episodes, by name: the arrays themselves."""
        return {"level": self.level, "world": self.world, "counters": self.counters, "replaying": self.replaying}

    def advance(self, game: GameMemory, ordinary: bool, travelled: Mask | None) -> Outcome:
        """Book one step.

        `ordinary` says that Mario is under control and above ground in every lane, so that nobody can have died,
        won or warped. `travelled` marks the lanes in which an area was loaded during the step.
        """
        x = game.x
        pixels = x - self.x
        spent = np.maximum(self.clock - game.clock, 0)
        self.x[:] = x
        self.clock[:] = game.clock

        if pixels.min() < -LOOP_PIXELS or self.replaying.any():
            looped = pixels < -LOOP_PIXELS
            self._replay(pixels, looped if travelled is None else looped & ~travelled)
        if travelled is not None:
            self._enter_area(travelled, game)
            pixels[travelled] = 0
            spent[travelled] = 0

        self.counters[:2] += 1  # steps and idle_steps
        self.idle_steps *= x <= self.reach
        np.maximum(self.reach, x, out=self.reach)
        np.maximum(self.best_x, x, out=self.best_x)

        stuck = self.idle_steps >= self._stuck_steps
        truncated = self.steps >= self._max_steps
        if ordinary and not (stuck | truncated).any():
            no = self.nowhere
            return Outcome(pixels, spent, no, no, no, no, truncated=truncated, terminated=stuck, any_ended=False)
        flag = game.finished()
        death = game.dead() & ~flag
        warp = self.warped(game) & ~flag & ~death
        pixels[death] = 0  # x keeps rising in a fall
        over = flag | death | warp
        stuck &= ~over
        terminated = over | stuck
        truncated &= ~terminated
        any_ended = bool((terminated | truncated).any())
        return Outcome(pixels, spent, death, flag, warp, stuck, truncated, terminated, any_ended)

    def distance(self) -> Ints:
        """Pixels of new ground, over all areas of the episode."""
        return self._distance_before + self.best_x

    def warped(self, game: GameMemory) -> Mask:
        """Lanes that are in another world than their level's."""
        return game.world != self.world

    def _enter_area(self, lanes: Mask, game: GameMemory) -> None:
        """Progress is counted anew: the exits of 1-2, 2-2, 4-2 and 7-2 lead to x = 2872 of another map."""
        self.area[lanes] = game.area()[lanes]
        self._distance_before[lanes] += self.best_x[lanes] - self.x[lanes]
        self.best_x[lanes] = self.reach[lanes] = self.x[lanes]
        self.idle_steps[lanes] = 0
        self.replaying[lanes] = False

    def _replay(self, pixels: npt.NDArray[Any], looped: Mask) -> None:
        """After a loop, ground seen before pays nothing, but the stuck counter starts anew."""
        self.loops += looped
        self.replaying |= looped
        self.reach[looped] = self.x[looped]
        pixels[self.replaying] = 0
        self.replaying &= self.x <= self.best_x
