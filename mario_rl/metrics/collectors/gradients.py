"""What every algorithm's gradients have in common: how many there were, their loss, the weights they were made with."""

from __future__ import annotations

from collections.abc import Mapping

from mario_rl.metrics.collectors.protocol import SchemaCollector
from mario_rl.metrics.schema import Counter, Gauge, MetricSchema, Rolling

GRADIENTS = 100  # the window of what is averaged over gradients


class GradientMetrics(MetricSchema):
    """Of one worker."""

    def __init__(self) -> None:
        self.epsilon = Gauge()  # the chance of a random action, mean over the lanes (ddqn only)
        self.grads_sent = Counter()
        self.grads_dropped = Counter()  # computed, but not sent: not finite
        self.weight_version = Gauge()
        self.loss = Rolling(GRADIENTS)


class GradientCollector(SchemaCollector[GradientMetrics]):
    """Counts every `on_gradient` as sent, or, where its metrics have a "dropped" other than 0, as dropped."""

    def __init__(self) -> None:
        super().__init__(GradientMetrics())

    def on_gradient(self, metrics: Mapping[str, float]) -> None:
        """Count it. The loss of a dropped one says nothing about learning, so it is left out of the mean."""
        if "epsilon" in metrics:
            self.metrics.epsilon.set(metrics["epsilon"])
        if "weight_version" in metrics:
            self.metrics.weight_version.set(metrics["weight_version"])
        if metrics.get("dropped"):
            self.metrics.grads_dropped.add()
            return
        self.metrics.grads_sent.add()
        if "loss" in metrics:
            self.metrics.loss.add(metrics["loss"])
