"""A console's picture for those who only watch: looking changes nothing, neither the game nor what its player drew."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mario_rl.emulators.base import Emulator
from mario_rl.server.errors import Invalid

Picture = npt.NDArray[np.uint8]


class Screen:
    """Knows what the console's `frame()` is a picture of. Lives in the console's thread."""

    def __init__(self) -> None:
        self._last_drawn: Picture | None = None  # of a step, while the console's own is of `now`
        self._now: Picture | None = None
        self.lost()

    def moved(self, drawn: bool = False) -> None:
        """The console is somewhere else now; `drawn`: and has drawn it."""
        self._is_current = drawn
        self._now = None
        if drawn:
            self._of_step, self._last_drawn = True, None

    def lost(self) -> None:
        """There is another console, which has drawn nothing."""
        self._of_step = False  # it is of a step that drew
        self._is_current = False  # and nothing has happened since
        self._last_drawn = self._now = None

    def last_drawn(self, console: Emulator) -> Picture:
        """The last frame that a step drew."""
        if self._of_step:
            return console.frame()
        if self._last_drawn is None:
            raise Invalid("no step has drawn a frame yet")
        return self._last_drawn

    def now(self, console: Emulator) -> Picture:
        """What the screen shows."""
        if self._is_current:
            return console.frame()
        if self._now is None:
            if self._of_step:
                self._last_drawn, self._of_step = console.frame(), False
            # One frame more, drawn; then back to where it was.
            state = console.save()
            console.step(render=True)
            self._now = console.frame()
            console.load(state)
        return self._now
