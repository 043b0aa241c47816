"""Playing in a window: real key events through Antidote's menus, the clock, and a machine without a screen."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pygame
import pytest

from mario_rl.cli import main
from mario_rl.emulators.base import DOWN, LEFT, RIGHT, START, UP, A, B
from mario_rl.emulators.embedded import EmbeddedEmulator
from mario_rl.play_window import (
    FRAMES_PER_SECOND,
    KEYS,
    MOST_FRAMES_BEHIND,
    FrameClock,
    Keyboard,
    PlayWindow,
    play_window,
)
from mario_rl.roms import antidote

MODE, PLAYERS, LEVELS, X = 0x46, 0x0727, (0x0316, 0x0396), (0x0305, 0x0385)
TITLE, OPTIONS, PLAY = 0, 1, 4
ACTIONS = 0x0317, 0x0397


class Desk:
    """Somebody at the keyboard, with a clock that only goes when they wait."""

    def __init__(self) -> None:
        self.console = EmbeddedEmulator(antidote())
        self.now = 100.0
        self.window: PlayWindow

    def wait(self, frames: int = 1) -> None:
        for _ in range(frames):
            self.now += 1.0001 / FRAMES_PER_SECOND
            assert self.window.turn()

    def touch(self, key: int) -> None:
        """Press and release, then wait until both have arrived."""
        for kind in (pygame.KEYDOWN, pygame.KEYUP):
            pygame.event.post(pygame.event.Event(kind, key=key))
            self.wait(3)

    def hold(self, key: int) -> None:
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=key))

    def wait_for(self, address: int, value: int, most: int = 600) -> None:
        for _ in range(most):
            if self.console.ram[address] == value:
                return
            self.wait()
        raise AssertionError(f"${address:04X} is {self.console.ram[address]}, not {value}, after {most} frames")


@contextlib.contextmanager
def x_server() -> Iterator[str]:
    """An X server without a screen; its name for DISPLAY."""
    told, tells = os.pipe()
    command = ["Xvfb", "-displayfd", str(tells), "-screen", "0", "1024x800x24"]
    server = subprocess.Popen(command, pass_fds=[tells], stderr=subprocess.DEVNULL)
    os.close(tells)
    try:
        with os.fdopen(told) as number:
            yield f":{number.readline().strip()}"
    finally:
        server.terminate()
        server.wait()


# Where there is Xvfb, real windows are tested, too.
@pytest.fixture(params=["dummy", "x11"] if shutil.which("Xvfb") else ["dummy"])
def desk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("SDL_VIDEODRIVER", request.param)
    with contextlib.ExitStack() as stack:
        if request.param == "x11":
            monkeypatch.setenv("DISPLAY", stack.enter_context(x_server()))
        desk = Desk()
        desk.window = stack.enter_context(play_window(desk.console, "Antidote", 2, clock=lambda: desk.now))
        yield desk


def test_from_the_title_into_a_round_for_two(desk: Desk) -> None:
    """Keys only, as somebody would: two players, one of them at a higher level, and both move their capsules."""
    desk.wait(30)
    assert desk.console.ram[MODE] == TITLE
    desk.touch(pygame.K_DOWN)
    desk.touch(pygame.K_RETURN)
    desk.wait_for(MODE, OPTIONS)
    desk.wait(5)
    for key in (pygame.K_RIGHT, pygame.K_d, pygame.K_d):  # a level more for player 1, two more for player 2
        desk.touch(key)
    assert [desk.console.ram[address] for address in LEVELS] == [1, 2]
    desk.touch(pygame.K_RETURN)
    desk.wait_for(MODE, PLAY)
    assert desk.console.ram[PLAYERS] == 2
    for action in ACTIONS:
        desk.wait_for(action, 0)
    desk.touch(pygame.K_LEFT)
    desk.touch(pygame.K_d)
    assert [desk.console.ram[address] for address in X] == [2, 4]

    shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    picture = desk.console.frame()
    assert picture.std() > 10, "something is drawn"
    assert np.array_equal(shown, picture.repeat(2, axis=0).repeat(2, axis=1))


def test_pause_reset_and_quit(desk: Desk) -> None:
    desk.wait(30)
    desk.touch(pygame.K_p)
    before = desk.console.save()
    desk.wait(5)
    assert desk.console.save() == before
    assert "paused" in pygame.display.get_caption()[0]
    desk.touch(pygame.K_p)
    assert "paused" not in pygame.display.get_caption()[0]
    assert desk.console.save() != before

    desk.touch(pygame.K_RETURN)
    desk.wait_for(MODE, OPTIONS)
    desk.touch(pygame.K_r)
    desk.wait_for(MODE, TITLE)

    for event in (pygame.event.Event(pygame.KEYDOWN, key=pygame.K_ESCAPE), pygame.event.Event(pygame.QUIT)):
        pygame.event.post(event)
        assert not desk.window.turn()


def test_a_window_that_is_shown_before_there_is_a_picture(desk: Desk) -> None:
    """As X11 does it: the first event comes before the first frame."""
    for kind in (pygame.WINDOWEXPOSED, pygame.VIDEORESIZE):
        pygame.event.post(pygame.event.Event(kind))
    assert desk.window.turn()
    desk.wait()


def test_a_window_of_another_size_keeps_whole_pixels(desk: Desk) -> None:
    desk.wait()
    pygame.display.set_mode((256 * 3 + 100, 240 * 3 + 50), pygame.RESIZABLE)
    desk.wait()
    shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    large = desk.console.frame().repeat(3, axis=0).repeat(3, axis=1)
    assert np.array_equal(shown[25 : 25 + 720, 50 : 50 + 768], large)
    assert not shown[:25].any()


def test_a_key_that_is_only_touched_counts_for_one_frame() -> None:
    keyboard = Keyboard()
    keyboard.press(pygame.K_x)
    keyboard.press(pygame.K_g)
    keyboard.press(pygame.K_UP)
    keyboard.press(pygame.K_F1)  # means nothing
    keyboard.release(pygame.K_x)
    keyboard.release(pygame.K_g)
    assert keyboard.pads() == (A | UP, A)
    assert keyboard.pads() == (UP, 0)
    keyboard.release_all()
    assert keyboard.pads() == (0, 0)


def test_both_players_have_all_buttons_they_need() -> None:
    for pad in (0, 1):
        buttons = {button for owner, button in KEYS.values() if owner == pad}
        assert {A, B, START, UP, DOWN, LEFT, RIGHT} <= buttons


def test_frames_that_are_late_are_made_up_for_but_a_long_stall_is_not() -> None:
    now = 0.0
    clock = FrameClock(lambda: now)
    ran = 0
    for milliseconds in range(5000):
        now = milliseconds / 1000
        due = clock.due()
        assert due in (0, 1)
        ran += due
    assert ran == int(4.999 * FRAMES_PER_SECOND)
    now += 3.5 / FRAMES_PER_SECOND
    assert clock.due() == 3
    now += (MOST_FRAMES_BEHIND + 2) / FRAMES_PER_SECOND
    assert clock.due() == 1
    assert clock.due() == 0


# --- the command --------------------------------------------------------------------------------------------------


def mario_rl(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    assert isinstance(end.value.code, int)
    return end.value.code


@pytest.mark.parametrize(
    ("arguments", "environment", "words"),
    [
        ([], {}, ["no window", "neither DISPLAY nor WAYLAND_DISPLAY", "screen"]),
        (["antidote"], {"DISPLAY": ":77"}, ["no window", "x11"]),
        (["antidote"], {"SDL_VIDEODRIVER": "no-such-driver"}, ["no window", "no-such-driver"]),
        (["tetris"], {}, ["tetris", "antidote"]),
        (["antidote", "--rom", "/no/such.nes"], {}, ["/no/such.nes"]),
        (["smb", "--seed", "7"], {}, ["--seed", "antidote"]),
    ],
)
def test_mistakes_are_one_line(
    arguments: list[str],
    environment: dict[str, str],
    words: list[str],
    smb_rom: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert mario_rl("play", *arguments) == 2
    shown = capfd.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1, shown.err
    for word in ("mario-rl: ", *words):
        assert word in shown.err
    assert not pygame.display.get_init(), "what was opened is closed again"
    assert os.environ.get("SDL_VIDEODRIVER") == environment.get("SDL_VIDEODRIVER")


def test_the_command_goes_straight_into_the_round_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    seen: list[bytes] = []

    def look_and_press_ctrl_c(window: PlayWindow) -> None:
        console = window._console
        assert isinstance(console, EmbeddedEmulator)
        seen.append(console.ram.tobytes())
        raise KeyboardInterrupt

    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(PlayWindow, "run", look_and_press_ctrl_c)
    arguments = ["play", "--players", "2", "--level", "20", "--speed", "hi", "--seed", "7"]
    assert mario_rl(*arguments) == 130
    assert mario_rl(*arguments) == 130
    assert capfd.readouterr().err == "mario-rl: interrupted\n" * 2
    ram = seen[0]
    assert (ram[MODE], ram[PLAYERS], ram[LEVELS[0]], ram[LEVELS[1]], ram[0x030B]) == (PLAY, 2, 20, 20, 2)
    assert ram[0x0324] == 0x84, "all viruses are there, in BCD"
    assert seen[1][0x0400:0x0480] == ram[0x0400:0x0480], "the seed fixes the viruses"


def test_without_pygame_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "mario_rl.play_window")
    monkeypatch.setitem(sys.modules, "pygame", None)
    assert mario_rl("play") == 2
    assert capfd.readouterr().err == "mario-rl: pygame is not installed: pip install 'mario-rl[play]'\n"
