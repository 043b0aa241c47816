"""A console in a window, played with the keyboard. Needs pygame (the extra [play]).

The window runs at the console's own 60.1 frames a second; a computer that is too slow to draw all of them leaves some
out instead of slowing the game down. There is no sound: the core keeps the sound chip's time, but does not mix its
channels.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Protocol

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # its greeting goes to stdout

import numpy as np
import numpy.typing as npt
import pygame

from mario_rl.emulators.base import DOWN, LEFT, RIGHT, SCREEN_HEIGHT, SCREEN_WIDTH, SELECT, START, UP, A, B

FRAMES_PER_SECOND = 60.0988
MOST_FRAMES_BEHIND = 6  # a longer stall (a window being dragged, a laptop that slept) is forgotten, not made up for
NAP_SECONDS = 0.001

# Both players fit on one keyboard. The second names of A and B are for left hands, right hands, and keyboards on which
# Y and Z have changed places.
KEYS: dict[int, tuple[int, int]] = {
    pygame.K_UP: (0, UP), pygame.K_DOWN: (0, DOWN), pygame.K_LEFT: (0, LEFT), pygame.K_RIGHT: (0, RIGHT),
    pygame.K_x: (0, A), pygame.K_l: (0, A), pygame.K_z: (0, B), pygame.K_y: (0, B), pygame.K_k: (0, B),
    pygame.K_RETURN: (0, START), pygame.K_KP_ENTER: (0, START), pygame.K_RSHIFT: (0, SELECT),
    pygame.K_BACKSPACE: (0, SELECT),
    pygame.K_w: (1, UP), pygame.K_s: (1, DOWN), pygame.K_a: (1, LEFT), pygame.K_d: (1, RIGHT),
    pygame.K_g: (1, A), pygame.K_f: (1, B), pygame.K_2: (1, START), pygame.K_1: (1, SELECT),
}  # fmt: skip
"""Pygame's key: which pad, which button of it."""

KEYS_IN_WORDS = "arrows, X=A, Z=B, Enter=START, Shift=SELECT; player 2: WASD, G=A, F=B; P pause, R reset, Esc quit"


class WindowError(OSError):
    """There is no window to be had; the message says what to do."""


class Console(Protocol):
    """What is played: an `Emulator` with a reset button."""

    def step(self, pads: tuple[int, int], frames: int, render: bool) -> None:
        """Run frames with both pads held; draw the last one if `render`."""

    def frame(self) -> npt.NDArray[np.uint8]:
        """The last drawn frame, uint8[240, 256, 3] RGB."""

    def reset(self) -> None:
        """Press the reset button."""


class Keyboard:
    """The two pads that the pressed keys make. A key that was only touched between two frames counts for one frame."""

    def __init__(self) -> None:
        self._down: set[int] = set()
        self._touched: set[int] = set()

    def press(self, key: int) -> None:
        """A key goes down."""
        self._down.add(key)
        self._touched.add(key)

    def release(self, key: int) -> None:
        """A key goes up."""
        self._down.discard(key)

    def release_all(self) -> None:
        """The window lost the keyboard: what is released from now on is not told."""
        self._down.clear()

    def pads(self) -> tuple[int, int]:
        """The pads for the next frame."""
        pads = [0, 0]
        for key in self._down | self._touched:
            if key in KEYS:
                pad, button = KEYS[key]
                pads[pad] |= button
        self._touched.clear()
        return pads[0], pads[1]


