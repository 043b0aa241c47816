"""The benchmark of self-play: a tiny run is measured, reported and packaged as a real one is."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from benchmarks import report as pages
from benchmarks import selfplay, selfplay_card, selfplay_report
from benchmarks.measurement import machine
from benchmarks.selfplay import Program
from mario_rl.runs.directory import RunError
from mario_rl.runs.status import RunStatus, write_status
from mario_rl.selfplay import config as configuration
from mario_rl.selfplay.frames.landing_network import LandingNetwork
from mario_rl.selfplay.frames.player import FramesPlayer
from mario_rl.selfplay.player_file import load_player
from mario_rl.selfplay.run_directory import SelfPlayDirectory
from mario_rl.selfplay.training import train

TINY: dict[str, Any] = {
    "envs": 16, "rollout": 512, "batch_size": 128, "hidden": 8, "value_hidden": 8, "level": "0", "solo_level": "0",
    "solo_steps": 0, "snapshot_every": 512, "pool_gate": 0.0, "pool_bots": "none", "self_prob": 0.0, "solo_share": 0.0,
    "steps": 5000, "evaluate_every": 0, "seed": 3,
}  # fmt: skip
PROGRAM = Program(
    games=4, console_games=2, ladder_games=2, buttons_games=2, solo=((0, "med"), (0, "hi")), level=0,
    backends=("embedded",), buttons_levels=(0,), speed_rounds=1, two_processes=False,
)  # fmt: skip


class Measured(NamedTuple):
    run: SelfPlayDirectory
    buttons: Path
    report: dict[str, Any]
    folder: Path


def ignored(text: str) -> None:
    pass


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """A run of seconds, with a pool, and a player that presses buttons at random; measured with a few games."""
    folder = tmp_path_factory.mktemp("selfplay")
    config = configuration.from_dict(TINY | {"checkpoints": str(folder), "name": "tiny"})
    run = SelfPlayDirectory.create(folder, "tiny", config)
    assert train(run, config, None, lambda: False, ignored, ignored) == "SUCCESS"
    buttons = folder / "buttons.pt"
    torch.manual_seed(3)
    FramesPlayer(LandingNetwork(8), frame_skip=16, card={"trained": "not at all"}).save(buttons)
    head = {"benchmark": "selfplay", "quick": True, "machine": machine()}
    beside = [f"before PPO={buttons}"]
    found = selfplay.measure(run, buttons, beside, PROGRAM, folder / "ladder.png", True)
    return Measured(run, buttons, head | found, folder)


@pytest.fixture
def report(measured: Measured) -> dict[str, Any]:
    return copy.deepcopy(measured.report)


def row(report: dict[str, Any], start: str) -> str:
    return next(line for line in selfplay_report.goal_rows(report) if line.startswith(f"| {start}"))


# --- measuring ----------------------------------------------------------------------------------------------------


def test_everything_is_measured(measured: Measured) -> None:
    report, run = measured.report, measured.run
    assert [(found["level"], found["speed"], found["games"]) for found in report["solo"]] == [
        (0, "med", 4),
        (0, "hi", 4),
    ]
    assert [found["b"] for found in report["versus"]] == ["random", "greedy", "search"]
    assert [Path(found["b"]).name for found in report["pool"]] == [file.name for file in run.pool_members()]
    assert len(report["pool"]) >= 1
    assert report["training"]["decisions"] >= 1024
    assert report["training"]["player_bytes"] == run.player_pt.stat().st_size
    assert 0 < report["decision"]["median_ms"] <= report["decision"]["longest_ms"]
    assert all(report["speed"][figure] > 0 for figure in ("decisions_per_s", "peer_decisions_per_s"))
    assert {player["name"] for player in report["ladder"]["players"]} >= {"random", "search", "champion", "buttons"}
    assert measured.folder.joinpath("ladder.png").read_bytes().startswith(b"\x89PNG")
    assert [found["level"] for found in report["buttons"]["levels"]] == [0]
    (beside,) = report["buttons"]["beside"]
    assert beside["name"] == "before PPO"
    assert beside["levels"][0]["rate"] == report["buttons"]["levels"][0]["rate"], "it is the same player here"
    candidate = run.candidate()
    assert candidate is not None and Path(report["candidate"]["b"]).name == candidate.name
    assert candidate.stem.split("-")[1] > run.pool_members()[-1].stem.split("-")[1], "it is newer than all members"


def test_consoles_play_the_same_games(measured: Measured) -> None:
    consoles = measured.report["consoles"]
    assert [(found["backend"], found["b"]) for found in consoles] == [("embedded", None), ("embedded", "search")]
    for found in consoles:
        assert found["games"] == found["identical"] == 2
        assert found["within"]
        assert found["missed"] == 0


def test_commands_are_those_anybody_can_use(measured: Measured) -> None:
    report = measured.report
    assert str(measured.folder) not in json.dumps(report)
    commands = selfplay_report.commands(report)
    assert (
        "mario-rl selfplay evaluate champion greedy --games 4 --level 0 --speed med --backend rules --seed 0"
        in commands
    )
    assert any(
        command.startswith("mario-rl selfplay evaluate champion checkpoints/tiny/pool/step-") for command in commands
    )
    assert report["ladder"]["command"].startswith(
        "mario-rl selfplay ladder random greedy search champion checkpoints/tiny"
    )
    assert report["ladder"]["command"].endswith("buttons --games 2 --level 0 --seed 0")


def test_the_command_of_a_run() -> None:
    laptop = configuration.build({"seed": 7, "name": "mine", "checkpoints": "/somewhere"}, "laptop")
    assert selfplay.training_command(laptop) == "mario-rl selfplay train --preset laptop --seed 7"
    assert selfplay.training_command(configuration.build({"lr": 0.01})) == "mario-rl selfplay train --lr 0.01"
    without_end = configuration.build({"minutes": None}, "laptop")
    assert "--preset" not in selfplay.training_command(without_end), "which would set the minutes"


def test_members_from_the_first_to_the_last() -> None:
    files = [Path(str(number)) for number in range(10)]
    assert selfplay.spread(files, 4) == [files[0], files[3], files[6], files[9]]
    assert selfplay.spread(files[:2], 4) == files[:2]
    assert selfplay.spread([], 4) == []


def test_a_run_that_is_running_is_not_measured(measured: Measured, tmp_path: Path) -> None:
    run = SelfPlayDirectory.create(tmp_path, "running", measured.run.config())
    write_status(run.status_json, RunStatus(state="RUNNING").of_this_process())
    with pytest.raises(RunError, match="still running"):
        selfplay.measure(run, None, [], PROGRAM, tmp_path / "ladder.png")


# --- the page -----------------------------------------------------------------------------------------------------


def test_what_was_not_measured_or_not_reached_is_missed(report: dict[str, Any]) -> None:
    """Level 0 says nothing of level 10."""
    assert row(report, "clears level 10 MED").endswith("**not measured** | always (missed) |")
    assert row(report, "capsules").endswith("**not measured** | at most 100 (missed) |")
    assert row(report, "beats search").endswith("(missed) |")
    assert row(report, "Antidote in Mednafen").endswith("(missed) |")
    assert "(missed)" not in row(report, "Antidote on our console")
    assert "(missed)" not in row(report, "training on two cores")
    assert "(missed)" not in row(report, "the player's file")
    report["training"] |= {"minutes": 60.0, "player_bytes": 2_000_000}
    assert row(report, "training on two cores").endswith("**60.0 min** | under 60 min (missed) |")
    assert row(report, "the player's file").endswith("**2 MB** | under 2 MB (missed) |")


@pytest.mark.parametrize(
    ("rate", "low", "missed"), [(0.56, 0.51, False), (0.56, 0.5, True), (0.54, 0.51, True), (0.9, 0.88, False)]
)
def test_search_has_to_be_beaten_for_sure(report: dict[str, Any], rate: float, low: float, missed: bool) -> None:
    report["versus"][2] |= {"level": 10, "rate": rate, "low": low}
    assert ("(missed)" in row(report, "beats search")) is missed


def test_the_strongest_past_self_counts(report: dict[str, Any]) -> None:
    one = report["pool"][0]
    report["pool"] = [one | {"rate": rate} for rate in (0.9, 0.59, 0.7)]
    says = "beats the strongest of the 3 past selves that its pool has admitted | **59.0 %** | at least 60 % (missed) |"
    assert row(report, "beats the strongest") == f"| {says}"
    report["pool"] = [one | {"rate": 0.6}]
    assert "(missed)" not in row(report, "beats the strongest")
    report["pool"] = []
    assert row(report, "beats the strongest").endswith("**not measured** | at least 60 % (missed) |")


def test_another_game_on_a_console_is_missed(report: dict[str, Any]) -> None:
    report["consoles"][1]["identical"] = 1
    assert row(report, "Antidote on our console").endswith("of 4 | **3** | all, rates within its interval (missed) |")


def test_levels_that_were_reached(report: dict[str, Any]) -> None:
    one = report["solo"][0] | {"level": 20, "speed": "hi", "rate": 0.8}
    report["solo"] = [one, one | {"level": 10, "speed": "med", "rate": 0.9975, "capsules_per_clear": 100.04}]
    assert row(report, "clears level 20 HI") == "| clears level 20 HI, alone | **80.0 %** | at least 80 % |"
    assert row(report, "clears level 10 MED").endswith("**99.8 %** | always (missed) |")
    assert row(report, "capsules").endswith("(missed) |")


def test_the_pages_have_it_if_there_are_figures(report: dict[str, Any]) -> None:
    reports = {name: pages.load_reports()[name] for name in ("emulators", "environment")}
    without = pages.results_page(reports)
    reports["selfplay"] = report
    section = selfplay_report.selfplay_section(report)
    assert pages.results_page(reports) == without + section
    assert all(line in pages.summary_table(reports) for line in selfplay_report.goal_rows(report))
    assert "93.8 %" in section
    assert "(pictures/ladder.png)" in section
    assert "itself after" in section
    assert all(command in section for command in selfplay_report.commands(report))
    assert "### The player that presses buttons" in section
    assert "| level | buttons | before PPO |" in section
    assert "not admitted yet" in section
    without_buttons = selfplay_report.selfplay_section(report | {"buttons": None})
    assert "### The player that presses buttons" not in without_buttons
    assert selfplay_report.tables(report)


# --- the package --------------------------------------------------------------------------------------------------


def test_players_are_packaged_with_their_cards(measured: Measured, tmp_path: Path) -> None:
    champions = tmp_path / "champions"
    selfplay_card.package(measured.run, measured.buttons, measured.report, champions)
    assert sorted(file.name for file in champions.iterdir()) == ["README.md", "buttons.pt", "champion.pt"]
    champion = load_player(champions / "champion.pt", "champion")
    card: dict[str, Any] = champion.card  # type: ignore[union-attr]
    assert card["command"] == measured.report["training"]["command"]
    assert len(card["rated"]["alone"]["L0 med"]) == 3
    assert len(card["rated"]["ladder"]) == 3
    assert str(measured.folder) not in json.dumps(card)
    buttons = FramesPlayer.load(champions / "buttons.pt")
    assert buttons.card["trained"] == "not at all"
    assert set(buttons.card["rated"]["alone"]) == {"L0 med"}
    page = (champions / "README.md").read_text()
    for words in (
        "selfplay evaluate champion search",
        "--agent champion",
        "seed 3",
        "not at all",
        "## buttons",
        "Limits",
    ):
        assert words in page
    assert str(measured.folder) not in page

    selfplay_card.package(measured.run, None, measured.report | {"buttons": None}, champions)
    assert "## buttons" not in (champions / "README.md").read_text()


# --- the command --------------------------------------------------------------------------------------------------


def test_the_command_writes_and_packages(
    measured: Measured, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(selfplay, "installed_build", lambda: None)
    monkeypatch.setattr(selfplay, "measure", lambda *arguments, **options: measured.report)
    monkeypatch.setattr(selfplay, "package", lambda *arguments: asked.append(arguments))
    words = ["--run", str(measured.run.path), "--frames", str(measured.buttons), "--package", "--json", "-"]
    monkeypatch.setattr(sys, "argv", ["selfplay", *words])
    assert selfplay.main() == 0
    assert json.loads(capfd.readouterr().out)["benchmark"] == "selfplay"
    assert asked[0][1] == measured.buttons
    measured.report["consoles"][0]["identical"] -= 1
    try:
        assert selfplay.main() == 1, "a console played another game"
    finally:
        measured.report["consoles"][0]["identical"] += 1


@pytest.mark.parametrize(
    ("arguments", "words"), [(["--run", "x", "--json", "/no/such/x.json"], "no such directory"), ([], "--run")]
)
def test_mistakes(
    arguments: list[str], words: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["selfplay", *arguments])
    with pytest.raises(SystemExit) as end:
        selfplay.main()
    assert end.value.code == 2
    assert words in capfd.readouterr().err


@pytest.mark.parametrize("word", ["player.pt", "=player.pt", "name="])
def test_what_stands_beside_needs_a_name(measured: Measured, word: str) -> None:
    with pytest.raises(RunError, match=r"NAME=PLAYER.pt"):
        selfplay.measure(measured.run, measured.buttons, [word], PROGRAM, measured.folder / "ladder.png")


def test_a_run_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfplay, "installed_build", lambda: None)
    monkeypatch.setattr(sys, "argv", ["selfplay", "--run", "/no/such/run"])
    with pytest.raises(RunError, match="no run"):
        selfplay.main()
