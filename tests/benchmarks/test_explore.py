"""The exploring benchmark gathers what the command wrote and tells hits from misses; only an easy level is explored."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import explore_report
from benchmarks.worker import SOURCE_TREE


def level(found: bool = True, **changes: Any) -> dict[str, Any]:
    figures: dict[str, Any] = {"found": found, "verified": found, "frames": 1000, "shortening_frames": 1000}
    figures |= {"cpu_s": 2.0, "first_route_steps": 300, "route_steps": 250, "clock_left": 200}
    return figures | {"verified_on": ["embedded", "cynes"] if found else []} | changes


def seed(number: int, levels: dict[str, Any], wall: float = 300.0) -> dict[str, Any]:
    verified = sum(figures["verified"] for figures in levels.values())
    found = sum(figures["found"] for figures in levels.values())
    figures = {"seed": number, "levels": levels, "found": found, "verified": verified}
    return figures | {"wall_s": wall, "load_at_start": 0.1}


def report(*seeds: dict[str, Any]) -> dict[str, Any]:
    machine = {
        "date": "2026-01-01",
        "cpu": "cpu",
        "cores": 2,
        "system": "Linux",
        "python": "3.11",
        "load_at_start": 0.0,
    }
    return {"benchmark": "explore", "machine": machine, "seeds": list(seeds)}


NAMES = [f"{world}-{stage}" for world in range(1, 9) for stage in range(1, 5)]


def test_goals_are_judged_by_the_worst_seed() -> None:
    all_found = {name: level() for name in NAMES}
    good = report(seed(0, all_found), seed(1, all_found, wall=600.0))
    assert not any("(missed)" in row for row in explore_report.goal_rows(good))
    slow = report(seed(0, all_found), seed(1, all_found, wall=606.0))
    assert ["(missed)" in row for row in explore_report.goal_rows(slow)] == [False, True]
    one_missing = report(seed(0, all_found), seed(1, all_found | {"8-4": level(found=False)}))
    assert ["(missed)" in row for row in explore_report.goal_rows(one_missing)] == [True, False]


def test_a_level_is_shown_over_all_seeds() -> None:
    seeds = [
        seed(0, {"1-1": level(frames=10_000), "8-4": level(found=False, route_steps=None)}),
        seed(1, {"1-1": level(frames=30_000, first_route_steps=280, route_steps=240, clock_left=210)}),
        seed(2, {"1-1": level(frames=20_000, verified=False)}),
    ]
    rows = explore_report.levels_table(report(*seeds)).splitlines()[2:]
    assert rows[0] == "| 1-1 | 10,000 / 20,000 / 30,000 | 2.0 | 280 → 240 | 210 | 2 of 3: embedded, cynes |"
    assert rows[1].startswith("| 8-4 | not found |")


def test_the_section_has_a_row_for_every_seed() -> None:
    section = explore_report.explore_section(report(seed(0, {"1-1": level()}), seed(1, {"1-1": level()}, wall=90.0)))
    assert "| 1 | 1 / 1 | 0.0 M | 2 | 300 → 250 | 1.5 | 0.1 |" in section


def test_it_runs_the_command(smb_rom: Path, tmp_path: Path) -> None:
    file = tmp_path / "explore.json"
    output = ["--json", str(file), "--output", str(tmp_path / "routes")]
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks.explore", "--seeds", "1", "--levels", "1-4", *output],
        cwd=SOURCE_TREE,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    (figures,) = json.loads(file.read_text())["seeds"]
    assert figures["verified"] == 1 and figures["wall_s"] > figures["levels"]["1-4"]["cpu_s"]
    assert str(tmp_path) not in file.read_text()
    names = {path.name for path in (tmp_path / "routes" / "seed0").iterdir()}
    assert names == {"1-4.json", "1-4.mp4", "1-4.png", "figures.txt"}


@pytest.mark.parametrize("arguments", [["--seeds", "0"], ["--json", "/nowhere/at/all.json"]])
def test_bad_arguments_are_refused(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "benchmarks.explore", *arguments]
    result = subprocess.run(command, cwd=SOURCE_TREE, capture_output=True, text=True, check=False)
    assert result.returncode == 2 and "Traceback" not in result.stderr
