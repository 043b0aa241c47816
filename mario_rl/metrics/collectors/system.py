"""What a process costs and how fast it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import psutil

from mario_rl.metrics.collectors.protocol import SchemaCollector
from mario_rl.metrics.schema import Gauge, MetricSchema, Rate, Values

if TYPE_CHECKING:
    from mario_rl.learners.base import LaneSteps

MEGABYTE = 1 << 20
SECONDS = 1.0  # between two looks at the process: a share of the CPU needs time to be one


class SystemMetrics(MetricSchema):
    """Of one process."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.steps_per_second = Rate(clock=clock)
        self.cpu_percent = Gauge()  # of one core, over the last second or more
        self.memory_mb = Gauge()  # resident, shared pages included


class SystemCollector(SchemaCollector[SystemMetrics]):
    """Measures the process it is made in."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(SystemMetrics(clock))
        self._clock = clock
        self._looked = clock()
        self._process = psutil.Process()
        self._process.cpu_percent()  # the first call only starts the measurement

    def on_steps(self, lane_steps: LaneSteps, infos: dict[str, Any]) -> None:
        """One step of every lane, for the speed."""
        self.metrics.steps_per_second.add(len(lane_steps.rewards))

    def values(self) -> Values:
        """The process as it was within the last second."""
        now = self._clock()
        if now - self._looked >= SECONDS:
            self._looked = now
            self.metrics.cpu_percent.set(self._process.cpu_percent())
            self.metrics.memory_mb.set(self._process.memory_info().rss / MEGABYTE)
        return super().values()
