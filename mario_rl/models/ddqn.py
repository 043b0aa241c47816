"""The model of dueling double DQN: an online and a target network, each a torso with a value and an advantage head.

Dueling heads: Wang et al. 2016, eq. 9. Q-values pass a softsign, q_scale * softsign(q / q_scale), so that a diverging
network stays within +-q_scale; near 0 it is the identity.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from gymnasium import spaces
from torch import Tensor, nn
from torch.nn import functional as F

from mario_rl.config import TrainingConfig
from mario_rl.models.base import Network, sometimes_random
from mario_rl.models.torsos import build_torso, initialised

# The stochastic policy of a Q-network: greedy, with this chance of a random action (the figure that peers publish).
EVALUATION_EPSILON = 0.01


class DuelingQNetwork(nn.Module):
    """Q-values of all actions, float32[n, actions], within +-q_scale."""

    def __init__(self, shape: Sequence[int], actions: int, torso: str, hidden: int, q_scale: float):
        super().__init__()
        self.q_scale = q_scale
        self.torso = build_torso(torso, shape, hidden)
        half = max(hidden // 2, 1)
        self.value = nn.Sequential(
            initialised(nn.Linear(self.torso.features, half)), nn.ReLU(), initialised(nn.Linear(half, 1), 1.0)
        )
        self.advantage = nn.Sequential(
            initialised(nn.Linear(self.torso.features, half)), nn.ReLU(), initialised(nn.Linear(half, actions), 0.1)
        )

    def forward(self, x: Tensor) -> Tensor:
        """The bounded Q-values."""
        features = self.torso(x)
        advantage = self.advantage(features)
        q = self.value(features) + advantage - advantage.mean(dim=1, keepdim=True)
        return self.q_scale * F.softsign(q / self.q_scale)


class DdqnModel(nn.Module):
    """Online and target network (see `Model`).

    People see and evaluate the target network: it averages the online one, whose policy swings between two updates.
    """

    shows = "Q"

    def __init__(
        self, shape: Sequence[int], actions: int, torso: str = "auto", hidden: int = 128, q_scale: float = 20.0
    ):
        super().__init__()
        self.actions = actions
        self.online = DuelingQNetwork(shape, actions, torso, hidden, q_scale)
        self.target = copy.deepcopy(self.online).requires_grad_(False)

    @classmethod
    def of(cls, config: TrainingConfig, space: spaces.Box, actions: int) -> DdqnModel:
        """The model a configuration describes."""
        return cls(space.shape, actions, config.torso, config.hidden, config.q_scale)

    def forward(self, x: Tensor, network: Network = "online") -> Tensor:
        """Q-values, float32[n, actions]."""
        return self.online(x) if network == "online" else self.target(x)

    @torch.no_grad()
    def select_action(
        self,
        x: Tensor,
        epsilon: float | Tensor = 0.0,
        generator: torch.Generator | None = None,
        network: Network = "target",
    ) -> Tensor:
        """The action of the highest Q-value; with chance epsilon (one for all rows, or one each) a random one."""
        return sometimes_random(self.forward(x, network).argmax(dim=1), epsilon, self.actions, generator)

    def sample_action(self, x: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Greedy with 1 % random actions."""
        return self.select_action(x, EVALUATION_EPSILON, generator)

    @torch.no_grad()
    def action_values(self, x: Tensor) -> Tensor:
        """The target network's Q-values."""
        return self.forward(x, "target")

    def sync_target(self) -> None:
        """Copy the online network into the target network."""
        self.target.load_state_dict(self.online.state_dict())
