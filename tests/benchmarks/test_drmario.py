"""The Dr. Mario benchmark: its lock-step finds a difference, its JSON is as documented, tuning keeps what is better."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import drmario, drmario_lockstep, drmario_report, drmario_tuning
from mario_rl import cli
from mario_rl.environment.drmario.bot_weights import load_weights
from mario_rl.environment.drmario.console import RulesGames
from mario_rl.environment.drmario.rules import BOARD_FEATURES

# --- lock-step ----------------------------------------------------------------------------------------------------


def test_engine_and_cartridge_agree() -> None:
    """As much as the benchmark compares with --quick."""
    tally = drmario_lockstep.compare(30_000)
    assert tally.frames >= 30_000
    assert tally.mismatches == 0, tally.first


def test_a_difference_is_found_and_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    step, frames = RulesGames.step, iter(range(10**9))

    def wrong_once(games: RulesGames, *arguments: Any) -> None:
        step(games, *arguments)
        if next(frames) == 50:
            games.batch.ram[2, 0x0327] ^= 1

    monkeypatch.setattr(RulesGames, "step", wrong_once)
    tally = drmario_lockstep.compare(3000)
    assert tally.mismatches == 1
    assert "lane 2" in tally.first[0]
    assert "$0327" in tally.first[0]


# --- the command --------------------------------------------------------------------------------------------------


def test_the_json_is_as_documented(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    measured, compared, played = drmario.speeds, drmario.lockstep, drmario.strength
    monkeypatch.setattr(drmario, "speeds", lambda rounds, seconds: measured(1, 0.02))
    monkeypatch.setattr(drmario, "lockstep", lambda frames: compared(500))
    monkeypatch.setattr(drmario, "strength", lambda bot, level, rounds: played(bot, level // 5, 3))
    monkeypatch.setattr(sys, "argv", ["drmario", "--quick", "--json", "-"])
    assert drmario.main() == 0
    figures = json.loads(capfd.readouterr().out)
    assert {"frames_per_s", "placements_per_s", "lockstep", "bots", "machine", "peers"} <= set(figures)
    assert figures["frames_per_s"] > figures["peers"]["reference (plain Python)"]["frames_per_s"] > 0
    assert figures["peers"]["Antidote on the embedded core"]["frames_per_s"] > 0
    assert figures["placements_per_s"] > 0
    assert figures["lockstep"]["mismatches"] == 0
    assert figures["lockstep"]["frames"] >= 500
    assert {bot: list(levels) for bot, levels in figures["bots"].items()} == {
        "greedy": ["L10", "L15", "L20"],
        "search": ["L10", "L15", "L20"],
    }
    for levels in figures["bots"].values():
        for round_figures in levels.values():
            assert round_figures["games"] == 3
            assert round_figures["clear_rate"] == 1
            assert round_figures["capsules"] > 3


def test_rounds_that_are_lost_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drmario, "MOST_CAPSULES", 2)
    figures = drmario.strength("greedy", 10, 4)
    assert (figures["clear_rate"], figures["capsules"], figures["topped_out"]) == (0, None, 0)


def test_seeds_are_states_of_the_generator() -> None:
    seeds = drmario.seeds_from(0xFFFE, 3).tolist()
    assert seeds == [0xFFFE, 2, 4]


def report(**changes: Any) -> dict[str, Any]:
    machine = {"date": "2026-01-01", "cpu": "cpu", "cores": 2, "system": "Linux", "python": "3.11", "load_at_start": 0}
    level = {"games": 200, "clear_rate": 1.0, "capsules": 90.5, "most_capsules": 120, "ms_per_capsule": 0.1}
    levels = {name: level | {"first_seed": 0x8988} for name in ("L10", "L15", "L20")}
    figures: dict[str, Any] = {
        "machine": machine,
        "quick": False,
        "rounds": 5,
        "bots": {"greedy": levels, "search": levels},
    }
    figures |= {"frames_per_s": 6_000_000, "frames_per_s_two_players": 4_000_000, "placements_per_s": 400_000}
    figures["peers"] = {"reference": {"frames_per_s": 100_000}}
    figures["lockstep"] = {"frames": 300_000, "mismatches": 0, "rounds": 5, "attacks": 7}
    return figures | changes


def test_goals_that_are_missed_are_shown() -> None:
    assert not any("(missed)" in row for row in drmario_report.goal_rows(report()))
    worse = report()["bots"] | {"search": {name: {"clear_rate": 0.98} for name in ("L15", "L20")}}
    for changes, rows in (
        ({"frames_per_s": 4_900_000}, [0]),
        ({"placements_per_s": 299_000}, [1]),
        ({"lockstep": {"frames": 300_000, "mismatches": 1}}, [2]),
        ({"lockstep": {"frames": 30_000, "mismatches": 0}}, [2]),
        ({"lockstep": {"frames": 30_000, "mismatches": 0}, "quick": True}, []),
        ({"bots": worse}, [4]),
    ):
        shown = drmario_report.goal_rows(report(**changes))
        assert [number for number, row in enumerate(shown) if "(missed)" in row] == rows


def test_the_section() -> None:
    section = drmario_report.drmario_section(report())
    for words in (
        "## Dr. Mario",
        "60×",
        "| search | 20 | 200 | 100.0 % | 90.5 | 120 |",
        "$8988, $898A, $898C",
        "6.0 M",
    ):
        assert words in section
    losing = report()
    losing["bots"]["greedy"]["L20"] = losing["bots"]["greedy"]["L20"] | {"capsules": None, "most_capsules": None}
    assert "| greedy | 20 | 200 | 100.0 % | - | - |" in drmario_report.drmario_section(losing)


# --- tuning -------------------------------------------------------------------------------------------------------

TINY = drmario_tuning.Plan(plies=1, games={0: 2}, validation_games=4)


def test_the_cost_of_a_round() -> None:
    """Of a bot that clears every bottle its capsules count; one that never does pays for that and for what is left."""
    weights = load_weights("greedy")
    left, capsules = drmario_tuning.play(weights, 1, 0, np.array([700, 900]))
    assert left.tolist() == [0, 0]
    assert drmario_tuning.cost(weights, 1, {0: 30}, (1,)) == pytest.approx(capsules.mean() / 16, rel=0.5)
    assert drmario_tuning.cost(-weights, 1, {0: 3}, (1,)) > drmario_tuning.LOST


def test_weights_are_tuned_from_bad_to_better(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From weights that know three features, in a few generations; the file holds the other bot's weights, too."""
    start = np.zeros(len(BOARD_FEATURES), np.float32)
    for name, weight in (("viruses", -10), ("heights", -0.3), ("runs", -1)):
        start[BOARD_FEATURES.index(name)] = weight
    monkeypatch.setattr(drmario_tuning, "MOST_CAPSULES", 150)  # bad weights play long
    clock = map(float, range(10_000))
    tuned, generations = drmario_tuning.tune(start, replace(TINY, games={4: 5}), 7, 0, lambda: next(clock))
    assert generations == 6
    assert np.abs(tuned).max() == pytest.approx(drmario_tuning.LARGEST_WEIGHT)
    before, after = (drmario_tuning.cost(weights, 1, {4: 30}, (9,)) for weights in (start, tuned))
    assert after < 0.9 * before

    file = tmp_path / "weights.json"
    drmario_tuning.write(file, "greedy", tuned, generations, 0.5)
    assert load_weights("greedy", file) == pytest.approx(tuned, abs=1e-3)
    assert load_weights("search", file).tolist() == load_weights("search").tolist()
    assert [path.name for path in tmp_path.iterdir()] == ["weights.json"]


