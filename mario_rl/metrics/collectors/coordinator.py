"""What the coordinator knows: updates, gradients that came or were refused, and the run as a whole."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping

from mario_rl.metrics.collectors.gradients import GRADIENTS
from mario_rl.metrics.collectors.protocol import SchemaCollector
from mario_rl.metrics.schema import Gauge, MetricSchema, Rate, Rolling


class CoordinatorMetrics(MetricSchema):
    """Of the run as a whole: steps and episodes are those of all workers."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.steps = Gauge()
        self.updates = Gauge()
        self.updates_per_second = Rate(clock=clock)
        self.steps_per_second = Rate(clock=clock)
        self.loss = Rolling(GRADIENTS)
        self.grad_norm = Rolling(GRADIENTS)  # before clipping
        self.lr = Gauge()
        self.weight_version = Gauge()
        self.grads_received = Gauge()
        self.grads_nonfinite = Gauge()
        self.grads_stale = Gauge()
        self.workers_in = Gauge()  # how many took part in the latest update
        self.flag_rate = Gauge()  # over the latest 100 episodes of every worker
        self.best_x = Gauge()
        self.episodes = Gauge()
        self.first_flag_steps = Gauge()
        self.first_flag_seconds = Gauge()
        self.evaluation_rate = Gauge()
        self.evaluation_mean_x = Gauge()


class CoordinatorCollector(SchemaCollector[CoordinatorMetrics]):
    """Is shown the coordinator's own counters, and adds how fast they grow and means over what jumps about."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(CoordinatorMetrics(clock))

    def observe(self, values: Mapping[str, float]) -> None:
        """What the coordinator knows at this moment: some of the metrics by name; other names are ignored.

        Call it after every update, so that the means are over updates.
        """
        metrics = self.metrics
        self._grow(metrics.steps_per_second, metrics.steps, values.get("steps"))
        self._grow(metrics.updates_per_second, metrics.updates, values.get("updates"))
        for name, metric in metrics.metrics().items():
            value = values.get(name, math.nan)
            if math.isnan(value):
                continue
            if isinstance(metric, Rolling):
                metric.add(value)
            elif isinstance(metric, Gauge):
                metric.set(value)

    @staticmethod
    def _grow(rate: Rate, count: Gauge, now: float | None) -> None:
        # the first count a process sees may come from a checkpoint: that was not done in this second
        if now is not None and count.value is not None:
            rate.add(now - count.value)
