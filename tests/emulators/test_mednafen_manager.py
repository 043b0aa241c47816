"""MednafenManager: launches into play, reports, and hands out a console that keeps the contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mario_rl._native import StateError
from mario_rl.emulators import navigation
from mario_rl.emulators.base import LEFT, Emulator
from mario_rl.emulators.embedded import EmbeddedEmulator
from mario_rl.emulators.mednafen import MednafenError, MednafenManager
from mario_rl.emulators.navigation import GAMES, game_of
from mario_rl.roms import antidote
from tests.contracts.demo_cartridge import NROM
from tests.emulators.mednafen_here import mednafen_or_skip

X = 0x305  # Dr. Mario: the capsule's column
LAUNCHES = 5  # `mario-rl bench emulators --reference mednafen` does 200


@pytest.fixture(autouse=True, scope="module")
def _mednafen() -> None:
    mednafen_or_skip()


@pytest.fixture
def manager() -> Iterator[MednafenManager]:
    manager = MednafenManager(antidote())
    yield manager
    manager.shutdown()


# --- getting into play ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stepper", ["shim", "ptrace"])
def test_every_launch_of_dr_mario_is_in_play(stepper: str) -> None:
    manager = MednafenManager(antidote(), stepper=stepper)  # type: ignore[arg-type]
    for _ in range(LAUNCHES):
        report = manager.launch()
        assert report == {
            "success": True,
            "pid": manager.pid,
            "nes_ram_base": report["nes_ram_base"],
            "game_mode": "play",
            "in_gameplay": True,
            "message": "in play",
        }
        console = manager.get_mcp()
        for _ in range(60):  # the first capsule is thrown
            console.step()
        before = int(console.ram[X])
        console.step((LEFT, 0), frames=3)
        assert int(console.ram[X]) == before - 1, "the pad moves the capsule"
        manager.shutdown()


def test_every_launch_of_super_mario_bros_is_in_play(smb_rom: Path) -> None:
    manager = MednafenManager(smb_rom)
    for _ in range(LAUNCHES):
        report = manager.restart()
        assert (report["success"], report["game_mode"], report["in_gameplay"]) == (True, "play", True)
        console = manager.get_mcp()
        before = int(console.ram[0x86])
        console.step((1, 0), frames=60)
        assert int(console.ram[0x86]) > before, "Mario walks"
    manager.shutdown()


def test_the_way_is_found_on_any_console_from_anywhere(smb_rom: Path) -> None:
    """Also from the demo that begins when nobody presses anything, and from the options."""
    for game, rom in ((GAMES["drmario"], antidote()), (GAMES["smb"], smb_rom)):
        for waited in (0, 1, 7, 100, 1500):
            console = EmbeddedEmulator(rom)
            console.step(frames=waited)
            assert not game.in_play(console.ram)
            game.into_play(console)
            assert game.in_play(console.ram) and game.mode(console.ram) == "play"


def test_a_cartridge_that_never_gets_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(navigation, "LONGEST_WAY", 50)
    with pytest.raises(ValueError, match="did not get into play within 50 frames"):
        GAMES["smb"].into_play(EmbeddedEmulator(NROM))
    # and as a report, of a console that is gone again
    monkeypatch.setattr("mario_rl.emulators.mednafen.game_of", lambda rom: GAMES["smb"])
    manager = MednafenManager(NROM)
    report = manager.launch()
    assert not report["success"] and "did not get into play" in report["message"]
    assert manager.state == "stopped" and manager.pid is None


def test_games_are_known_by_their_bytes(smb_rom: Path) -> None:
    assert game_of(antidote().read_bytes()) is GAMES["drmario"]
    assert game_of(smb_rom.read_bytes()) is GAMES["smb"]
    assert game_of(NROM) is None


def test_an_unknown_cartridge_is_left_at_power_on() -> None:
    manager = MednafenManager(NROM)
    report = manager.launch()
    assert report["success"] and not report["in_gameplay"] and report["game_mode"] == "unknown"
    assert "none whose menus are known" in report["message"]
    manager.shutdown()
    manager = MednafenManager(antidote(), play=False)
    report = manager.launch()
    assert report["success"] and not report["in_gameplay"] and report["message"] == "at power-on"
    manager.shutdown()


# --- the manager ----------------------------------------------------------------------------------------------------


def test_a_life(manager: MednafenManager) -> None:
    assert (manager.state, manager.pid, manager.restarts, manager.is_alive()) == ("stopped", None, 0, False)
    with pytest.raises(MednafenError, match="launch it"):
        manager.get_mcp()
    first = manager.launch()
    assert (manager.state, manager.pid, manager.is_alive()) == ("running", first["pid"], True)
    again = manager.launch()
    assert again["success"] and again["message"] == "already running" and again["pid"] == first["pid"]
    second = manager.restart()
    assert second["success"] and second["pid"] != first["pid"] and manager.restarts == 0
    manager.shutdown()
    manager.shutdown()
    assert (manager.state, manager.is_alive(), manager.report()["success"]) == ("stopped", False, False)
    assert manager.launch()["success"], "and up again"


def test_the_console_keeps_the_contract(manager: MednafenManager) -> None:
    manager.launch()
    console = manager.get_mcp()
    assert isinstance(console, Emulator)
    state = console.save()
    console.step((LEFT, 0), frames=40, render=True)
    assert console.frame().shape == (240, 256, 3)
    assert console.peek(0, 2048) == console.ram.tobytes()
    later = console.ram.copy()
    console.load(state)
    console.step((LEFT, 0), frames=40)
    assert np.array_equal(console.ram, later)
    with pytest.raises(StateError):
        console.load(b"nonsense")
    assert np.array_equal(console.ram, later)
    console.power()
    assert manager.report()["game_mode"] != "play"
    manager.shutdown()
    with pytest.raises(MednafenError, match="shut down"):
        console.step()


def test_a_failed_launch_is_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bad.nes").write_bytes(b"NES\x1a but no more")
    for rom, reason in ((tmp_path / "none.nes", "No such file"), (tmp_path / "bad.nes", "")):
        report = MednafenManager(rom).launch()
        assert not report["success"] and reason in report["message"] and report["message"]
        assert report["pid"] is None and report["nes_ram_base"] is None
    monkeypatch.setenv("MARIO_RL_MEDNAFEN", str(tmp_path / "bad.nes"))
    report = MednafenManager(antidote()).launch()
    assert not report["success"] and "MARIO_RL_MEDNAFEN" in report["message"]
