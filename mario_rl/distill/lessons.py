"""Lessons: bottles that somebody's own play leads to, and what a teacher thinks of their drops.

A student that only sees what its teacher's play leads to never learns to get out of what its own play leads to. So
lessons are taken where the student plays, again and again (DAgger, Ross et al. 2011; VIPER, Bastani et al. 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mario_rl.distill.drops import Drops
from mario_rl.distill.play import Chooser, Games, Rounds
from mario_rl.distill.teacher import Floats, Teacher
from mario_rl.environment.drmario.memory import HIGHEST_LEVEL
from mario_rl.environment.drmario.rules import MEDIUM, RulesBatch

CAPSULES_A_VIRUS = 4.0  # games that take longer are not worth looking at any longer
NOT_WORTH_RATING = -30.0  # the logarithm of next to no probability


class Lessons(NamedTuple):
    """What there is to learn from."""

    drops: Drops
    ratings: npt.NDArray[np.float32]
    """[n, 32]: the teacher's, as logarithms of probabilities."""
    rated: npt.NDArray[np.bool_]
    """[n, 32]: the drops that can be reached, and that the teacher has rated."""

    @property
    def bottles(self) -> int:
        """How many."""
        return len(self.ratings)

    @property
    def probabilities(self) -> npt.NDArray[np.float32]:
        """[n, 32]: how the teacher would play, if it had only these drops."""
        shifted = np.where(self.rated, self.ratings, -np.inf)
        powers = np.exp(shifted - shifted.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)


def joined(parts: Sequence[Lessons]) -> Lessons:
    """All of them together."""
    drops = Drops(*(np.concatenate(arrays) for arrays in zip(*(part.drops for part in parts), strict=True)))
    ratings, rated = (np.concatenate([part[number] for part in parts]) for number in (1, 2))
    return Lessons(drops, ratings, rated)


class _Nobody:
    """A teacher without an opinion."""

    def rate(self, games: RulesBatch, lanes: npt.NDArray[np.intp], drops: Drops) -> Floats:
        """See `Teacher.rate`."""
        return np.zeros(drops.ids.shape)


def bottles_of(player: Chooser, count: int, seed: int) -> Drops:
    """About so many bottles that a player's own games lead to, at all levels."""
    seen = lessons_of(player, _Nobody(), max(8, count // 25), np.random.default_rng(seed), share=0.5)
    return seen.drops.some(np.linspace(0, seen.bottles - 1, min(count, seen.bottles)).astype(np.intp))


def lessons_of(player: Chooser, teacher: Teacher, games: int, random: np.random.Generator, share: float) -> Lessons:
    """A share of the bottles of some games, at all levels, that the player comes to."""
    seeds = random.integers(2, 1 << 16, games)
    levels = random.integers(0, HIGHEST_LEVEL + 1, games)
    rounds = Rounds(Games(seeds, levels, MEDIUM, CAPSULES_A_VIRUS))
    parts = []
    while len(rounds.lanes):
        drops = rounds.look()
        chosen = np.flatnonzero(random.random(len(rounds.lanes)) < share)
        if len(chosen):
            looked_at = drops.some(chosen)
            ratings = teacher.rate(rounds.batch, rounds.lanes[chosen], looked_at)
            rated = looked_at.open & np.isfinite(ratings)
            bounded = np.where(rated, np.maximum(ratings, NOT_WORTH_RATING), NOT_WORTH_RATING).astype(np.float32)
            several = np.flatnonzero(rated.sum(axis=1) > 1)
            parts.append(Lessons(looked_at.some(several), bounded[several], rated[several]))
        rounds.place(player.choose(drops), player.thinks, player.turns_first)
    return joined(parts)
