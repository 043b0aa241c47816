"""Who is better, and by how much: the Bradley-Terry model by maximum likelihood, on the scale of Elo.

Player i wins against player j with chance 1 / (1 + exp(s_j - s_i)); a draw counts as half a win for either. The
strengths s are those that make all results together most likely. A weak prior, normal around the average strength,
keeps them finite where somebody has won or lost every game. Ratings are strengths times 400 / ln 10, so that 400 points
are odds of ten to one, relative to an anchor, whose rating is 0.

The intervals come from the curvature of the likelihood at its maximum. They are of the difference to the anchor; for
somebody who has won or lost everything they mostly tell how weak the prior is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mario_rl.selfplay.evaluation import Z_95

Floats = npt.NDArray[np.float64]

ELO_PER_STRENGTH = 400 / math.log(10)
PRIOR = 1000 / ELO_PER_STRENGTH  # the prior's standard deviation


@dataclass(frozen=True)
class PlayerRating:
    """Where a player stands."""

    name: str
    rating: float
    low: float
    high: float
    games: int
    score: float
    """Points a game: 1 for a win, 1/2 for a draw."""


@dataclass(frozen=True)
class Strengths:
    """The most likely strengths [n], which add up to 0, and how sure they are."""

    values: Floats
    covariance: Floats


def fit(points: Floats, prior: float = PRIOR) -> Strengths:
    """The strengths behind points[i, j], those that i made in its games against j."""
    from scipy.optimize import minimize  # type: ignore[import-untyped]

    count = len(points)
    games = points + points.T

    def less_likely(strengths: Floats) -> tuple[float, Floats]:
        """The negative logarithm of the posterior, and its gradient."""
        gaps = strengths[:, None] - strengths
        value = float((points * np.logaddexp(0, -gaps)).sum() + (strengths**2).sum() / (2 * prior**2))
        expected = games / (1 + np.exp(-gaps))
        return value, (expected - points).sum(axis=1) + strengths / prior**2

    def curvature(strengths: Floats) -> Floats:
        chance = 1 / (1 + np.exp(strengths - strengths[:, None]))
        information = games * chance * (1 - chance)
        return np.diag(information.sum(axis=1) + 1 / prior**2) - information

    found = minimize(less_likely, np.zeros(count), jac=True, hess=curvature, method="trust-exact", tol=1e-9)
    covariance = np.linalg.inv(curvature(found.x)).astype(np.float64)
    return Strengths(found.x - found.x.mean(), covariance)


def rate(names: Sequence[str], points: Floats, anchor: str | None = None) -> list[PlayerRating]:
    """The players with their ratings, the best first; without an anchor the average rating is 0."""
    strengths = fit(points)
    count = len(names)
    # Each rating is a difference: to the anchor, or to the average.
    reference = np.full(count, 1 / count) if anchor is None else (np.array(names) == anchor).astype(float)
    differences = np.eye(count) - reference
    ratings = ELO_PER_STRENGTH * differences @ strengths.values
    variances = np.einsum("ij,jk,ik->i", differences, strengths.covariance, differences)
    margins = ELO_PER_STRENGTH * Z_95 * np.sqrt(np.maximum(variances, 0))
    games = (points + points.T).sum(axis=1)
    scores = points.sum(axis=1) / np.maximum(games, 1)
    rated = [
        PlayerRating(name, float(rating), float(rating - margin), float(rating + margin), round(played), float(score))
        for name, rating, margin, played, score in zip(names, ratings, margins, games.tolist(), scores, strict=True)
    ]
    return sorted(rated, key=lambda player: (-player.rating, player.name))
