"""The benchmark of players inside the cartridge: two of them are judged, proven and reported as real ones are."""

from __future__ import annotations

import copy
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import distill, distill_report
from benchmarks import report as pages
from benchmarks.distill import Program, Size
from benchmarks.measurement import machine
from mario_rl.distill.config import DistillConfig
from mario_rl.distill.form import Form
from mario_rl.distill.player_file import DistilledPlayer, load_player_file, save_player_file
from mario_rl.distill.tiny import Tiny
from tests.distill.test_distillation import GOOD

PROGRAM = Program(
    polish_minutes=0.01, games=2, other_games=1, mirror_games=2, versus_games=2, mednafen_games=1, ladder_games=2,
    boards=20, level=0,
)  # fmt: skip


def distilled(form: Form, config: DistillConfig) -> DistilledPlayer:
    """A player with a card as `mario-rl distill` writes it, without the work."""
    rates = {str(level): 0.5 for level in (5, 10, 15)}
    teacher = {"name": "teacher", "clear_rates": rates, "games": 200, "bytes": None, "cycles": None}
    fitted = teacher | {"name": f"{config.form}, fitted", "bytes": len(form.compile().code), "cycles": 9000}
    return DistilledPlayer(
        form, {"settings": dataclasses.asdict(config), "recipe": "by hand", "stages": [teacher, fitted], "minutes": 1}
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("players")
    for kind, form, size in (("tiny", Tiny(), 160), ("table", GOOD, 512), ("tree", Tiny(), 512)):
        config = distill.config_of(kind, size, PROGRAM)
        save_player_file(distill.file_of(folder, config), distilled(form, config))
    return folder


@pytest.fixture(scope="module")
def report(folder: Path) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distill, "SIZES", (Size("tiny", 160, ("tiny",)), Size("small", 512, ("table", "tree"))))
        patch.setattr(distill, "LEVELS", (0, 5))  # of the real ones, the quickest
        patch.setattr(distill, "ALL_LEVELS", (0, 5))
        measured = distill.measure(folder, PROGRAM, 2, folder / "ladder.png")
    found = {"benchmark": "distill", "quick": False, "machine": machine()} | measured
    return json.loads(json.dumps(found))  # as it comes out of its file


def test_the_rom_plays_as_its_mirror_and_on_time(report: dict[str, Any]) -> None:
    assert [found["size"] for found in report["best"]] == ["tiny", "small"]
    for found in report["best"]:
        assert found["identical"] == found["games"] == 4
        assert found["mednafen"]["identical"] == found["mednafen"]["games"] == 1
        assert (found["differences"], found["boards"], found["late_frames"]) == (0, 20, 0)
        assert 2000 < found["cycles"] <= found["cycles_limit"]
        assert found["frames"] > 10_000
        assert [game["b"] for game in found["versus"]] == ["greedy", "search", "champion"]


def test_the_better_one_of_a_size_is_taken_by_play_alone(report: dict[str, Any]) -> None:
    assert report["best"][1]["form"] == "table"
    one = {"levels": [{"level": level, "rate": 1.0, "capsules_per_clear": 50.0} for level in (5, 10, 15, 20)]}
    slower, worse, unlucky = copy.deepcopy(one), copy.deepcopy(one), copy.deepcopy(one)
    slower["levels"][0]["capsules_per_clear"] = 60.0
    worse["levels"][1]["rate"] = 0.99
    unlucky["levels"][3]["rate"] = 0.0  # level 20 is too hard for all of them
    assert distill.skill(one) == distill.skill(unlucky) > distill.skill(slower) > distill.skill(worse)


def test_everything_is_on_the_page_and_a_missed_goal_is_called_one(report: dict[str, Any]) -> None:
    page = distill_report.distill_section(report)
    command = "mario-rl distill --teacher champion --form table --bytes 512 --polish-minutes 0.01 -o table-512.json"
    for words in ("`small`, table", "tree, fitted", "champion", "ladder_cartridge.png", "mario-rl burn small", command):
        assert words in page
    good = copy.deepcopy(report)
    for found in good["best"]:
        for level in found["levels"]:
            level["rate"] = 1.0
        found["frames"] = 10**6
    assert "missed" not in "".join(distill_report.goal_rows(good))
    for place, figure, value in (
        (0, "late_frames", 1),
        (1, "identical", 0),
        (1, "alike", 0),
        (1, "differences", 1),
        (0, "bytes", 161),
    ):
        bad = copy.deepcopy(good)
        bad["best"][place][figure] = value
        assert sum("(missed)" in row for row in distill_report.goal_rows(bad)) == 1
    good["best"][1]["levels"][1]["rate"] = 0.9975
    assert [row for row in distill_report.goal_rows(good) if "(missed)" in row] == [
        "| small clears level 5 MED, as the ROM, of 2 | **99.8 %** | always (missed) |"
    ]
    assert "inside the cartridge" in pages.summary_table(pages.load_reports() | {"distill": report})


def test_a_packaged_player_says_how_it_was_rated(report: dict[str, Any], folder: Path) -> None:
    player = distill.with_figures(folder, report["best"][1])
    assert player.form == load_player_file(folder / "table-512.json").form
    assert set(player.card["rated"]["alone"]) == {"L0 med", "L5 med"}
