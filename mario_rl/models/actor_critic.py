"""The model of PPO: a policy and a value.

From tiles each has a torso of its own (they are small, and the value's gradients do not disturb the policy's features);
from pixels they share one, which costs most of the time.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from gymnasium import spaces
from torch import Tensor, nn

from mario_rl.config import TrainingConfig
from mario_rl.models.base import Network, sometimes_random
from mario_rl.models.torsos import PIXEL_SHAPE, build_torso, initialised


class ActorCriticModel(nn.Module):
    """Logits and value of an observation (see `Model`)."""

    shows = "probability"

    def __init__(self, shape: Sequence[int], actions: int, torso: str = "auto", hidden: int = 128):
        super().__init__()
        self.actions = actions
        self.policy_torso = build_torso(torso, shape, hidden)
        self.value_torso = None if tuple(shape) == PIXEL_SHAPE else build_torso(torso, shape, hidden)
        # A nearly uniform policy at the start: Andrychowicz et al. 2021 (What matters in on-policy RL), section 3.2.
        self.policy = initialised(nn.Linear(hidden, actions), 0.01)
        self.value = initialised(nn.Linear(hidden, 1), 1.0)

    @classmethod
    def of(cls, config: TrainingConfig, space: spaces.Box, actions: int) -> ActorCriticModel:
        """The model a configuration describes."""
        return cls(space.shape, actions, config.torso, config.hidden)

    def forward(self, x: Tensor, network: Network = "online") -> Tensor:
        """Logits, float32[n, actions]; there is one network only."""
        return self.policy(self.policy_torso(x))

    def evaluate(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Logits, float32[n, actions], and values, float32[n]."""
        features = self.policy_torso(x)
        value_features = features if self.value_torso is None else self.value_torso(x)
        return self.policy(features), self.value(value_features)[:, 0]

    @torch.no_grad()
    def select_action(self, x: Tensor, epsilon: float = 0.0, generator: torch.Generator | None = None) -> Tensor:
        """The most probable action; with chance epsilon a random one."""
        return sometimes_random(self.forward(x).argmax(dim=1), epsilon, self.actions, generator)

    @torch.no_grad()
    def sample_action(self, x: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Actions drawn from the policy."""
        return draw(self.forward(x), generator)

    @torch.no_grad()
    def action_values(self, x: Tensor) -> Tensor:
        """The probability of each action."""
        return self.forward(x).softmax(dim=1)

    def sync_target(self) -> None:
        """There is no target network."""


def draw(logits: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """One action per row of logits: the Gumbel-max trick, on the CPU's generator whatever the device."""
    uniform = torch.rand(logits.shape, generator=generator).clamp_(min=1e-20)
    return (logits - (-uniform.log()).log().to(logits.device)).argmax(dim=1)
