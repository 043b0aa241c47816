"""What Dreamer says about its gradients: how well it knows the world, and what it dreams of."""

from __future__ import annotations

from mario_rl.metrics.collectors.gradients import GRADIENTS
from mario_rl.metrics.collectors.protocol import NamedInGradients
from mario_rl.metrics.schema import Gauge, MetricSchema, Rolling


class DreamerMetrics(MetricSchema):
    """Means over the latest gradients, and the state of the replay."""

    def __init__(self) -> None:
        self.wm_loss = Rolling(GRADIENTS)  # the world model's, all of it
        self.recon_mse = Rolling(GRADIENTS)  # between what is seen and what is seen again, a number of an observation
        self.ssim = Rolling(GRADIENTS)  # of pixels: how alike they look
        self.kl = Rolling(GRADIENTS)  # nats that the world's next state surprises with
        self.reward_loss = Rolling(GRADIENTS)
        self.end_loss = Rolling(GRADIENTS)
        self.ends_seen = Rolling(GRADIENTS)  # P(over) where an episode was over, once that is seen
        self.ends_foreseen = Rolling(GRADIENTS)  # the same before it is seen: in imagination there is nothing else
        self.actor_loss = Rolling(GRADIENTS)
        self.critic_loss = Rolling(GRADIENTS)
        self.imagined_return = Rolling(GRADIENTS)
        self.value_mean = Rolling(GRADIENTS)  # of states that were seen
        self.return_range = Rolling(GRADIENTS)  # between the 5 % and 95 % quantiles
        self.entropy = Rolling(GRADIENTS)  # nats, of the policy
        self.replay_size = Gauge()  # rows


class DreamerCollector(NamedInGradients[DreamerMetrics]):
    """Takes from `on_gradient` what bears the name of one of its metrics."""

    def __init__(self) -> None:
        super().__init__(DreamerMetrics())
