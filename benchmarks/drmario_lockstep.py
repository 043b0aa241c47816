"""The rules engine and Antidote on the embedded core play the same games; every byte of state is compared every frame.

Bots play: one and two players, levels 0 to 20, all speeds, garbage, top-outs, cleared bottles, matches to their end.
Both sides begin from the seed alone, so the menus' way into a round and the round's set-up are compared, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from mario_rl.emulators.base import START
from mario_rl.environment.drmario import memory
from mario_rl.environment.drmario.bots import make_bot
from mario_rl.environment.drmario.console import RulesGames, open_games
from mario_rl.environment.drmario.memory import HIGHEST_LEVEL, SPEEDS
from mario_rl.environment.drmario.pilot import BotPads
from mario_rl.environment.drmario.planner import Planner
from mario_rl.environment.drmario.rules import IMAGE
from mario_rl.environment.drmario.settings import GameSettings
from mario_rl.roms import antidote

Mask = npt.NDArray[np.bool_]

LEVELS = HIGHEST_LEVEL + 1
FEW_FRAMES = 100_000  # fewer are shared by a third of the levels, so that rounds come to their end
# Who plays: garbage comes from the good ones, top-outs from the others.
CONTESTS = (("greedy",), ("greedy", "greedy"), ("random", "search"), ("random",), ("search", "random"), ("search",))
START_EVERY = 9  # frames between two presses while a round is over; an odd number meets all moments


@dataclass
class Tally:
    """What was compared."""

    frames: int = 0
    mismatches: int = 0
    rounds: int = 0
    attacks: int = 0
    first: list[str] = field(default_factory=list)
    """The first differences, in words."""


def compare(frames: int, say: Callable[[str], None] = lambda line: None) -> Tally:
    """Play and compare at least so many frames, all games together, spread over the contests."""
    tally = Tally()
    for number, bots in enumerate(CONTESTS):
        due = (frames - tally.frames) / (len(CONTESTS) - number)
        pair = _Pair(bots, number, every=3 if frames < FEW_FRAMES else 1)
        while due > 0:
            before = tally.frames
            pair.step(tally)
            due -= tally.frames - before
        say(f"{' vs '.join(bots)}: {tally.frames:,} frames, {tally.mismatches} mismatches, {tally.rounds} rounds")
    return tally


class _Pair:
    """A contest's games, one for every level (or every third), on both."""

    def __init__(self, bots: Sequence[str], number: int, every: int):
        self._seats = len(bots)
        self._levels = np.arange(number % every, LEVELS, every)
        self._lanes = lanes = len(self._levels)
        self._random = np.random.default_rng(number)
        settings = GameSettings(players=self._seats, backend="embedded", rom=antidote())
        self._console = open_games(settings, lanes)
        self._engine = RulesGames(lanes)
        planner = Planner(self._engine)
        self._bots = [
            BotPads(make_bot(name, number), planner, self._engine.game, seat) for seat, name in enumerate(bots)
        ]
        self._pads = np.zeros((lanes, 2), np.uint8)
        self._over = np.zeros(lanes, np.bool_)
        self._frame = 0
        self._begin(np.ones(lanes, np.bool_))

    def step(self, tally: Tally) -> None:
        """One frame of all games."""
        engine, console = self._engine.game, self._console.game
        self._new_matches()
        for seat, bot in enumerate(self._bots):
            self._pads[:, seat] = bot.pads()
        # Nothing moves in these without START; sometimes it comes while a new round begins, and pauses that.
        waits = engine.round_over() | (engine.mode == memory.MODE_END_SCREEN) | (engine.paused != 0)
        start = START if self._frame % START_EVERY == 0 else 0
        self._pads[:, 0] = np.where(waits, start, self._pads[:, 0])
        attacks = engine.attack.astype(np.int32)
        self._engine.step(self._pads)
        self._console.step(self._pads)
        self._frame += 1

        tally.frames += self._lanes
        tally.attacks += int((engine.attack < attacks).sum())
        over = engine.round_over()
        tally.rounds += int((over & ~self._over).sum())
        self._over = over
        different = (engine.ram != console.ram) & IMAGE
        for lane in np.flatnonzero(different.any(axis=1)).tolist():
            tally.mismatches += 1
            if len(tally.first) < 5:
                tally.first.append(self._in_words(lane, different[lane]))
            self._engine.batch.load_ram(lane, console.ram[lane].tobytes())  # one mismatch is to count once

    def _new_matches(self) -> None:
        """When a match is over the cartridge goes to its options, where the engine does not follow."""
        ended = self._engine.game.mode == memory.MODE_OPTIONS
        if ended.any():
            self._begin(ended)

    def _begin(self, lanes: Mask) -> None:
        seeds = self._random.integers(2, 1 << 16, self._lanes).astype(np.int32)
        levels = np.stack([self._levels, self._random.integers(0, LEVELS, self._lanes)], axis=1).astype(np.int32)
        levels[::2, 1] = levels[::2, 0]  # equal levels get equal viruses, which is a rule of its own
        speeds = self._random.integers(0, len(SPEEDS), (self._lanes, 2)).astype(np.int32)
        for games in (self._console, self._engine):
            games.begin(lanes, seeds, levels, speeds, self._seats)
        for bot in self._bots:
            bot.pilot.forget(lanes)

    def _in_words(self, lane: int, different: Mask) -> str:
        ours, theirs = self._engine.game.ram[lane], self._console.game.ram[lane]
        where = np.flatnonzero(different)[:4].tolist()
        what = ", ".join(f"${at:04X} {ours[at]:02X} not {theirs[at]:02X}" for at in where)
        return f"{self._seats}P lane {lane} frame {self._frame}: {what}"
