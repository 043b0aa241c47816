"""Ratings against other ways to the same numbers, and against what must not change them."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mario_rl.selfplay.rating import ELO_PER_STRENGTH, fit, rate

Floats = npt.NDArray[np.float64]

NO_PRIOR = 1e5  # a standard deviation that says nothing


def minorize_and_maximize(points: Floats, rounds: int = 20_000) -> Floats:
    """Strengths by the algorithm of Hunter (2004), which has nothing in common with ours; they add up to 0."""
    games = points + points.T
    worth = np.ones(len(points))
    for _ in range(rounds):
        worth = points.sum(axis=1) / (games / (worth[:, None] + worth)).sum(axis=1)
        worth /= np.exp(np.log(worth).mean())
    return np.log(worth)


def played(strengths: Floats, games: int, random: np.random.Generator) -> Floats:
    """Points of players with these strengths, who all met."""
    chance = 1 / (1 + np.exp(strengths - strengths[:, None]))
    wins = np.triu(random.binomial(games, chance), 1).astype(float)
    return wins + np.tril(games - wins.T, -1)


def tables(players: int) -> st.SearchStrategy[Floats]:
    """Points of everybody against everybody, nobody with all of them or none."""
    points = arrays(np.float64, (players, players), elements=st.integers(1, 40).map(lambda half: half / 2))
    return points.map(lambda table: table * (1 - np.eye(players)))


# --- the same numbers by another way ------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 6).flatmap(tables))
def test_strengths_are_the_most_likely_ones(points: Floats) -> None:
    assert fit(points, NO_PRIOR).values == pytest.approx(minorize_and_maximize(points, 4000), abs=1e-4)


def test_two_players_by_hand() -> None:
    """The difference is the logarithm of the odds, and its variance that of a share of wins."""
    strengths = fit(np.array([[0.0, 75.0], [25.0, 0.0]]), NO_PRIOR)
    assert strengths.values[0] - strengths.values[1] == pytest.approx(math.log(3))
    difference = np.array([1.0, -1.0])
    assert difference @ strengths.covariance @ difference == pytest.approx(1 / (100 * 0.75 * 0.25), rel=1e-6)
    best, worst = rate(["a", "b"], np.array([[0.0, 75.0], [25.0, 0.0]]), "b")
    assert (best.name, worst.rating, worst.low, worst.high) == ("a", 0, 0, 0)
    assert best.rating == pytest.approx(400 * math.log10(3), abs=2)
    assert (best.games, best.score) == (100, 0.75)


def test_the_intervals_cover_the_truth_as_often_as_they_say() -> None:
    random = np.random.default_rng(3)
    truth = np.array([0.0, 0.4, 1.0, -1.2])
    names = ["zero", "one", "two", "three"]
    inside = 0
    for _ in range(300):
        for player in rate(names, played(truth, 60, random), "zero"):
            expected = ELO_PER_STRENGTH * truth[names.index(player.name)]
            inside += player.name != "zero" and player.low <= expected <= player.high
    assert 0.93 <= inside / 900 <= 0.97


# --- what must not matter -----------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(tables(4), st.permutations(range(4)), st.sampled_from([None, "p0", "p3"]))
def test_the_order_of_players_does_not_matter(points: Floats, order: list[int], anchor: str | None) -> None:
    names = [f"p{number}" for number in range(4)]
    before = {player.name: player for player in rate(names, points, anchor)}
    shuffled = rate([names[number] for number in order], points[np.ix_(order, order)], anchor)
    for player in shuffled:
        other = before[player.name]
        assert (player.rating, player.low, player.high) == pytest.approx(
            (other.rating, other.low, other.high), abs=1e-3
        )
        assert (player.games, player.score) == (other.games, pytest.approx(other.score))
    assert [player.rating for player in shuffled] == sorted((player.rating for player in shuffled), reverse=True)


@settings(max_examples=40, deadline=None)
@given(tables(4))
def test_who_is_the_anchor_only_moves_the_scale(points: Floats) -> None:
    names = ["a", "b", "c", "d"]
    by_anchor = [{player.name: player.rating for player in rate(names, points, anchor)} for anchor in (None, "a", "c")]
    assert sum(by_anchor[0].values()) == pytest.approx(0, abs=1e-6)
    for ratings in by_anchor[1:]:
        moved = [ratings[name] - by_anchor[0][name] for name in names]
        assert moved == pytest.approx([moved[0]] * 4, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(tables(3))
def test_turning_every_result_turns_the_ratings(points: Floats) -> None:
    assert fit(points.T).values == pytest.approx(-fit(points).values, abs=1e-5)


def test_more_games_make_it_surer() -> None:
    points = np.array([[0.0, 6, 7], [4, 0, 5], [3, 5, 0]])
    widths = [max(player.high - player.low for player in rate(["a", "b", "c"], n * points, "a")) for n in (1, 4, 16)]
    assert widths[0] / widths[1] == pytest.approx(2, rel=0.1)
    assert widths[1] / widths[2] == pytest.approx(2, rel=0.1)


# --- the ends -----------------------------------------------------------------------------------------------------


def test_who_never_loses_or_never_wins_has_a_finite_rating() -> None:
    points = np.array([[0.0, 0, 0], [400, 0, 100], [400, 300, 0]])
    best, middle, worst = rate(["random", "greedy", "search"], points, "greedy")
    assert [best.name, middle.name, worst.name] == ["search", "greedy", "random"]
    assert best.rating == pytest.approx(400 * math.log10(3), abs=1), "the prior does not touch what is known well"
    assert -3000 < worst.rating < -900
    assert worst.high - worst.low > 5 * (best.high - best.low), "and says how little is known"


def test_without_any_game_everybody_is_the_same() -> None:
    rated = rate(["a", "b"], np.zeros((2, 2)))
    assert [(player.rating, player.games, player.score) for player in rated] == [(0, 0, 0), (0, 0, 0)]


def test_players_who_never_met_are_compared_through_others() -> None:
    points = np.array([[0.0, 30, 0], [10, 0, 30], [0, 10, 0]])
    first, middle, last = (player.rating for player in rate(["a", "b", "c"], points, "b"))
    assert (middle, last) == (0, pytest.approx(-first, abs=1))
    assert first == pytest.approx(400 * math.log10(3), abs=5)
