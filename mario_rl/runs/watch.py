"""Watching a trained model play: in a window where there is a screen, else in the terminal."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import TYPE_CHECKING, Literal, Protocol

from mario_rl.runs.directory import RunError
from mario_rl.runs.evaluate import Episode
from mario_rl.runs.panel import Panel
from mario_rl.runs.player import Picture, Player
from mario_rl.runs.terminal_screen import terminal_screen

if TYPE_CHECKING:
    from mario_rl.runs.window_screen import WindowScreen

AFTER_AN_EPISODE_FRAMES = 90  # long enough to see what happened
PAUSE_SECONDS = 0.05  # between two looks at the keyboard

Display = Literal["auto", "window", "terminal"]


class Screen(Protocol):
    """Where people look."""

    def show(self, picture: Picture, panel: list[str]) -> None:
        """Draw a picture, uint8[240, 256, 3], and the lines beside it."""

    def pressed_keys(self) -> str:
        """The keys pressed since the last call."""


class Pace:
    """Keeps a show at so many frames a second; when drawing is slower than that, frames are left out."""

    def __init__(
        self, fps: float, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ):
        self._seconds = 1 / fps if fps else 0.0
        self._clock = clock
        self._sleep = sleep
        self._next = clock()

    def wait(self) -> bool:
        """Wait for the next frame's time; False if it is over already, so that the frame is better not drawn."""
        self._next += self._seconds
        ahead = self._next - self._clock()
        if ahead > 0:
            self._sleep(ahead)
        return ahead > -self._seconds or not self._seconds

    def restart(self) -> None:
        """Forget what is late, after a pause."""
        self._next = self._clock()


def watch(
    player: Player, screen: Screen, pace: Pace, seed: int, episodes: int | None, heading: str = ""
) -> list[Episode]:
    """Show episodes until all are played (None: without end) or somebody presses q; those that came to their end."""
    panel = Panel(player.actions, player.trained.model.shows, heading)
    played: list[Episode] = []
    for number in count() if episodes is None else range(episodes):
        for moment in player.play(seed + number):
            lines = panel.lines(moment, played, episodes)
            if not show_at_pace(moment.frames, lines, screen, pace):
                return played
        played.append(moment.episode)
        if not show_at_pace(player.afterwards(AFTER_AN_EPISODE_FRAMES), lines, screen, pace):
            return played
    return played


@contextlib.contextmanager
def open_screen(display: Display, title: str) -> Iterator[Screen]:
    """A window or the terminal: what was asked for, or what there is."""
    if display == "window" or (display == "auto" and _has_a_screen()):
        try:
            window = _window(title)
        except RunError as problem:
            if display == "window":
                raise
            print(f"{problem}; showing it in the terminal", file=sys.stderr)
        else:
            with contextlib.closing(window) as screen:
                yield screen
            return
    if not sys.stdout.isatty():
        raise RunError("watching needs a screen or a terminal; `mario-rl record` makes a video instead")
    with terminal_screen() as screen:
        yield screen


def _has_a_screen() -> bool:
    return not sys.platform.startswith("linux") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


def _window(title: str) -> WindowScreen:
    try:
        import tkinter

        from mario_rl.runs.window_screen import WindowScreen
    except ImportError as problem:
        raise RunError(f"no window: this Python has no tkinter ({problem}); on Debian, install python3-tk") from problem
    try:
        return WindowScreen(title)
    except tkinter.TclError as problem:
        raise RunError(f"no window: {problem}") from problem


def show_at_pace(pictures: Iterable[Picture], lines: list[str], screen: Screen, pace: Pace) -> bool:
    """Show pictures at the pace; False if somebody does not want to see more."""
    for picture in pictures:
        if not _go_on(screen, pace):
            return False
        if pace.wait():
            screen.show(picture, lines)
    return True


def _go_on(screen: Screen, pace: Pace) -> bool:
    """Obey the keyboard; False if the show is over."""
    paused = False
    while True:
        for key in screen.pressed_keys():
            if key in "qQ":
                return False
            paused = paused != (key == " ")
        if not paused:
            return True
        time.sleep(PAUSE_SECONDS)
        pace.restart()
