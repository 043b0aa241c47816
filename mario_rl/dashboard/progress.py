"""`--no-ui`: one tidy line of progress, rewritten in place on a terminal, written now and then elsewhere."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TextIO

from mario_rl.dashboard.figures import NONE, Progress, count, number, one_line, percent
from mario_rl.dashboard.session import TrainingSession

TICKS_PER_SECOND = 4
SECONDS_BETWEEN_LINES = 5.0  # where lines cannot be rewritten
CLEAR_LINE = "\r\x1b[K"


def run_with_progress(session: TrainingSession, stream: TextIO | None = None) -> None:
    """Drive a run to its end, showing its progress and what it logs."""
    line = ProgressLine(session, stream or sys.stderr)
    try:
        while session.tick():
            line.update()
            time.sleep(1 / TICKS_PER_SECOND)
    finally:
        line.finish()


class ProgressLine:
    """Writes the progress of a run to a stream. A stream that breaks is given up; the run goes on."""

    def __init__(self, session: TrainingSession, stream: TextIO, clock: Callable[[], float] = time.monotonic):
        self._session = session
        self._stream = stream
        self._clock = clock
        self._in_place = stream.isatty()
        self._broken = False
        self._written_at = -SECONDS_BETWEEN_LINES
        self._shown = ""
        self._logged = 0

    def update(self) -> None:
        """Write what is new: lines of the log, then the progress if it is time."""
        self._write_log()
        text = self.text()
        if self._in_place:
            if text != self._shown:
                self._write(CLEAR_LINE + text)
        elif self._clock() - self._written_at >= SECONDS_BETWEEN_LINES:
            self._written_at = self._clock()
            self._write(text + "\n")
        self._shown = text

    def finish(self) -> None:
        """Write the last state, and leave the cursor on a fresh line."""
        self._write_log()
        self._write((CLEAR_LINE if self._in_place else "") + self.text() + "\n")

    def text(self) -> str:
        """The line, in plain ASCII. On a terminal that is too narrow the last parts are left out."""
        now = Progress.of(self._session)
        parts = [
            f"{count(now.steps)}/{count(now.goal)} steps {percent(now.share)}",
            f"{count(now.steps_per_second)}/s",
            now.left(),
            f"flag {percent(now.flag_rate)}",
            f"practice {percent(now.practice_flag_rate)}",
            f"best x {count(now.best_x)}",
            f"loss {number(now.loss)}",
            f"{now.workers}/{now.workers_wanted} workers",
        ]
        parts = [part for part in parts if not part.endswith(f" {NONE}") and not part.startswith(NONE)]
        while len(parts) > 1 and len("  ".join(parts)) > self._width():
            parts.pop()
        return "  ".join(parts)[: self._width()]

    def _width(self) -> int:
        if not self._in_place:
            return 1000
        try:
            return max(os.get_terminal_size(self._stream.fileno()).columns - 1, 10)
        except (OSError, ValueError):
            return 79

    def _write_log(self) -> None:
        log = self._session.aggregator.log
        new = min(self._session.aggregator.log_count - self._logged, len(log))
        self._logged = self._session.aggregator.log_count
        for line in list(log)[len(log) - new :]:
            clock = time.strftime("%H:%M:%S", time.localtime(line.time))
            mark = "" if line.level == "info" else f"{line.level}: "
            self._write(
                (CLEAR_LINE if self._in_place else "") + f"{clock} {line.source}: {mark}{one_line(line.text)}\n"
            )
            self._shown = ""

    def _write(self, text: str) -> None:
        if self._broken:
            return
        try:
            encoding = self._stream.encoding or "utf-8"
            self._stream.write(text.encode(encoding, "replace").decode(encoding))
            self._stream.flush()
        except (OSError, ValueError):  # nobody reads it any more
            self._broken = True
