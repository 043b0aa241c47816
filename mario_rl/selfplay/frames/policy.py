"""The network as a policy of Stable-Baselines3."""

from __future__ import annotations

from typing import Any

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.distributions import Distribution
from stable_baselines3.common.policies import ActorCriticPolicy
from torch import Tensor

from mario_rl.selfplay.frames.network import Thought, make_network

ACTOR, CRITIC = 0, 1  # the optimiser's groups


class FramesPolicy(ActorCriticPolicy):
    """SB3's actor-critic interface around a `FramesNetwork`; it has no other parameters."""

    def __init__(self, *arguments: Any, kind: str, width: int, certainty: float, **keywords: Any):
        self._network_settings = kind, width, certainty
        super().__init__(*arguments, **keywords)

    def _build(self, lr_schedule: Any) -> None:
        self.network = make_network(*self._network_settings)
        groups: dict[bool, list[Any]] = {False: [], True: []}
        for name, weights in self.network.named_parameters():
            groups[name.startswith("critic")].append(weights)
        parameters = [{"params": groups[False]}, {"params": groups[True]}]  # in the order of ACTOR and CRITIC
        self.optimizer = self.optimizer_class(parameters, lr=lr_schedule(1), **self.optimizer_kwargs)  # type: ignore[call-arg]

    def forward(self, obs: Any, deterministic: bool = False) -> tuple[Tensor, Tensor, Tensor]:
        """Actions, values and log-probabilities."""
        thought = self.network(obs)
        distribution = self._distribution(thought)
        actions = thought.decided() if deterministic else distribution.get_actions()
        return actions, thought.value[:, None], distribution.log_prob(actions)

    def evaluate_actions(self, obs: Any, actions: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """Values, log-probabilities and entropies."""
        thought = self.network(obs)
        distribution = self._distribution(thought)
        return thought.value[:, None], distribution.log_prob(actions), distribution.entropy()

    def get_distribution(self, obs: Any) -> Distribution:
        """Of the buttons."""
        return self._distribution(self.network(obs))

    def predict_values(self, obs: Any) -> Tensor:
        """[n, 1]"""
        return self.network(obs).value[:, None]

    def _predict(self, observation: Any, deterministic: bool = False) -> Tensor:
        with torch.no_grad():
            return self.forward(observation, deterministic)[0]

    def _distribution(self, thought: Thought) -> Distribution:
        return self.action_dist.proba_distribution(action_logits=thought.log_buttons)


class WarmPPO(PPO):
    """SB3's PPO for an actor that comes with skills and a critic that comes with none: each has its learning rate."""

    actor_lr: float

    def _update_learning_rate(self, optimizers: Any) -> None:
        super()._update_learning_rate(optimizers)
        self.policy.optimizer.param_groups[ACTOR]["lr"] = self.actor_lr
