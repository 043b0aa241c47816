"""The comparison with Mednafen as a command: its JSON is as documented, and its exit code tells."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import reference, reference_lockstep, reference_speed
from benchmarks.reference_report import goal_rows, reference_section
from mario_rl.roms import antidote
from tests.emulators.mednafen_here import mednafen_or_skip


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch, smb_rom: Path) -> None:
    mednafen_or_skip()
    monkeypatch.setattr(reference_lockstep, "QUICK_LEVELS", ("1-4",))
    monkeypatch.setattr(reference_lockstep, "QUICK_GAMES", 1)
    monkeypatch.setattr(reference_speed, "QUICK_ROUNDS", 1)
    monkeypatch.setattr(reference_speed, "SECONDS", 0.1)
    monkeypatch.setattr(reference, "QUICK_LAUNCHES", 1)
    monkeypatch.setattr(sys, "argv", ["reference", "--rom", str(smb_rom), "--quick", "--json", "-"])


def test_the_json_is_as_documented(capfd: pytest.CaptureFixture[str]) -> None:
    assert reference.main() == 0
    figures = json.loads(capfd.readouterr().out)
    for game in ("smb", "antidote"):
        assert figures[game]["mismatches"] == 0
        assert figures[game]["frames"] > 900
    assert figures["speed"]["lockstep_fps"] > 0
    assert figures["speed"]["free_run_fps"] > 0
    assert figures["speed"]["lockstep_vs_free_run"] > 0
    assert figures["launches"]["smb"]["in_play"] == figures["launches"]["antidote"]["in_play"] == 1
    assert f"{figures['speed']['lockstep_fps']:,}" in reference_section(figures)


def test_a_mismatch_is_an_exit_code_and_is_said(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def with_a_byte_too_much(*arguments: Any) -> reference_lockstep.Tally:
        return reference_lockstep.Tally(frames=10, mismatches=1, first=["1-4 frame 3: $0001 02 not 03"])

    monkeypatch.setattr(reference, "compare_smb", with_a_byte_too_much)
    assert reference.main() == 1
    said = capfd.readouterr()
    assert "MISMATCH 1-4 frame 3" in said.err
    assert any("(missed)" in row for row in goal_rows(json.loads(said.out)))


def test_without_mednafen_it_is_one_line(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("MARIO_RL_MEDNAFEN", str(antidote()))
    assert reference.main() == 2
    said = capfd.readouterr()
    assert said.out == "" and len(said.err.splitlines()) == 1