@pytest.mark.parametrize("better", [True, False])
def test_only_better_weights_are_written(
    better: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    old, file = load_weights("greedy"), tmp_path / "weights.json"
    monkeypatch.setitem(drmario_tuning.PLANS, "greedy", TINY)
    monkeypatch.setattr(drmario_tuning, "tune", lambda *arguments: (old / 2 if better else -old, 1))
    costs = {-50.0: 0.4}
    monkeypatch.setattr(drmario_tuning, "validation_cost", lambda weights, plan: costs.get(weights.min(), 0.5))
    monkeypatch.setattr(sys, "argv", ["tuning", "--bots", "greedy", "--minutes", "0.001", "--output", str(file)])
    assert old.min() == -100
    assert drmario_tuning.main() == 0
    assert file.is_file() == better
    assert ("the old weights are as good and stay" in capfd.readouterr().err) != better


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--minutes", "0"], "more than 0"), (["--output", "/no/such/x.json"], "no such directory")],
)
def test_mistakes(
    arguments: list[str], words: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["tuning", *arguments])
    with pytest.raises(SystemExit) as end:
        drmario_tuning.main()
    assert end.value.code == 2
    assert words in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--json", "/no/such/x.json"], "/no/such"),
        (["--tune", "--output", "/no/such/x.json"], "/no/such"),
        (["--output", "x.json"], "--tune"),
        (["--tune", "--minutes", "0"], "--minutes"),
    ],
)
def test_mistakes_on_the_command_line(arguments: list[str], words: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["bench", "drmario", *arguments])
    assert end.value.code == 2
    shown = capfd.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert words in shown.err
