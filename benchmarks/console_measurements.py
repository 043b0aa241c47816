"""What is measured of one console, whichever emulator it is: RAM only, drawing every frame, saving and loading."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from benchmarks import smb_run
from benchmarks.smb_run import Console
from benchmarks.worker import Answer, timed

SAVE_LOAD_REPEATS = 500
PADS_BETWEEN_CLOCK_READS = 25
FRAMES_BETWEEN_CLOCK_READS = PADS_BETWEEN_CLOCK_READS * smb_run.FRAMES_PER_PAD


class ConsoleMeasurements:
    """Bring a console to the start of 1-1 and measure it from there."""

    def __init__(self, console: Console) -> None:
        self._console = console
        smb_run.start_level_1_1(console)
        self._start = console.save()
        self._pads = smb_run.pads_of_the_run()
        self._position = 0

    def by_name(self) -> dict[str, Callable[..., Answer]]:
        """The measurements a worker serves."""
        return {"ram": self.ram, "render": self.render, "save_load": self.save_load}

    def ram(self, seconds: float) -> Answer:
        """Play on, four frames at a time; one RAM byte is read after each, as an agent would."""

        def play() -> int:
            for pad in self._next_pads():
                self._console.run(pad, smb_run.FRAMES_PER_PAD)
                self._console.peek(smb_run.PLAYER_STATE)
            return FRAMES_BETWEEN_CLOCK_READS

        return timed(play, seconds)

    def render(self, seconds: float) -> Answer:
        """Play on, every frame drawn and handed over."""

        def play() -> int:
            for pad in self._next_pads():
                for _ in range(smb_run.FRAMES_PER_PAD):
                    self._console.run_and_draw(pad)
            return FRAMES_BETWEEN_CLOCK_READS

        return timed(play, seconds)

    def _next_pads(self) -> list[int]:
        """The next 100 frames of the run; after its end, its beginning, from the saved start."""
        if self._position == smb_run.RUN_PADS:
            self._position = 0
        if self._position == 0:
            self._console.load(self._start)
        first, self._position = self._position, self._position + PADS_BETWEEN_CLOCK_READS
        return self._pads[first : self._position]

    def save_load(self) -> Answer:
        """Microseconds of one save and one load, the median of many."""
        times: list[float] = []
        for _ in range(SAVE_LOAD_REPEATS):
            start = time.perf_counter()
            state: Any = self._console.save()
            self._console.load(state)
            times.append((time.perf_counter() - start) * 1e6)
        return {"microseconds": statistics.median(times)}
