"""A teacher that sees no more than its student: a network on the features that the cartridge can count.

A student cannot learn what depends on something it does not see: the next capsule, say. So a teacher who sees more
teaches this network first, on the bottles that the network's own play leads to; it takes over what its features can
tell, and is what the forms are distilled from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from scipy.special import logsumexp  # type: ignore[import-untyped]
from torch import Tensor, nn

from mario_rl.distill.drops import FEATURES, MOST, Drops
from mario_rl.distill.form import best
from mario_rl.distill.imitation import imitate, scores_of
from mario_rl.distill.lessons import NOT_WORTH_RATING, Lessons, joined, lessons_of
from mario_rl.distill.teacher import Teacher
from mario_rl.environment.drmario.rules import RulesBatch

WIDTH = 64
LEARNING_RATE = 1e-3
_SIZES = [MOST[name] + 1 for name in FEATURES]
_STARTS = np.cumsum([0, *_SIZES[:-1]])


class ByteTeacher(nn.Module):
    """Every value of every feature has a vector; their sum goes through two layers."""

    thinks = 2  # as long as the players do that are distilled from it
    turns_first = False

    def __init__(self) -> None:
        super().__init__()
        self._starts = torch.from_numpy(_STARTS)
        self.vectors = nn.EmbeddingBag(sum(_SIZES), WIDTH, mode="sum")
        self.layers = nn.Sequential(nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))

    def forward(self, features: Tensor) -> Tensor:
        """Scores [n] of features [n, len(FEATURES)]."""
        return self.layers(self.vectors(features.long() + self._starts)).squeeze(-1)

    def choose(self, drops: Drops) -> npt.NDArray[np.int64]:
        """See `Chooser.choose`."""
        return best(scores_of(self, drops.features), drops.open)

    def rate(self, games: RulesBatch, lanes: npt.NDArray[np.intp], drops: Drops) -> npt.NDArray[np.float64]:
        """See `Teacher.rate`."""
        return self.rate_features(drops).astype(np.float64)

    def rate_features(self, drops: Drops) -> npt.NDArray[np.float32]:
        """The logarithms of the probabilities of drops; no game is needed to know them."""
        scores = np.where(drops.open, scores_of(self, drops.features), -np.inf)
        all_together = np.where(drops.open.any(axis=1), logsumexp(scores, axis=1), 0.0)
        return np.maximum(scores - all_together[:, None], NOT_WORTH_RATING).astype(np.float32)


@dataclass(frozen=True)
class Schooling:
    """How a byte teacher is taught."""

    rounds: int = 8
    games: int = 128
    """In each round."""
    share: float = 0.4
    """Of the bottles of these games that are looked at."""
    epochs: int = 4


def teach(teacher: Teacher, schooling: Schooling, seed: int, say: Callable[[str], None]) -> tuple[ByteTeacher, Lessons]:
    """A network that plays like the teacher as far as its features can tell, and the lessons it has had."""
    torch.manual_seed(seed)
    random = np.random.default_rng([seed, 1])
    network = ByteTeacher()
    lessons: list[Lessons] = []
    for number in range(1, schooling.rounds + 1):
        lessons.append(lessons_of(network, teacher, schooling.games, random, schooling.share))
        everything = joined(lessons)
        loss = imitate(network, everything, schooling.epochs, LEARNING_RATE, seed)
        say(f"teacher on the cartridge's features: round {number} of {schooling.rounds}, "
            f"{everything.bottles:,} bottles, cross-entropy {loss:.3f}")  # fmt: skip
    return network, joined(lessons)
