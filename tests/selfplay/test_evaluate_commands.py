"""`mario-rl selfplay evaluate` and `mario-rl selfplay ladder`, as a user calls them."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from mario_rl import cli
from mario_rl.selfplay import ladder as ladders
from mario_rl.selfplay import match
from tests.mistakes import assert_one_clear_line

KEYS = {"a", "b", "games", "wins", "draws", "losses", "rate", "low", "high", "clear_rate", "capsules_per_clear"}


def selfplay(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ending:
        cli.main(["selfplay", *arguments])
    assert isinstance(ending.value.code, int)
    return ending.value.code


# --- evaluate -----------------------------------------------------------------------------------------------------


def test_two_players(capfd: pytest.CaptureFixture[str]) -> None:
    assert selfplay("evaluate", "greedy", "random", "--games", "6", "--level", "2", "--json", "-") == 0
    shown = capfd.readouterr()
    found = json.loads(shown.out)
    assert set(found) >= KEYS
    assert (found["a"], found["b"], found["games"], found["wins"], found["rate"]) == ("greedy", "random", 6, 6, 1)
    assert found["low"] < found["rate"] == found["high"]
    assert found["seeds"] == [0, 1, 2, 3, 4, 5]
    assert shown.err == ""


def test_one_alone(capfd: pytest.CaptureFixture[str]) -> None:
    assert selfplay("evaluate", "greedy", "--games", "5", "--level", "3", "--speed", "hi", "--json", "-") == 0
    found = json.loads(capfd.readouterr().out)
    assert set(found) >= KEYS
    assert found["b"] is None
    assert found["wins"] == 5 * found["clear_rate"] == 5
    assert 10 < found["capsules_per_clear"] <= found["most_capsules"]


def test_the_command_it_names_plays_the_same_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--games", "4", "--level", "1", "--speed", "low", "--seed", "20", "--twice"]
    assert selfplay("evaluate", "random", "greedy", *options, "--json", "x.json") == 0
    shown = capfd.readouterr().out
    assert "random against greedy: level 1 low, rules, 4 games, boards 20 to 21" in shown
    again = shlex.split(shown.splitlines()[-1].removeprefix("again: "))
    assert again[:2] == ["mario-rl", "selfplay"]
    assert selfplay(*again[2:], "--json", "y.json") == 0
    assert capfd.readouterr().out == shown
    assert Path("x.json").read_bytes() == Path("y.json").read_bytes()


def test_on_the_cartridge(capfd: pytest.CaptureFixture[str]) -> None:
    found = []
    for backend in ("rules", "embedded"):
        assert selfplay("evaluate", "greedy", "--games", "2", "--level", "0", "--backend", backend, "--json", "-") == 0
        found.append(json.loads(capfd.readouterr().out))
    different = {key for key in found[0] if found[0][key] != found[1][key]}
    assert different == {"backend", "command"}


# --- ladder -------------------------------------------------------------------------------------------------------


def test_a_ladder_from_nothing_and_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["ladder", "random", "greedy", "--games", "4", "--level", "0"]
    assert selfplay(*options) == 0
    shown = capfd.readouterr()
    file, picture = Path("ladder_level0_med_4games.json"), Path("ladder_level0_med_4games.png")
    assert shown.out.splitlines()[-2:] == [str(file), str(picture)]
    assert picture.read_bytes().startswith(b"\x89PNG")
    before = file.read_bytes()
    monkeypatch.setattr(ladders, "play_match", None)  # nothing is left to be played
    assert selfplay(*options) == 0
    again = capfd.readouterr()
    assert again.out == shown.out
    assert "pairs played already: 1" in again.err
    assert file.read_bytes() == before


def test_a_swiss_system_as_json(capfd: pytest.CaptureFixture[str]) -> None:
    options = ["--swiss", "1", "--games", "2", "--level", "0", "--json", "-"]
    assert selfplay("ladder", "greedy", "random", "search", *options) == 0
    stored = json.loads(capfd.readouterr().out)
    assert len(stored["pairs"]) == 1, "three players: one rests"
    assert [player["games"] for player in stored["players"]].count(2) == 2


def test_ctrl_c_keeps_what_was_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Somebody presses it in the middle of the second pair."""
    monkeypatch.chdir(tmp_path)
    played = []
    real = match._Tables.play_on

    def interrupted(tables: match._Tables) -> object:
        if len(played) == 1:
            raise KeyboardInterrupt
        return real(tables)

    def counted(ladder: ladders.Ladder, file: Path) -> None:
        played.append(file)
        saved(ladder, file)

    saved = ladders.Ladder.save
    monkeypatch.setattr(match._Tables, "play_on", interrupted)
    monkeypatch.setattr(ladders.Ladder, "save", counted)
    options = ["ladder", "random", "greedy", "search", "--games", "2", "--level", "0", "--json", "kept.json"]
    assert selfplay(*options) == 130
    shown = capfd.readouterr()
    assert shown.err == "mario-rl: interrupted, pairs played: 1; the same command goes on from there\n"
    assert "greedy" in shown.out
    assert [(pair["a"], pair["b"]) for pair in json.loads(Path("kept.json").read_text())["pairs"]] == [
        ("greedy", "random")
    ]
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert selfplay(*options) == 0
    assert len(json.loads(Path("kept.json").read_text())["pairs"]) == 3


# --- mistakes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["evaluate", "hal"], ["no player 'hal'", "search"]),
        (["evaluate", "greedy", "hal"], ["no player 'hal'"]),
        (["evaluate", "greedy", "search", "--games", "5"], ["--games 5 is odd"]),
        (["evaluate", "greedy", "--games", "0"], ["--games"]),
        (["evaluate", "greedy", "--level", "21"], ["--level", "20"]),
        (["evaluate", "greedy", "--speed", "warp"], ["--speed", "warp"]),
        (["evaluate", "greedy", "--twice"], ["--twice", "two players"]),
        (["evaluate", "greedy", "--backend", "toaster"], ["unknown backend 'toaster'"]),
        (["evaluate", "greedy", "--backend", "http://localhost:1"], ["http://localhost:1"]),
        (["evaluate", "greedy", "--backend", "embedded", "--rom", "no.nes"], ["no.nes"]),
        (["evaluate", "greedy", "--json", "nowhere/x.json"], ["no such directory", "x.json"]),
        (["ladder", "greedy"], ["at least two players"]),
        (["ladder", "greedy", "hal"], ["no player 'hal'"]),
        (["ladder", "--games", "5"], ["--games 5 is odd"]),
        (["ladder", "--games", "10", "--quick"], ["--quick"]),
        (["ladder", "--swiss", "0"], ["--swiss"]),
        (["ladder", "--run", "nobody"], ["no run 'nobody'"]),
        (["ladder", "--json", "nowhere/x.json"], ["no such directory"]),
        (["ladder", "--picture", "x.jpg"], [".png", "x.jpg"]),
        (["ladder", "greedy", "random", "--json", "/dev/null"], ["not a ladder"]),
    ],
    ids=lambda part: " ".join(part),
)
def test_mistakes(
    arguments: list[str],
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert selfplay(*arguments) == 2
    assert_one_clear_line(capfd, words, tmp_path)
