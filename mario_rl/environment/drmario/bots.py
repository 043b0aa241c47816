"""Players to measure oneself against: random, greedy and search.

All choose a placement when a capsule comes under control, and a script takes it there; so they play on everything that
has the game's RAM, in real time. `make_bot` gives one that chooses for many games at once, `BotPlayer` one that holds
the pad of a single console:

    player = BotPlayer("search")
    while True:
        console.step((player.pads(console.ram), 0))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mario_rl.emulators.base import RAM_SIZE
from mario_rl.environment.drmario.bot_weights import Weights, load_weights
from mario_rl.environment.drmario.memory import GameMemory, Mask
from mario_rl.environment.drmario.planner import at_decision, copy_round
from mario_rl.environment.drmario.rules import RulesBatch
from mario_rl.environment.drmario.settings import BOTS as BOTS

__all__ = ["Bot", "BotPlayer", "RandomBot", "Rating", "SearchBot", "make_bot"]


@dataclass(frozen=True)
class Rating:
    """A placement (rotation x 128 + y x 8 + x) and what the bot thinks of it."""

    placement: int
    value: float


class Bot(Protocol):
    """Chooses placements."""

    name: str

    def choose(self, games: RulesBatch, lanes: Mask, seat: int) -> npt.NDArray[Any]:
        """A placement for each masked game, in which that seat's capsule waits for one."""

    def ratings(self, games: RulesBatch, lane: int, seat: int) -> list[Rating]:
        """What it thinks of the placements it has in one game, the best first; it makes no choice by that."""


class RandomBot:
    """Any placement that can be reached, each with the same chance."""

    name = "random"

    def __init__(self, seed: int = 0):
        self._random = np.random.default_rng(seed)

    def choose(self, games: RulesBatch, lanes: Mask, seat: int) -> npt.NDArray[Any]:
        """See `Bot.choose`."""
        counts, ids, _, _ = games.placements(seat, lanes)
        drawn = (self._random.random(len(counts)) * counts).astype(np.intp)
        return ids[np.arange(len(counts)), drawn]

    def ratings(self, games: RulesBatch, lane: int, seat: int) -> list[Rating]:
        """See `Bot.ratings`: it has no opinion."""
        return []


class SearchBot:
    """The placement after which the field is worth most, looking at one capsule or at the next one, too."""

    def __init__(self, name: str, plies: int, weights: Weights):
        self.name = name
        self.plies = plies
        self.weights = weights

    def choose(self, games: RulesBatch, lanes: Mask, seat: int) -> npt.NDArray[Any]:
        """See `Bot.choose`."""
        return games.search(self.weights, self.plies, seat, lanes)

    def ratings(self, games: RulesBatch, lane: int, seat: int) -> list[Rating]:
        """See `Bot.ratings`."""
        only = np.arange(games.n) == lane
        counts, ids, values = games.ratings(self.weights, self.plies, seat, only)
        count = counts[lane]
        rated = [Rating(*pair) for pair in zip(ids[lane, :count].tolist(), values[lane, :count].tolist(), strict=True)]
        return sorted(rated, key=lambda rating: -rating.value)


def make_bot(name: str, seed: int = 0, weights: Weights | None = None) -> Bot:
    """A bot by its name. The seed is for "random", `weights` (other than the packaged ones) are for the others."""
    if name == "random":
        return RandomBot(seed)
    if name not in BOTS:
        raise ValueError(f"unknown bot {name!r}; use one of {', '.join(BOTS)}")
    return SearchBot(name, BOTS.index(name), load_weights(name) if weights is None else weights)


class BotPlayer:
    """A bot with the pad of one console in its hands; any console, all it looks at is the RAM."""

    def __init__(self, bot: str | Bot, player: int = 1):
        if player not in (1, 2):
            raise ValueError(f"player is 1 or 2, not {player!r}")
        self.bot = make_bot(bot) if isinstance(bot, str) else bot
        self.seat = player - 1
        self.placement: int | None = None
        """Where its capsule is to go; None while it has none under control."""
        self.ratings: list[Rating] = []
        """What it thought of the placements when it chose that one, the best first."""
        self._ram = np.zeros((1, RAM_SIZE), np.uint8)
        self._game = GameMemory(self._ram)
        self._engine = RulesBatch(1)
        self._script: Iterator[int] = iter(b"")

    def pads(self, ram: npt.NDArray[np.uint8]) -> int:
        """What to hold in the next frame; to be asked before every frame."""
        self._ram[0] = ram
        if self._game.paused[0]:
            return 0
        if at_decision(self._game, self.seat)[0]:
            self._plan()
        elif not self._game.controllable()[0, self.seat]:
            self.placement = None
            self._script = iter(b"")
        return next(self._script, 0)

    def _plan(self) -> None:
        only = np.ones(1, np.bool_)
        copy_round(self._ram[0], self._engine)
        self.ratings = self.bot.ratings(self._engine, 0, self.seat)
        self.placement = int(self.bot.choose(self._engine, only, self.seat)[0])
        self._script = iter(self._engine.script(0, self.placement, self.seat))
