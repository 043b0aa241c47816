"""Mednafen's window: on the screen there is, or on one of its own; the game is the same as without."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pytest
from PIL import Image, ImageGrab

from mario_rl.emulators.base import START
from mario_rl.emulators.mednafen import MednafenEmulator, MednafenError
from mario_rl.emulators.mednafen_screen import VirtualScreen
from mario_rl.roms import antidote
from tests.contracts.demo_cartridge import NROM
from tests.emulators.mednafen_here import Opener, mednafen_or_skip

STEPPERS = ("shim", "ptrace")


@pytest.fixture(autouse=True, scope="module")
def _mednafen() -> None:
    mednafen_or_skip()


@pytest.mark.parametrize("stepper", STEPPERS)
def test_a_window_shows_what_is_played(opened: Opener, monkeypatch: pytest.MonkeyPatch, stepper: str) -> None:
    """On a screen of our own; the game goes on as it does without a window."""
    monkeypatch.delenv("DISPLAY", raising=False)
    screen = VirtualScreen()
    try:
        hidden = opened(antidote())
        shown = opened(antidote(), headless=False, display=screen.name, stepper=stepper)
        for frame in range(250):
            for console in (hidden, shown):
                console.step((START if frame in (20, 40) else 0, 0), render=frame == 249)
            assert np.array_equal(hidden.ram, shown.ram)
        assert hidden.save() == shown.save()
        picture = shown.frame()
        assert np.array_equal(hidden.frame(), picture)
        assert _is_on(screen.name, picture, lambda: shown.step(render=True)), "the picture is on the screen"
        shown.close()
    finally:
        screen.close()


def _is_on(display: str, picture: np.ndarray, again: Callable[[], None]) -> bool:
    """Whether the screen shows the picture's colours, about as often, at twice the size; a window may need frames."""
    wanted = {colour: 4 * count for count, colour in Image.fromarray(picture).getcolors(1 << 16)}
    for _ in range(200):
        there = {colour: count for count, colour in ImageGrab.grab(xdisplay=display).getcolors(1 << 22)}
        if all(there.get(colour, 0) > 0.9 * count for colour, count in wanted.items() if count > 200):
            return True
        again()
    return False


def test_without_a_screen_a_window_gets_its_own(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    console = opened(NROM, headless=False)
    console.step(frames=20)
    (server,) = [child for child in psutil.Process().children() if child.name() == "Xvfb"]
    console.close()
    assert not server.is_running()


def test_no_screen_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MednafenError, match="apt-get install xvfb"):
        MednafenEmulator(NROM, headless=False)
