"""How well forms play: whole games alone on the rules engine, many side by side, as the cartridge would play them.

A capsule is steered as the cartridge steers it (chooser.py): nothing is pressed while it thinks, then it taps, then it
holds DOWN; that decides what can still be reached when capsules fall fast. It is a plan that is followed: a capsule
that finds its way barred is not steered anew. mirror.py does that, too, and plays every byte as the cartridge does; it
takes a hundred times as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from mario_rl.distill.drops import DROP_COLUMNS, DROP_ROTATIONS, Drops, look
from mario_rl.emulators.base import DOWN, LEFT, RIGHT, A
from mario_rl.environment.drmario.memory import COLUMNS, GameMemory, Ints
from mario_rl.environment.drmario.planner import SPAWN_COLUMN
from mario_rl.environment.drmario.rules import LONGEST_SCRIPT, MEDIUM, RulesBatch, Scripts
from mario_rl.environment.drmario.tally import COUNTS

LONGEST_GAME = 36_000
"""Frames: ten minutes, as in every match."""
SPARE_CAPSULES = 40


class Chooser(Protocol):
    """Who plays: a form, or a teacher."""

    @property
    def thinks(self) -> int:
        """Frames in which a falling capsule is only thought about."""

    @property
    def turns_first(self) -> bool:
        """It turns the capsule, and only then moves it, instead of both at once."""

    def choose(self, drops: Drops) -> npt.NDArray[np.int64]:
        """int64[m]: the numbers of the drops it chooses, among DROPS."""


class Played(NamedTuple):
    """What became of some games."""

    cleared: npt.NDArray[np.bool_]
    viruses: Ints
    """Left."""
    capsules: Ints


@dataclass(frozen=True)
class Games:
    """Games to be played: a random generator's state and a level each, at one speed."""

    seeds: npt.NDArray[np.int64]
    levels: npt.NDArray[np.int64]
    speed: int = MEDIUM
    capsules_a_virus: float = 40
    """A game that has taken so many (and SPARE_CAPSULES) is broken off."""

    def often(self, times: int) -> Games:
        """Each of them so many times."""
        seeds, levels = np.tile(self.seeds, times), np.tile(self.levels, times)
        return Games(seeds, levels, self.speed, self.capsules_a_virus)


class Rounds:
    """Games under way. Wherever a capsule waits: look, choose a drop, and go on."""

    def __init__(self, games: Games):
        count = len(games.seeds)
        self.batch = RulesBatch(count)  # a second thread takes half as much CPU time again, for a sixth of the time
        self.batch.reset(games.seeds, games.levels, games.speed, 1)
        self.batch.skip_intro()
        self.memory = GameMemory(self.batch.ram)
        self.frames = np.zeros(count, np.int32)
        self._most_capsules = SPARE_CAPSULES + games.capsules_a_virus * self.memory.viruses()[:, 0]
        self._scripts = Scripts(
            np.zeros((count, LONGEST_SCRIPT), np.uint8), np.zeros(count, np.int32), np.zeros(count, np.int32)
        )
        self._totals = np.zeros((COUNTS, count, 2), np.int32)
        self._waits(self.batch.next_decision())

    def _waits(self, decisions: npt.NDArray[np.uint8]) -> None:
        going_on = (self.frames < LONGEST_GAME) & (self.memory.capsules()[:, 0] <= self._most_capsules)
        self.lanes: npt.NDArray[np.intp] = np.flatnonzero((decisions > 0) & going_on)
        """The games in which a capsule waits."""

    def look(self) -> Drops:
        """The drops of those games."""
        return look(self.batch, self.lanes, 0)

    def place(
        self, chosen: npt.NDArray[np.int64], thinks: npt.NDArray[np.int64] | int, turns_first: bool = False
    ) -> None:
        """Send the waiting capsules to these drops after some frames, and go on until capsules wait again."""
        lanes = self.lanes
        parity = self.memory.frame_count[lanes] % 2
        ways = _every_steering(turns_first)
        self._scripts.pads[lanes] = ways[DROP_COLUMNS[chosen], DROP_ROTATIONS[chosen], thinks, parity]
        self._scripts.lengths[lanes] = LONGEST_SCRIPT
        self._scripts.next[lanes] = 0
        asked = np.zeros(self.batch.n, np.bool_)
        asked[lanes] = True
        self._waits(self.batch.follow([self._scripts], 1, self._totals, self.frames, asked) * asked)

    def played(self) -> Played:
        """How they stand, or ended."""
        return Played(self.memory.cleared()[:, 0], self.memory.viruses()[:, 0], self.memory.capsules()[:, 0])


def steering(column: int, rotation: int, thinks: int, frame_count: int, turns_first: bool) -> npt.NDArray[np.uint8]:
    """uint8[LONGEST_SCRIPT]: the pads, from the first frame that can move it, that take a capsule there, if it can.

    Nothing in the first frames (`thinks`) nor in those with an even number; `frame_count` is that of the frame before.
    """
    pads = np.zeros(LONGEST_SCRIPT, np.uint8)
    x, turned = SPAWN_COLUMN, 0
    for frame in range(thinks, LONGEST_SCRIPT):
        if (frame_count + 1 + frame) % 2 == 1:
            pads[frame] = pad = pad_towards(column, rotation, x, turned, turns_first)
            x, turned = _moved(pad, x, turned)
    return pads


def pad_towards(column: int, rotation: int, x: int, turned: int, turns_first: bool) -> int:
    """What the cartridge presses to bring a capsule from column x and its rotation to others."""
    if turns_first and turned != rotation:
        return A
    side = LEFT if x > column else RIGHT if x < column else 0
    return side | (A if turned != rotation else 0) or DOWN


def _moved(pad: int, x: int, turned: int) -> tuple[int, int]:
    """Where a tap brings a capsule whose way is free (docs/drmario.md, the quirk of LEFT included)."""
    x = min(x + 1, COLUMNS - 2 + turned % 2) if pad & RIGHT else max(x - 1, 0) if pad & LEFT else x
    if pad & A:
        turned = (turned - 1) % 4
        if turned % 2 == 0:
            x = max(min(x, COLUMNS - 2) - (pad & LEFT > 0), 0)
    return x, turned


@cache
def _every_steering(turns_first: bool) -> npt.NDArray[np.uint8]:
    """[column, rotation, thinks, frame count % 2, LONGEST_SCRIPT]"""
    ways = np.zeros((COLUMNS, 4, COLUMNS, 2, LONGEST_SCRIPT), np.uint8)
    for column, rotation, thinks, parity in np.ndindex(ways.shape[:-1]):
        ways[column, rotation, thinks, parity] = steering(column, rotation, thinks, parity, turns_first)
    return ways


def play(forms: Sequence[Chooser], games: Games) -> list[Played]:
    """Let each of the forms, all of which steer alike, play all of the games."""
    count = len(games.seeds)
    rounds = Rounds(games.often(len(forms)))
    thinks = np.array([form.thinks for form in forms])
    turns_first = forms[0].turns_first
    while len(rounds.lanes):
        drops = rounds.look()
        chosen = np.empty(len(rounds.lanes), np.int64)
        whose = rounds.lanes // count
        for number in np.unique(whose).tolist():
            owned = np.flatnonzero(whose == number)
            chosen[owned] = forms[number].choose(drops.some(owned))
        rounds.place(chosen, thinks[whose], turns_first)
    whole = rounds.played()
    starts = range(0, count * len(forms), count)
    return [Played._make(part[start : start + count] for part in whole) for start in starts]
