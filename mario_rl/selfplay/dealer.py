"""Which rounds are played next, and who sits where: solo or versus, level, speed, the opponent and the seats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mario_rl.environment.drmario.memory import Ints
from mario_rl.selfplay.config import SelfPlayConfig, levels, speeds

LEAST_SEED, MOST_SEED = 2, 0xFFFF
LEARNER = 0
NOBODY = -1

FIRST_CAP = 4  # the highest level of the first games
CAP_STEP = 2
HARD_LEVELS = 3  # of the solo levels, the highest
RECENT = 200  # games at the top of the curriculum that are looked at before it moves on


@dataclass
class Deal:
    """New rounds for some games, one entry each."""

    seeds: Ints
    levels: Ints
    speeds: Ints
    players: Ints
    seats: Ints  # [k, 2]: LEARNER, an opponent's number, or NOBODY


class Dealer:
    """Draws rounds. The curriculum's state is here: how high solo levels go, and whether versus has begun."""

    def __init__(self, config: SelfPlayConfig, random: np.random.Generator):
        self._config = config
        self._random = random
        self._levels, self._speeds = levels(config.level), speeds(config.speed)
        self._solo_levels, self._solo_speeds = levels(config.solo_level), speeds(config.solo_speed)
        self.cap = min(FIRST_CAP, self._solo_levels[-1])
        self.versus = False
        self._recent: list[bool] = []  # of solo games near the cap: cleared?
        self._next_seat = 0

    def deal(self, count: int, opponents: list[int], chances: npt.NDArray[np.float64]) -> Deal:
        """Rounds for so many games; `opponents` are the numbers of those who are invited, with their chances."""
        random, config = self._random, self._config
        alone = random.random(count) < (config.solo_share if self.versus else 1.0)
        drawn_levels = np.where(alone, self._draw_solo_levels(count), random.choice(self._levels, count))
        drawn_speeds = np.where(alone, random.choice(self._solo_speeds, count), random.choice(self._speeds, count))
        seats = np.full((count, 2), LEARNER, np.int32)
        seats[alone, 1] = NOBODY
        against_itself = random.random(count) < config.self_prob
        for game in np.flatnonzero(~alone & ~against_itself).tolist() if opponents else []:
            seats[game, self._next_seat] = opponents[int(random.choice(len(opponents), p=chances))]
            self._next_seat = 1 - self._next_seat
        seeds = random.integers(LEAST_SEED, MOST_SEED + 1, count)
        return Deal(
            seeds.astype(np.int32),
            drawn_levels.astype(np.int32),
            drawn_speeds.astype(np.int32),
            np.where(alone, 1, 2).astype(np.int32),
            seats,
        )

    def _draw_solo_levels(self, count: int) -> npt.NDArray[np.int64]:
        """All that the curriculum allows alike; with games for two, more of the hardest, which those do not teach."""
        allowed = np.array([level for level in self._solo_levels if level <= self.cap] or [self._solo_levels[0]])
        chances = np.full(len(allowed), 1 / len(allowed))
        if self.versus:
            hard = np.arange(len(allowed)) >= len(allowed) - HARD_LEVELS
            chances = (1 - self._config.solo_hard) * chances + self._config.solo_hard * hard / hard.sum()
        return self._random.choice(allowed, count, p=chances)

    def solo_ended(self, level: int, cleared: bool) -> None:
        """A game for one is over: the curriculum moves on when most near its top are cleared."""
        if self.versus or level < self.cap - CAP_STEP:
            return
        self._recent = [*self._recent[-RECENT + 1 :], cleared]
        if len(self._recent) == RECENT and np.mean(self._recent) >= self._config.solo_first:
            self._recent = []
            if self.cap >= self._solo_levels[-1]:
                self.begin_versus()
            self.cap = min(self.cap + CAP_STEP, self._solo_levels[-1])

    def begin_versus(self) -> None:
        """From the next deal on, games for two."""
        self.versus = True
        self.cap = self._solo_levels[-1]

    def state_dict(self) -> dict[str, Any]:
        """The curriculum, as plain values."""
        return {"cap": self.cap, "versus": self.versus, "recent": list(self._recent), "next_seat": self._next_seat}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where that was taken."""
        self.cap, self.versus = int(state["cap"]), bool(state["versus"])
        self._recent = [bool(cleared) for cleared in state["recent"]]
        self._next_seat = int(state["next_seat"])
