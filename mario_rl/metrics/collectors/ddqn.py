"""What the double DQN says about its gradients."""

from __future__ import annotations

from mario_rl.metrics.collectors.gradients import GRADIENTS
from mario_rl.metrics.collectors.protocol import NamedInGradients
from mario_rl.metrics.schema import Gauge, MetricSchema, Rolling


class DdqnMetrics(MetricSchema):
    """Means over the latest gradients, and the state of the replay."""

    def __init__(self) -> None:
        self.q_mean = Rolling(GRADIENTS)  # of the actions taken
        self.q_max = Rolling(GRADIENTS)
        self.td_error = Rolling(GRADIENTS)  # mean of the absolute ones
        self.replay_size = Gauge()  # transitions
        self.beta = Gauge()  # exponent of the importance weights


class DdqnCollector(NamedInGradients[DdqnMetrics]):
    """Takes from `on_gradient` what bears the name of one of its metrics."""

    def __init__(self) -> None:
        super().__init__(DdqnMetrics())