class FrameClock:
    """Says how many frames of the console are due."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._begin = clock()
        self._frames = 0  # handed out since then

    def due(self) -> int:
        """Frames to run now: 0 most of the time, 1 when it is time, more when the machine was busy."""
        due = int((self._clock() - self._begin) * FRAMES_PER_SECOND) - self._frames
        if due > MOST_FRAMES_BEHIND:
            self.restart()
            return 1
        self._frames += due
        return due

    def restart(self) -> None:
        """Count from now."""
        self._begin, self._frames = self._clock(), 0


class PlayWindow:
    """One console on the screen. Make it with `play_window`."""

    def __init__(self, console: Console, title: str, scale: int, clock: Callable[[], float] = time.monotonic):
        self._console = console
        self._title = title
        self._keyboard = Keyboard()
        self._clock = FrameClock(clock)
        self._paused = False
        self._drawn = False  # the console has a picture
        self._screen = pygame.display.set_mode((SCREEN_WIDTH * scale, SCREEN_HEIGHT * scale), pygame.RESIZABLE)
        self._say()

    def run(self) -> None:
        """Play until somebody quits."""
        self._clock.restart()
        while self.turn():
            time.sleep(NAP_SECONDS)

    def turn(self) -> bool:
        """Obey the keyboard, then run and show what is due; False once somebody has quit."""
        for event in pygame.event.get():
            if event.type == pygame.QUIT or (event.type == pygame.KEYDOWN and event.key == pygame.K_ESCAPE):
                return False
            self._obey(event)
        due = self._clock.due()
        if due and not self._paused:
            for frame in range(due):
                self._console.step(self._keyboard.pads(), 1, frame == due - 1)
            self._drawn = True
            self._draw()
        return True

    def _obey(self, event: pygame.event.Event) -> None:
        if event.type == pygame.KEYDOWN and event.key == pygame.K_p:
            self._paused = not self._paused
            self._say()
        elif event.type == pygame.KEYDOWN and event.key == pygame.K_r:
            self._console.reset()
        elif event.type == pygame.KEYDOWN:
            self._keyboard.press(event.key)
        elif event.type == pygame.KEYUP:
            self._keyboard.release(event.key)
        elif event.type == pygame.WINDOWFOCUSLOST:
            self._keyboard.release_all()
        elif event.type in (pygame.VIDEORESIZE, pygame.WINDOWEXPOSED) and self._drawn:
            self._draw()

    def _draw(self) -> None:
        """The picture in the middle of the window, as large as a whole number of times fits."""
        picture = self._console.frame()
        surface = pygame.image.frombuffer(picture.tobytes(), (SCREEN_WIDTH, SCREEN_HEIGHT), "RGB")
        self._screen = pygame.display.get_surface() or self._screen
        width, height = self._screen.get_size()
        scale = max(min(width // SCREEN_WIDTH, height // SCREEN_HEIGHT), 1)
        shown = pygame.transform.scale(surface, (SCREEN_WIDTH * scale, SCREEN_HEIGHT * scale))
        self._screen.fill((0, 0, 0))
        self._screen.blit(shown, ((width - shown.get_width()) // 2, (height - shown.get_height()) // 2))
        pygame.display.flip()

    def _say(self) -> None:
        pygame.display.set_caption(f"{self._title}{' (paused, P goes on)' if self._paused else ''} · {KEYS_IN_WORDS}")


@contextlib.contextmanager
def play_window(
    console: Console, title: str, scale: int, clock: Callable[[], float] = time.monotonic
) -> Iterator[PlayWindow]:
    """Open the window, and take it away again whatever happens; WindowError if there is no screen."""
    try:
        _open_display()
        window = PlayWindow(console, title, scale, clock)
    except pygame.error as problem:
        pygame.display.quit()
        raise WindowError(f"no window can be opened here ({problem}): playing needs a screen") from problem
    try:
        yield window
    finally:
        pygame.display.quit()


def _open_display() -> None:
    """Find a screen. Left to itself SDL would take "offscreen", a window nobody sees, where there is none."""
    named = os.environ.get("SDL_VIDEODRIVER")
    if not named and sys.platform.startswith("linux"):
        screens = {"wayland": "WAYLAND_DISPLAY", "x11": "DISPLAY"}
        drivers = [driver for driver, variable in screens.items() if os.environ.get(variable)]
        if not drivers:
            raise pygame.error("neither DISPLAY nor WAYLAND_DISPLAY is set")
        os.environ["SDL_VIDEODRIVER"] = ",".join(drivers)
    try:
        pygame.display.init()  # not pygame.init(): there is no sound to play, and its device may be missing
    finally:
        if not named:
            os.environ.pop("SDL_VIDEODRIVER", None)
