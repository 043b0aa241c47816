"""The metrics for TensorBoard, under the names they have everywhere: "worker_0/reward_mean", "all/flag_rate"."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

SECONDS_BETWEEN = 2.0  # points of one source; more would cost the parent's core more than any curve shows


class TensorBoardWriter:
    """Writes event files into `directory`.

    After a resume, `first_steps` are the steps the run goes on from: what was written beyond them before is hidden.
    """

    def __init__(
        self,
        directory: Path,
        first_steps: int | None = None,
        seconds_between: float = SECONDS_BETWEEN,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._directory = directory
        self._first_steps = first_steps
        self._seconds_between = seconds_between
        self._clock = clock
        self._next: dict[str, float] = {}  # when a source's next point is due
        self._writer: Any = None

    def add(self, source: str, values: Mapping[str, float], steps: int) -> None:
        """Values of a source ("worker_0", "coordinator", "all") at this many environment steps of the whole run.

        What comes sooner than `seconds_between` after the source's last point is left out, and so is what is not
        finite, which TensorBoard cannot draw.
        """
        now = self._clock()
        if now < self._next.get(source, now):
            return
        self._next[source] = now + self._seconds_between
        writer = self._opened()
        for name, value in values.items():
            if math.isfinite(value):
                writer.add_scalar(f"{source}/{name}", value, steps)

    def close(self) -> None:
        """Write what is still buffered; closing twice is fine."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _opened(self) -> Any:
        if self._writer is None:
            # a second and more of importing, which runs without TensorBoard need not wait for
            from torch.utils.tensorboard import SummaryWriter

            self._writer = SummaryWriter(str(self._directory), purge_step=self._first_steps, flush_secs=10)
        return self._writer
