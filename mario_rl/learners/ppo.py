"""Proximal policy optimisation (Schulman et al. 2017) with generalised advantage estimates (Schulman et al. 2016).

A worker plays `collect_steps` steps on its lanes with one set of weights, then goes `epochs` times over that rollout in
minibatches. After each minibatch its gradient is averaged with those of the other workers and it gets the new weights
before it computes the next one, so no gradient is ever computed on old weights (`lockstep`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from torch import Tensor
from torch.nn import functional as F

from mario_rl.config import TrainingConfig
from mario_rl.learners.base import Array, LaneSteps, Metrics
from mario_rl.models.actor_critic import ActorCriticModel, draw
from mario_rl.models.base import Model

Floats = npt.NDArray[np.float32]

SMOOTHING = 0.1  # of demonstrated actions: the share of probability that goes to all


class PpoLearner:
    """The maths of a minibatch (see `Learner`)."""

    def __init__(self, config: TrainingConfig, model: Model):
        self.config = config
        self.model = cast(ActorCriticModel, model)
        self.entropy_weight = config.entropy

    def compute_loss(
        self,
        states: Tensor,
        actions: Tensor,
        rewards: Tensor,
        next_states: Tensor,
        dones: Tensor,
        gamma: float | Tensor = 0.99,
        old_log_probs: Tensor | None = None,
        advantages: Tensor | None = None,
        returns: Tensor | None = None,
    ) -> tuple[Tensor, Metrics]:
        """Clipped policy loss, value loss and entropy bonus of a minibatch.

        From a rollout come `old_log_probs`, `advantages` and `returns`. Without them the transitions count as freshly
        sampled, with the one-step error of the value as advantage: an actor-critic step.
        """
        logits, values = self.model.evaluate(states)
        every_log_prob = logits.log_softmax(dim=1)
        log_probs = every_log_prob.gather(1, actions[:, None])[:, 0]
        if returns is None:
            with torch.no_grad():
                returns = rewards + gamma * (1 - dones) * self.model.evaluate(next_states)[1]
        if advantages is None:
            advantages = (returns - values).detach()
        if old_log_probs is None:
            old_log_probs = log_probs.detach()
        if len(advantages) > 1:
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)

        # Schulman et al. 2017, eq. 7
        log_ratio = log_probs - old_log_probs
        ratio = log_ratio.exp()
        clipped = ratio.clamp(1 - self.config.clip_range, 1 + self.config.clip_range)
        policy_loss = -torch.minimum(ratio * advantages, clipped * advantages).mean()
        value_loss = F.mse_loss(values, returns)
        entropy = -(every_log_prob.exp() * every_log_prob).sum(dim=1).mean()
        loss = policy_loss + self.config.value_weight * value_loss - self.entropy_weight * entropy

        with torch.no_grad():
            return loss, {
                "loss": loss.item(),
                "policy_loss": policy_loss.item(),
                "value_loss": value_loss.item(),
                "entropy": entropy.item(),
                "approx_kl": ((ratio - 1) - log_ratio).mean().item(),  # Schulman's k3 estimator
                "clip_fraction": (ratio != clipped).float().mean().item(),
            }

    def imitation_loss(self, states: Tensor, actions: Tensor) -> Tensor:
        """Cross-entropy, smoothed: a demonstration is one good way, not the only one."""
        return F.cross_entropy(self.model.evaluate(states)[0], actions, label_smoothing=SMOOTHING)

    def update_targets(self, tau: float = 0.005) -> None:
        """There is no target network."""


def generalised_advantages(
    rewards: Floats, values: Floats, next_values: Floats, terminated: Array, ended: Array, gamma: float, lam: float
) -> Floats:
    """GAE over a rollout, all arrays [steps, lanes] (Schulman et al. 2016, eq. 16).

    `next_values` are the values of what really followed each step; they do not count where the episode `terminated`.
    Where it `ended`, for whatever reason, the next row belongs to another episode.
    """
    errors = rewards + gamma * next_values * ~terminated - values
    advantages = np.zeros_like(errors)
    following = np.zeros(errors.shape[1], errors.dtype)
    for step in reversed(range(len(errors))):
        following = errors[step] + gamma * lam * ~ended[step] * following
        advantages[step] = following
    return advantages


def explained_variance(values: Floats, returns: Floats) -> float:
    """1: the values foretell the returns; 0: no better than their mean."""
    spread = float(returns.var())
    return 1 - float((returns - values).var()) / spread if spread > 0 else 0.0


class PpoExperience:
    """A worker's current rollout (see `Experience`)."""

    lockstep = True
    waits = True

    def __init__(self, config: TrainingConfig, learner: PpoLearner, space: spaces.Box, worker: int):
        self.config = config
        self.learner = learner
        seed = np.random.SeedSequence([config.seed, worker])
        self.generator = torch.Generator().manual_seed(int(seed.generate_state(1)[0]))
        shape = (config.collect_steps, config.lanes)
        self.states = np.zeros((*shape, *space.shape), space.dtype)
        self.actions = np.zeros(shape, np.int64)
        self.log_probs, self.values, self.next_values, self.rewards = np.zeros((4, *shape), np.float32)
        self.terminated, self.ended = np.zeros((2, *shape), np.bool_)
        self.filled = 0
        self._last: tuple[npt.NDArray[np.int64], Floats, Floats] | None = None

    @torch.no_grad()
    def act(self, observations: Array, progress: float, steps: int) -> npt.NDArray[np.int64]:
        """Actions drawn from the policy."""
        logits, values = self.learner.model.evaluate(torch.from_numpy(observations).to(self.config.device))
        actions = draw(logits, self.generator)
        log_probs = logits.log_softmax(dim=1).gather(1, actions[:, None])[:, 0]
        self._last = actions.cpu().numpy(), log_probs.cpu().numpy(), values.cpu().numpy()
        return self._last[0]

    def record(self, steps: LaneSteps) -> None:
        """Append one row to the rollout."""
        assert self._last is not None, "act comes before record"
        row, self.filled = self.filled, self.filled + 1
        _, self.log_probs[row], self.values[row] = self._last
        self.states[row] = steps.observations
        self.actions[row] = steps.actions
        self.rewards[row] = steps.rewards
        self.terminated[row] = steps.terminated
        self.ended[row] = steps.terminated | steps.truncated
        if row > 0:
            going_on = ~self.ended[row - 1]
            self.next_values[row - 1, going_on] = self.values[row, going_on]
        cut = steps.truncated & ~steps.terminated
        if row == len(self.states) - 1:
            cut = cut | ~self.ended[row]
        if cut.any():
            self.next_values[row, cut] = self._value(steps.next_observations[cut])

    def losses(self, progress: float) -> Iterator[tuple[Tensor, Metrics]]:
        """`epochs` times over the rollout, in minibatches of shuffled transitions."""
        config = self.config
        advantages = generalised_advantages(
            self.rewards, self.values, self.next_values, self.terminated, self.ended, config.gamma, config.gae_lambda
        )
        returns = advantages + self.values
        explained = explained_variance(self.values, returns)
        self.filled = 0
        self.learner.entropy_weight = config.entropy_min + (config.entropy - config.entropy_min) * (1 - progress)

        rows = self.actions.size
        states = torch.from_numpy(self.states.reshape(rows, *self.states.shape[2:]))
        actions = torch.from_numpy(self.actions.reshape(rows))
        others = torch.from_numpy(np.stack([a.reshape(rows) for a in (self.log_probs, advantages, returns)]))
        for _ in range(config.epochs):
            order = torch.randperm(rows, generator=self.generator)
            for start in range(0, rows, config.batch_size):
                chosen = order[start : start + config.batch_size]
                old_log_probs, some_advantages, some_returns = others[:, chosen].to(config.device)
                some_states = states[chosen].to(config.device)
                loss, metrics = self.learner.compute_loss(
                    some_states,
                    actions[chosen].to(config.device),
                    some_returns,
                    some_states,  # not looked at: the returns are complete
                    torch.ones_like(some_returns),
                    config.gamma,
                    old_log_probs,
                    some_advantages,
                    some_returns,
                )
                yield loss, metrics | {"explained_variance": explained}

    @torch.no_grad()
    def _value(self, observations: Array) -> Floats:
        return self.learner.model.evaluate(torch.from_numpy(observations).to(self.config.device))[1].cpu().numpy()

    def state_dict(self) -> dict[str, Any]:
        """The random generator; between two rounds of learning there is no rollout."""
        return {"generator": self.generator.get_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken."""
        self.generator.set_state(state["generator"])
