"""What the double DQN says about its gradients."""

from __future__ import annotations

from collections.abc import Mapping

from mario_rl.metrics.collectors.gradients import GRADIENTS
from mario_rl.metrics.collectors.protocol import SchemaCollector
from mario_rl.metrics.schema import Gauge, MetricSchema, Rolling


class DdqnMetrics(MetricSchema):
    """Means over the latest gradients, and the state of the replay."""

    def __init__(self) -> None:
        self.q_mean = Rolling(GRADIENTS)  # of the actions taken
        self.q_max = Rolling(GRADIENTS)
        self.td_error = Rolling(GRADIENTS)  # mean of the absolute ones
        self.replay_size = Gauge()  # transitions
        self.beta = Gauge()  # exponent of the importance weights


class DdqnCollector(SchemaCollector[DdqnMetrics]):
    """Takes from `on_gradient` what bears the name of one of its metrics."""

    def __init__(self) -> None:
        super().__init__(DdqnMetrics())

    def on_gradient(self, metrics: Mapping[str, float]) -> None:
        """One more gradient for the means."""
        if metrics.get("dropped"):
            return
        for name, metric in self.metrics.metrics().items():
            if name not in metrics:
                continue
            if isinstance(metric, Rolling):
                metric.add(metrics[name])
            elif isinstance(metric, Gauge):
                metric.set(metrics[name])
