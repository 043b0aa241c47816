"""The model of Dreamer: a world model, and an actor and a critic that live in it.

Hafner et al. 2023 (DreamerV3, arXiv 2301.04104). The world model (`WorldModel`) sees (`sights.py`), carries a state on
(`dynamics.py`) and tells from a state what is seen, what was paid and whether the episode goes on; rewards and values
are two-hot (`two_hot.py`). Actor and critic read states only, so they can be trained on imagined ones.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from gymnasium import spaces
from torch import Tensor, nn
from torch.nn import functional as F

from mario_rl.config import TrainingConfig
from mario_rl.models.base import Network, sometimes_random
from mario_rl.models.dynamics import UNIMIX, Dynamics, State, draw, noise
from mario_rl.models.sights import build_sight, head, newest
from mario_rl.models.two_hot import BINS, TwoHot


@dataclass(frozen=True)
class Size:
    """How large a world model is."""

    deterministic: int
    variables: int
    classes: int
    hidden: int


SIZES = {
    "XS": Size(128, 8, 8, 128),  # a laptop's CPU
    "S": Size(256, 16, 16, 256),  # more cores
    "M": Size(1024, 32, 32, 512),  # a GPU
}


class WorldModel(nn.Module):
    """Sees, carries on, tells."""

    def __init__(self, shape: Sequence[int], actions: int, torso: str, size: Size):
        super().__init__()
        self.features = size.deterministic + size.variables * size.classes
        self.sight = build_sight(torso, shape, self.features, size.hidden)
        self.dynamics = Dynamics(size.deterministic, size.variables, size.classes, size.hidden, actions)
        self.reward = head(self.features, size.hidden, BINS, zero=True)
        self.going_on = head(self.features, size.hidden, 1)  # the logit of "the episode goes on"


class DreamerModel(nn.Module):
    """World model, actor, critic, and the critic's slow average (see `Model`; with a memory: `Remembering`)."""

    shows = "probability"

    def __init__(self, shape: Sequence[int], actions: int, torso: str = "auto", size: str = "XS"):
        super().__init__()
        self.actions = actions
        self.size = SIZES[size]
        hidden = self.size.hidden
        # In this order their gradients lie in the flat vector: `DreamerLearner.parts` counts on it.
        self.world = WorldModel(shape, actions, torso, self.size)
        self.actor = head(self.world.features, hidden, actions, layers=2, zero=True)
        self.critic = head(self.world.features, hidden, BINS, layers=2, zero=True)
        self.slow_critic = copy.deepcopy(self.critic).requires_grad_(False)
        self.two_hot = TwoHot()

    @classmethod
    def of(cls, config: TrainingConfig, space: spaces.Box, actions: int) -> DreamerModel:
        """The model a configuration describes."""
        return cls(space.shape, actions, config.torso, config.size)

    def policy(self, features: Tensor) -> Tensor:
        """The probability of each action, a little of it uniform (section "Actor learning")."""
        return (1 - UNIMIX) * self.actor(features).softmax(-1) + UNIMIX / self.actions

    def at_play(self, lanes: int) -> DreamerAtPlay:
        """On lanes whose episodes are about to begin."""
        return DreamerAtPlay(self, lanes)

    # Without a memory: every observation as if it were the first of an episode.

    def forward(self, x: Tensor, network: Network = "online") -> Tensor:
        """Logarithms of the policy's probabilities at first sight, float32[n, actions]; there is one policy only."""
        dynamics = self.world.dynamics
        nothing = dynamics.nothing(len(x), x.device)
        carried = dynamics.go_on(nothing, torch.zeros(len(x), self.actions, device=x.device))
        seen = self.world.sight.encode(newest(x))
        recognised = dynamics.posterior(carried, seen, torch.zeros(len(x), device=x.device))
        return self.policy(State(carried, draw(recognised, None)).features).log()

    @torch.no_grad()
    def select_action(self, x: Tensor, epsilon: float = 0.0, generator: torch.Generator | None = None) -> Tensor:
        """The most probable action at first sight; with chance epsilon a random one."""
        return sometimes_random(self.forward(x).argmax(dim=1), epsilon, self.actions, generator)

    @torch.no_grad()
    def sample_action(self, x: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Actions drawn from the policy at first sight."""
        return choose(self.forward(x).exp(), generator)

    @torch.no_grad()
    def action_values(self, x: Tensor) -> Tensor:
        """The probability of each action at first sight."""
        return self.forward(x).exp()

    def sync_target(self) -> None:
        """Copy the critic into its slow average."""
        self.slow_critic.load_state_dict(self.critic.state_dict())


class DreamerAtPlay:
    """Dreamer on some lanes (see `AtPlay`): the state of each game, and the action that was done last."""

    def __init__(self, model: DreamerModel, lanes: int):
        self._model = model
        device = next(model.parameters()).device
        self.state = model.world.dynamics.nothing(lanes, device)
        self.actions = torch.zeros(lanes, dtype=torch.int64, device=device)
        self._probabilities = torch.zeros(lanes, model.actions, device=device)

    @torch.no_grad()
    def see(self, x: Tensor, began: Tensor, generator: torch.Generator | None = None) -> None:
        """Carry every state on and recognise it; without a generator as the likeliest one."""
        world, dynamics = self._model.world, self._model.world.dynamics
        kept = (~began).float()[:, None].to(x.device)
        done = F.one_hot(self.actions, self._model.actions).float() * kept
        carried = dynamics.go_on(self.state.where(kept), done)
        seen = world.sight.encode(newest(x))
        recognised = dynamics.posterior(carried, seen, torch.zeros(len(x), device=x.device))
        ringing = None if generator is None else noise(tuple(recognised.shape), generator, x.device)
        self.state = State(carried, draw(recognised, ringing))
        self._probabilities = self._model.policy(self.state.features)

    def values(self) -> Tensor:
        """The probability of each action."""
        return self._probabilities

    def act(self, generator: torch.Generator | None = None) -> Tensor:
        """Drawn from the policy, or its likeliest action; what is done is remembered."""
        return self.do(self._probabilities.argmax(1) if generator is None else choose(self._probabilities, generator))

    def do(self, actions: Tensor) -> Tensor:
        """Remember that these actions are done instead."""
        self.actions = actions
        return actions


def choose(probabilities: Tensor, generator: torch.Generator | None) -> Tensor:
    """One action a row, int64[n]."""
    return (probabilities / noise(tuple(probabilities.shape), generator, probabilities.device)).argmax(-1)
