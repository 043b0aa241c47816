"""The game in a window: the picture, three times as large, with the panel beside it."""

from __future__ import annotations

import tkinter
from tkinter.font import nametofont

from PIL import Image, ImageTk

from mario_rl.emulators.base import SCREEN_HEIGHT, SCREEN_WIDTH
from mario_rl.runs.panel import PANEL_WIDTH
from mario_rl.runs.player import Picture

SCALE = 3
SIZE = (SCREEN_WIDTH * SCALE, SCREEN_HEIGHT * SCALE)
FONT_POINTS = 13
INK, PAPER = "#e8e8e8", "#181818"


class WindowScreen:
    """Shows pictures and a panel in a window; closing it is as good as pressing q."""

    def __init__(self, title: str):
        self._root = tkinter.Tk()  # a TclError if the display cannot be used
        self._root.title(title)
        self._root.configure(background=PAPER)
        self._root.resizable(False, False)
        self._pressed = ""
        self._open = True
        self._photo = ImageTk.PhotoImage("RGB", SIZE)
        picture = tkinter.Label(self._root, image=self._photo, borderwidth=0)
        picture.pack(side=tkinter.LEFT)
        font = nametofont("TkFixedFont", root=self._root).copy()
        font.configure(size=FONT_POINTS)
        self._panel = tkinter.Label(
            self._root,
            font=font,
            width=PANEL_WIDTH,
            justify=tkinter.LEFT,
            anchor=tkinter.NW,
            foreground=INK,
            background=PAPER,
            padx=16,
            pady=16,
        )
        self._panel.pack(side=tkinter.LEFT, fill=tkinter.BOTH)
        self._root.bind("<Key>", self._press)
        self._root.protocol("WM_DELETE_WINDOW", self.close)

    def show(self, picture: Picture, panel: list[str]) -> None:
        """Draw a picture, uint8[240, 256, 3], and the panel."""
        if self._open:
            self._photo.paste(Image.fromarray(picture).resize(SIZE, Image.Resampling.NEAREST))
            self._panel.configure(text="\n".join(panel))
            self._root.update()

    def pressed_keys(self) -> str:
        """The keys pressed since the last call."""
        if self._open:
            self._root.update()
        pressed, self._pressed = self._pressed, ""
        return pressed

    def close(self) -> None:
        """Take the window away."""
        if self._open:
            self._open = False
            self._pressed += "q"
            self._root.destroy()

    def _press(self, event: tkinter.Event[tkinter.Misc]) -> None:
        self._pressed += event.char
