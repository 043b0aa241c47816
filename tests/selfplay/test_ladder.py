"""The ladder: who meets whom, what is kept, and what it looks like."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from mario_rl.runs.directory import RunError
from mario_rl.selfplay import ladder as ladders
from mario_rl.selfplay.ladder import Ladder, Pair, next_round, pair_of, round_robin, swiss
from mario_rl.selfplay.ladder_entries import Entry, enter, identity
from mario_rl.selfplay.ladder_picture import draw_ladder, ladder_figure
from mario_rl.selfplay.ladder_table import table
from mario_rl.selfplay.match import Conditions
from mario_rl.selfplay.player_file import save_placement_player
from mario_rl.selfplay.scorer import PlacementScorer

EASY = Conditions(level=0)
BOTS = ["random", "greedy"]


def save_player(file: Path, seed: int) -> None:
    torch.manual_seed(seed)
    file.parent.mkdir(parents=True, exist_ok=True)
    scorer = PlacementScorer(8, 8)
    save_placement_player(file, scorer.state_dict(), {"hidden": 8, "value_hidden": 8}, 0, {})


def imagined(strengths: dict[str, float], games: int = 100) -> Ladder:
    """A ladder on which everybody scored exactly what their strengths promise."""
    ladder = Ladder([Entry(name, name, name) for name in strengths], EASY, games)
    for pair in round_robin(ladder):
        imagine(ladder, pair, strengths)
    return ladder


def imagine(ladder: Ladder, pair: Pair, strengths: dict[str, float]) -> bool:
    one, other = pair
    wins = round(ladder.games / (1 + np.exp(strengths[other] - strengths[one])))
    rate = wins / ladder.games
    ladder.results[pair] = {
        "a": one, "b": other, "wins": wins, "draws": 0, "losses": ladder.games - wins, "rate": rate
    }  # fmt: skip
    return True


# --- who meets whom -----------------------------------------------------------------------------------------------


def test_everybody_meets_everybody_once() -> None:
    ladder = Ladder([Entry(name, name, name) for name in "dbca"], EASY, 2)
    pairs = list(round_robin(ladder))
    assert sorted(pairs) == list(combinations("abcd", 2))


@given(st.integers(2, 9), st.integers(1, 9), st.randoms(use_true_random=False))
def test_in_a_swiss_system_nobody_meets_twice(players: int, rounds: int, random: st.DrawFn) -> None:
    names = [f"p{number}" for number in range(players)]
    met: set[Pair] = set()
    for played in range(rounds):
        standing = names.copy()
        random.shuffle(standing)  # type: ignore[attr-defined]
        drawn = next_round(standing, met)
        if played == 0:
            assert len(drawn) == players // 2
            assert pair_of(standing[0], standing[1]) in drawn, "neighbours"
        sitting = [name for pair in drawn for name in pair]
        assert len(set(sitting)) == len(sitting), "nobody sits at two tables"
        assert len(drawn) in (0, players // 2), "at most one rests"
        assert not met & set(drawn)
        met |= set(drawn)
    assert next_round(names, set(combinations(names, 2))) == []


def test_a_swiss_system_brings_equals_together() -> None:
    strengths = {name: -float("abcdefgh".index(name)) for name in "dhbfaecg"}
    ladder = Ladder([Entry(name, name, name) for name in strengths], EASY, 100)
    pairs = [pair for drawn in swiss(ladder, 4) for pair in drawn if imagine(ladder, pair, strengths)]
    assert len(set(pairs)) == len(pairs) == 16
    assert [player.name for player in ladder.ratings()] == list("abcdefgh")
    gaps = [abs(strengths[one] - strengths[other]) for one, other in pairs[4:]]
    assert np.mean(gaps) < 2, "all pairs have 3 on average"
    without_end = [pair for drawn in swiss(ladder, 100) for pair in drawn if imagine(ladder, pair, strengths)]
    assert without_end[:16] == pairs
    assert len(set(without_end)) == len(without_end) <= 28, "there are no more pairs than that"


# --- playing and keeping ------------------------------------------------------------------------------------------


def test_what_was_played_is_not_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "ladder.json"
    first = Ladder(enter(BOTS), EASY, 4)
    for pair in round_robin(first):
        first.play(pair)
    first.save(file)
    stored = json.loads(file.read_text())
    assert [player["name"] for player in stored["players"]] == ["greedy", "random"]
    assert (stored["level"], stored["games"], stored["anchor"]) == (0, 4, "greedy")
    assert stored["pairs"][0]["wins"] == 4
    assert stored["pairs"][0]["command"].startswith("mario-rl selfplay evaluate greedy random --games 4 --level 0")

    played: list[Pair] = []
    real = ladders.play_match
    monkeypatch.setattr(ladders, "play_match", lambda *arguments: played.append(arguments[:2]) or real(*arguments))
    more = Ladder(enter([*reversed(BOTS), "search"]), EASY, 4)
    assert more.take_over(file) == 1
    for pair in round_robin(more):
        more.play(pair)
    assert len(played) == 2, "only the newcomer's games"
    assert more.results["greedy", "random"] == first.results["greedy", "random"]
    assert json.loads(ladders.as_json(more.as_dict())) == more.as_dict()


def test_somebody_who_is_another_now_plays_again(tmp_path: Path) -> None:
    player = tmp_path / "mine.pt"
    save_player(player, seed=1)
    first = Ladder(enter(["random", str(player)]), EASY, 2)
    first.play(("mine", "random"))
    first.save(tmp_path / "ladder.json")
    again = Ladder(enter(["random", str(player)]), EASY, 2)
    assert again.take_over(tmp_path / "ladder.json") == 1
    save_player(player, seed=2)
    changed = Ladder(enter(["random", str(player)]), EASY, 2)
    assert changed.take_over(tmp_path / "ladder.json") == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not a ladder"),
        ("[]", "is not a ladder"),
        ('{"format": 1}', "is not a ladder"),
        ("level", "is a ladder with level 3, not 0"),
        ("games", "is a ladder with games 8, not 4"),
    ],
)
def test_another_file_is_left_alone(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "ladder.json"
    if text in ("level", "games"):
        other = Ladder(enter(BOTS), replace(EASY, level=3 if text == "level" else 0), 8 if text == "games" else 4)
        other.save(file)
    else:
        file.write_text(text)
    before = file.read_bytes()
    with pytest.raises(RunError, match=words):
        Ladder(enter(BOTS), EASY, 4).take_over(file)
    assert file.read_bytes() == before


# --- who is on it -------------------------------------------------------------------------------------------------


def test_a_run_enters_with_its_pool(tmp_path: Path) -> None:
    for number, name in enumerate(["player.pt", "pool/step-200.pt", "pool/step-100.pt"]):
        save_player(tmp_path / "mine" / name, number)
    entries = enter(["greedy"], run="mine", checkpoints=tmp_path)
    assert [entry.name for entry in entries] == ["greedy", "mine", "step-100", "step-200"]
    assert len({entry.identity for entry in entries}) == 4
    ladder = Ladder(entries, EASY, 2, tmp_path)
    ladder.play(("mine", "step-100"))
    assert f"--checkpoints {tmp_path}" in ladder.results["mine", "step-100"]["command"]
    with pytest.raises(RunError, match="no run 'nobody'"):
        enter([], run="nobody", checkpoints=tmp_path)


def test_names_and_identities(tmp_path: Path) -> None:
    for folder in "ab":
        save_player(tmp_path / folder / "same.pt", 1)
    files = [str(tmp_path / folder / "same.pt") for folder in "ab"]
    entries = enter(files)
    assert [entry.name for entry in entries] == files, "two names would be the same without their folders"
    assert entries[0].identity == entries[1].identity
    assert identity("greedy") != identity("search")
    with pytest.raises(RunError, match="no player 'hal'"):
        enter(["greedy", "hal"])
    with pytest.raises(RunError, match="at least two"):
        enter(["greedy", "greedy"])


def test_by_default_all_bots_are_on_it() -> None:
    assert [entry.name for entry in enter([])][:3] == ["random", "greedy", "search"]


# --- looking at it ------------------------------------------------------------------------------------------------


def test_the_picture(tmp_path: Path) -> None:
    ladder = imagined({"random": -5, "greedy": 0, "search": 1, "a rather long name of a player": 1.5})
    draw_ladder(ladder, tmp_path / "ladder.png")
    with Image.open(tmp_path / "ladder.png") as picture:
        assert picture.format == "PNG"
        assert min(picture.size) > 200
    ratings, scores = ladder_figure(ladder).axes
    names = [player.name for player in ladder.ratings()]
    assert [label.get_text() for label in ratings.get_yticklabels()] == names
    assert [label.get_text() for label in scores.get_xticklabels()] == names
    shown = {(round(text.get_position()[1]), round(text.get_position()[0])): text.get_text() for text in scores.texts}
    assert len(shown) == 12, "everybody against everybody else"
    assert shown[names.index("search"), names.index("greedy")] == "73"
    assert shown[names.index("greedy"), names.index("search")] == "27"


def test_the_table() -> None:
    ladder = imagined({"random": -5, "greedy": 0, "search": 1})
    del ladder.results["random", "search"]
    lines = table(ladder).splitlines()
    assert "greedy is 0" in lines[0]
    assert [line.split()[:2] for line in lines[2:]] == [["1", "search"], ["2", "greedy"], ["3", "random"]]
    assert lines[2].split()[-3:] == ["-", "73.0", "-"], "against itself, greedy, and random, whom it has not met"
    assert lines[3].split()[2:6] == ["0", "0", "to", "0"]
    assert len({len(line) for line in lines[1:]}) == 1
