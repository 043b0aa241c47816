"""The game in a terminal: two pixels a character, as the upper half block "▀" in two colours.

Rows are written only when they change and colours only where they change, which is what makes it smooth over ssh. The
terminal is given back as it was, whatever ends the show.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import sys
import termios
import tty
from collections.abc import Iterator
from typing import TextIO

import numpy as np
from PIL import Image

from mario_rl.runs.panel import PANEL_WIDTH
from mario_rl.runs.player import Picture

STATUS_BAR_ROWS = 32  # of the picture: what they say is in the panel, and the level can be larger without them
LEAST_COLUMNS_FOR_THE_PANEL = PANEL_WIDTH + 24
HALF_BLOCK = "▀"

_OPEN = "\x1b[?1049h\x1b[?25l\x1b[2J"  # another screen, no cursor, cleared
_CLOSE = "\x1b[0m\x1b[?25h\x1b[?1049l"
_BEGIN_FRAME, _END_FRAME = "\x1b[?2026h", "\x1b[?2026l"  # terminals that know it show a frame at once


class TerminalScreen:
    """Shows pictures and a panel in the terminal behind `output`."""

    def __init__(self, output: TextIO = sys.stdout, size: os.terminal_size | None = None):
        self._output = output
        self._fixed_size = size
        self._size = os.terminal_size((0, 0))
        self._rows: list[str] = []  # as they stand on the screen

    def show(self, picture: Picture, panel: list[str]) -> None:
        """Draw a picture, uint8[240, 256, 3], with the panel beside it if there is room."""
        size = self._fixed_size or shutil.get_terminal_size()
        written = []
        if size != self._size:
            self._size = size
            self._rows = []
            written.append("\x1b[0m\x1b[2J")
        for row, text in enumerate(compose(picture, panel, size.columns, size.lines)):
            if row == len(self._rows):
                self._rows.append("")
            if text != self._rows[row]:
                self._rows[row] = text
                written.append(f"\x1b[{row + 1};1H{text}\x1b[0m\x1b[K")
        if written:
            self._output.write(_BEGIN_FRAME + "".join(written) + _END_FRAME)
            self._output.flush()

    def pressed_keys(self) -> str:
        """The keys pressed since the last call."""
        if not sys.stdin.isatty():
            return ""
        pressed = b""
        while select.select([sys.stdin.fileno()], [], [], 0)[0]:
            more = os.read(sys.stdin.fileno(), 64)
            if not more:
                break
            pressed += more
        return pressed.decode(errors="ignore")


@contextlib.contextmanager
def terminal_screen() -> Iterator[TerminalScreen]:
    """The whole terminal for a show."""
    settings = termios.tcgetattr(sys.stdin) if sys.stdin.isatty() else None
    try:
        if settings is not None:
            tty.setcbreak(sys.stdin)  # keys come at once and are not shown; Ctrl-C still interrupts
            _without_suspending()
        sys.stdout.write(_OPEN)
        sys.stdout.flush()
        yield TerminalScreen()
    finally:
        sys.stdout.write(_CLOSE)
        sys.stdout.flush()
        if settings is not None:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, settings)


def compose(picture: Picture, panel: list[str], columns: int, rows: int) -> list[str]:
    """One text for each row of the terminal, `rows` of them, none wider than `columns`."""
    with_panel = columns >= LEAST_COLUMNS_FOR_THE_PANEL
    room = columns - (PANEL_WIDTH + 2 if with_panel else 0)
    blocks, width = half_blocks(picture[STATUS_BAR_ROWS:], room, rows)
    texts = [line[:PANEL_WIDTH] for line in panel] if with_panel else []
    composed = []
    for row in range(rows):
        left = blocks[row] if row < len(blocks) else " " * width
        composed.append(f"{left}\x1b[0m  {texts[row]}" if row < len(texts) else left)
    return composed


def half_blocks(picture: Picture, columns: int, rows: int) -> tuple[list[str], int]:
    """A picture as rows of half blocks, as large as fits with square pixels, and their width in characters."""
    height, width, _ = picture.shape
    scale = min(columns / width, 2 * rows / height)
    shown_width, shown_rows = max(int(width * scale), 1), max(int(height * scale / 2), 1)
    small = Image.fromarray(picture).resize((shown_width, 2 * shown_rows), Image.Resampling.BOX)
    pixels = np.asarray(small).reshape(shown_rows, 2, shown_width, 3)
    return [_row(upper.tolist(), lower.tolist()) for upper, lower in pixels], shown_width


def _row(upper: list[list[int]], lower: list[list[int]]) -> str:
    text = []
    ink: list[int] | None = None
    paper: list[int] | None = None
    for above, below in zip(upper, lower, strict=True):
        if above != ink:
            text.append(f"\x1b[38;2;{above[0]};{above[1]};{above[2]}m")
            ink = above
        if below != paper:
            text.append(f"\x1b[48;2;{below[0]};{below[1]};{below[2]}m")
            paper = below
        text.append(HALF_BLOCK)
    return "".join(text)


def _without_suspending() -> None:
    """Ctrl-Z would leave the terminal in the middle of the show."""
    settings = termios.tcgetattr(sys.stdin)
    settings[6][termios.VSUSP] = b"\0"
    termios.tcsetattr(sys.stdin, termios.TCSANOW, settings)
