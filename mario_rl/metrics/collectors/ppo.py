"""What PPO says about its gradients."""

from __future__ import annotations

from mario_rl.metrics.collectors.gradients import GRADIENTS
from mario_rl.metrics.collectors.protocol import NamedInGradients
from mario_rl.metrics.schema import MetricSchema, Rolling


class PpoMetrics(MetricSchema):
    """Means over the latest gradients."""

    def __init__(self) -> None:
        self.policy_loss = Rolling(GRADIENTS)
        self.value_loss = Rolling(GRADIENTS)
        self.entropy = Rolling(GRADIENTS)  # nats
        self.approx_kl = Rolling(GRADIENTS)  # how far the policy went from the one that collected
        self.clip_fraction = Rolling(GRADIENTS)
        self.explained_variance = Rolling(GRADIENTS)


class PpoCollector(NamedInGradients[PpoMetrics]):
    """Takes from `on_gradient` what bears the name of one of its metrics."""

    def __init__(self) -> None:
        super().__init__(PpoMetrics())
