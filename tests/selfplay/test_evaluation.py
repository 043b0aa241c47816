"""Figures from records: scores, intervals and what they are worth."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from mario_rl.runs.evaluate import wilson_interval
from mario_rl.selfplay.evaluation import as_json, command, figures, score_interval, table, worth_in_games
from mario_rl.selfplay.match import Conditions, GameRecord, Result

KEYS = ["a", "b", "games", "wins", "draws", "losses", "rate", "low", "high", "clear_rate", "capsules_per_clear"]


def record(result: Result, seed: int = 0, seat: int = 1, **changes: object) -> GameRecord:
    known: dict[str, object] = {
        "ending": "clear",
        "cleared": result == "win",
        "capsules": 50,
        "viruses": 0 if result == "win" else 3,
        "sent": 4,
        "received": 2,
        "opponent_capsules": 40,
        "opponent_viruses": 3 if result == "win" else 0,
        "frames": 6010,
        "missed": 0,
    }
    return GameRecord(seed=seed, seat=seat, result=result, **(known | changes))  # type: ignore[arg-type]


def match_of(*results: Result) -> list[GameRecord]:
    return [record(result, seed, 1 + seed % 2) for seed, result in enumerate(results)]


# --- intervals ----------------------------------------------------------------------------------------------------


@given(st.integers(1, 1000).flatmap(lambda games: st.tuples(st.integers(0, games), st.just(games))))
def test_without_draws_it_is_wilsons_interval(case: tuple[int, int]) -> None:
    wins, games = case
    expected = binomtest(wins, games).proportion_ci(0.95, "wilson")
    assert score_interval(wins / games, games) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert score_interval(wins / games, games) == pytest.approx(wilson_interval(wins, games), abs=1e-12)


def test_the_interval_covers_the_truth_with_draws_too() -> None:
    """Of 4000 matches between players who draw now and then, at least 95 % have the true score in their interval."""
    random = np.random.default_rng(1)
    chances, points = (0.5, 0.1, 0.4), np.array([1.0, 0.5, 0.0])
    truth = float(np.dot(chances, points))
    covered = 0
    for counts in random.multinomial(100, chances, size=4000):
        low, high = score_interval(float(counts @ points) / 100, 100)
        covered += low <= truth <= high
    assert 0.95 <= covered / 4000 <= 0.975


@pytest.mark.parametrize(
    ("pairs", "worth"),
    [
        ([("win", "win"), ("loss", "loss")] * 10, 20),  # nothing new in the second game of a board
        ([("win", "loss"), ("loss", "win")] * 10, 40),  # never more than there are
        ([("win", "win"), ("loss", "loss"), ("win", "loss"), ("loss", "win")] * 10, 80),  # independent
        ([("win", "win")] * 10, 10),  # nobody knows
    ],
)
def test_what_games_on_boards_played_twice_are_worth(pairs: list[tuple[Result, Result]], worth: float) -> None:
    records = [record(result, seed, seat) for seed, pair in enumerate(pairs) for seat, result in enumerate(pair, 1)]
    assert worth_in_games(records) == pytest.approx(worth)


def test_games_on_boards_of_their_own_are_worth_themselves() -> None:
    assert worth_in_games(match_of(*["win"] * 7, "loss")) == 8


# --- figures ------------------------------------------------------------------------------------------------------


def test_a_match_in_figures() -> None:
    records = match_of("win", "win", "draw", "loss")
    records[1] = record("win", 1, 2, cleared=False, viruses=5, ending="top_out", opponent_viruses=6, capsules=30)
    records[2] = record("draw", 2, 1, ending="cut_off", cleared=False, opponent_viruses=1, sent=8)
    found = figures("us", "them", records, Conditions(level=7, speed="hi"))
    assert [found[key] for key in KEYS[:7]] == ["us", "them", 4, 2, 1, 1, 0.625]
    assert (found["low"], found["high"]) == score_interval(0.625, 4)
    assert found["clear_rate"] == 0.25
    assert found["capsules_per_clear"] == 50
    assert found["opponent_clear_rate"] == 0.25
    assert found["opponent_capsules_per_clear"] == 40
    assert found["rate_by_seat"] == {"1": 0.75, "2": 0.5}
    assert found["top_outs"] == 0, "the opponent's is not ours"
    assert found["cut_off"] == 1
    assert found["sent"] == 5
    assert found["received"] == 2
    assert found["seconds"] == pytest.approx(100, abs=0.1)
    assert found["seeds"] == [0, 1, 2, 3]
    assert (found["level"], found["speed"], found["backend"]) == (7, "hi", "rules")


def test_one_alone_in_figures() -> None:
    records = [
        record("win", 0, capsules=40),
        record("win", 1, capsules=60),
        record("loss", 2, ending="top_out"),
        record("loss", 3, ending="cut_off"),
    ]
    found = figures("us", None, records, Conditions())
    assert found["b"] is None
    assert found["wins"] == 2, "cleared"
    assert found["clear_rate"] == found["rate"] == 0.5
    assert (found["low"], found["high"]) == pytest.approx(wilson_interval(2, 4))
    assert (found["capsules_per_clear"], found["most_capsules"]) == (50, 60)
    assert (found["top_outs"], found["cut_off"]) == (1, 1)


def test_a_match_with_a_cartridge_in_figures() -> None:
    """It has always the same seat, and Antidote tells how many frames were late."""
    records = [record("win", 0, 2, late_frames=0, frames=100), record("loss", 1, 2, late_frames=3, frames=50)]
    found = figures("cart:x.nes", "us", records, Conditions(backend="embedded"))
    assert found["rate_by_seat"] == {"2": 0.5}
    assert (found["frames"], found["late_frames"]) == (150, 3)
    text = table(found)
    assert "  from seat 2 50.0%; cart:x.nes topped out 0" in text
    assert "late frames       3 at most a game, of 150 in all" in text
    assert figures("us", "cart:x.nes", records, Conditions())["late_frames"] == 3
    another = figures("cart:x.nes", "us", [record("win", frames=70)], Conditions())
    assert another["frames"] == 70
    assert "late_frames" not in another, "only Antidote counts them"
    assert not {"frames", "late_frames"} & set(figures("us", "them", match_of("win", "loss"), Conditions()))


def test_nobody_cleared_anything() -> None:
    found = figures("us", None, [record("loss", 0, ending="top_out")], Conditions())
    assert found["capsules_per_clear"] is None
    assert "capsules a clear  -" in table(found)


def test_the_json_is_one_object_with_what_was_promised() -> None:
    found = figures("us", "them", match_of("win", "loss"), Conditions())
    read = json.loads(as_json(found))
    assert read == found
    assert list(read)[: len(KEYS)] == KEYS
    assert as_json(found).count("\n") == len(found) + 2, "a key a line"


# --- for people ---------------------------------------------------------------------------------------------------


def test_the_table_says_it_all() -> None:
    found = figures("champion", "search", match_of(*["win"] * 3, "draw"), Conditions(level=4))
    text = table(found)
    for words in (
        "champion against search: level 4 med, rules, 4 games, boards 0 to 3",
        "won 3, drawn 1, lost 0: score 87.5%, 95 % interval",
        "from seat 1 100.0%, from seat 2 75.0%",
        "again: mario-rl selfplay evaluate champion search --games 4 --level 4",
    ):
        assert words in text
    assert "elsewhere" not in text
    records = [record("win", missed=2), record("win", 1, 2)]
    assert "elsewhere than planned: 2" in table(figures("a", "b", records, Conditions()))
    assert "1 games, board 5\n" in table(figures("a", None, [record("win", 5)], Conditions()))


def test_the_command_says_what_is_not_the_default() -> None:
    conditions = Conditions(3, "hi", "embedded", Path("my game.nes"), 9, twice=True)
    words = command("runs/a b", "search", 20, conditions, Path("elsewhere"))
    assert words == (
        "mario-rl selfplay evaluate 'runs/a b' search --games 20 --level 3 --speed hi --backend embedded --seed 9 "
        "--rom 'my game.nes' --checkpoints elsewhere --twice"
    )
    alone = command("a", None, 1, Conditions())
    assert alone == "mario-rl selfplay evaluate a --games 1 --level 10 --speed med --backend rules --seed 0"
