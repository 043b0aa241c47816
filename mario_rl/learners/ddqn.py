"""Dueling double DQN: the loss, the target network, and a worker's side with lane epsilons and n-step replay.

Double Q-learning: van Hasselt et al. 2016. Prioritised replay: Schaul et al. 2016. Epsilons per lane: Horgan et al.
2018 (Ape-X), section 3. The network is in `models/ddqn.py`, the returns and the sampling in `replay/buffer.py`.
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
from mario_rl.models.base import Model
from mario_rl.models.ddqn import DdqnModel
from mario_rl.replay.buffer import ReplayBuffer

__all__ = ["DdqnExperience", "DdqnLearner", "lane_epsilons"]

MARGIN = 0.1  # by which a demonstrated action is to be better than the others: what a step to the right pays


class DdqnLearner:
    """The maths (see `Learner`)."""

    def __init__(self, config: TrainingConfig, model: Model):
        self.config = config
        self.model = cast(DdqnModel, model)
        self._online, self._target = list(self.model.online.parameters()), list(self.model.target.parameters())
        self.td_errors: npt.NDArray[np.float32] = np.zeros(0, np.float32)  # of the last batch, for its priorities

    def compute_loss(
        self,
        states: Tensor,
        actions: Tensor,
        rewards: Tensor,
        next_states: Tensor,
        dones: Tensor,
        gamma: float | Tensor = 0.99,
        weights: Tensor | None = None,
    ) -> tuple[Tensor, Metrics]:
        """Huber loss between Q and the double-Q target, weighted by importance if `weights` are given."""
        q_of_all = self.model.forward(states)
        q = q_of_all.gather(1, actions[:, None])[:, 0]
        with torch.no_grad():  # the online network chooses, the target network judges
            best = self.model.forward(next_states).argmax(dim=1, keepdim=True)
            judged = self.model.forward(next_states, "target")
            slips = self.config.target_epsilon
            future = (1 - slips) * judged.gather(1, best)[:, 0] + slips * judged.mean(dim=1)
            wanted = rewards + gamma * (1 - dones) * future
        losses = F.smooth_l1_loss(q, wanted, reduction="none")
        loss = losses.mean() if weights is None else (losses * weights).mean()

        errors = (wanted - q).detach().abs()
        self.td_errors = errors.cpu().numpy()
        return loss, {
            "loss": loss.item(),
            "q_mean": q.mean().item(),
            "q_max": q_of_all.max().item(),
            "td_error": errors.mean().item(),
        }

    def imitation_loss(self, states: Tensor, actions: Tensor) -> Tensor:
        """By how much the demonstrated action is not the best by a margin (Hester et al. 2018, eq. 2)."""
        q = self.model.forward(states)
        own = q.gather(1, actions[:, None])
        margins = torch.full_like(q, MARGIN).scatter_(1, actions[:, None], 0.0)
        return ((q + margins).amax(dim=1) - own[:, 0]).mean()

    def update_targets(self, tau: float = 0.005) -> None:
        """Move the target network by tau towards the online one."""
        torch._foreach_lerp_([p.data for p in self._target], [p.data for p in self._online], tau)


def lane_epsilons(config: TrainingConfig, worker: int) -> Tensor:
    """Each lane's own chance of a random action, float32[lanes].

    The lanes of all workers lie geometrically between epsilon_max and epsilon_min; each worker has some of every kind.
    """
    workers = max(config.workers, 1)
    every = np.geomspace(max(config.epsilon_max, 1e-6), max(config.epsilon_min, 1e-6), workers * config.lanes)
    return torch.tensor(every[worker::workers], dtype=torch.float32)


class DdqnExperience:
    """A worker's replay and its curiosity (see `Experience`)."""

    lockstep = False
    waits = False

    def __init__(self, config: TrainingConfig, learner: DdqnLearner, space: spaces.Box, worker: int):
        self.config = config
        self.learner = learner
        self.epsilons = lane_epsilons(config, worker)
        self.epsilon = 1.0  # the mean over the lanes, for people
        seed = np.random.SeedSequence([config.seed, worker])
        replay_seed, action_seed = (int(child.generate_state(1)[0]) for child in seed.spawn(2))
        self.generator = torch.Generator().manual_seed(action_seed)
        self.replay = ReplayBuffer(
            capacity=config.buffer_size,
            lanes=config.lanes,
            space=space,
            n_step=config.n_step,
            gamma=config.gamma,
            alpha=config.priority_alpha,
            seed=replay_seed,
        )

    def act(self, observations: Array, progress: float, steps: int) -> npt.NDArray[np.int64]:
        """Epsilon-greedy on the online network, every lane with its own epsilon."""
        falling = 1 - steps / self.config.epsilon_steps if self.config.epsilon_steps else 0.0
        epsilons = self.epsilons.clamp(min=max(falling, 0.0))
        self.epsilon = epsilons.mean().item()
        states = torch.from_numpy(observations).to(self.config.device)
        return self.learner.model.select_action(states, epsilons, self.generator, "online").cpu().numpy()

    def record(self, steps: LaneSteps) -> None:
        """Into the replay."""
        self.replay.add(steps)

    def losses(self, progress: float) -> Iterator[tuple[Tensor, Metrics]]:
        """`gradients_per_collect` x `accumulate_grads` minibatches, once the replay holds enough."""
        if self.replay.sampleable < max(self.config.learning_starts, self.config.batch_size):
            return
        beta = self.config.priority_beta + (1 - self.config.priority_beta) * progress
        for _ in range(self.config.gradients_per_collect * self.config.accumulate_grads):
            batch = self.replay.sample(self.config.batch_size, beta)
            states, actions, rewards, next_states, dones, discounts, weights = (
                torch.from_numpy(array).to(self.config.device)
                for array in (
                    batch.states,
                    batch.actions,
                    batch.rewards,
                    batch.next_states,
                    batch.dones,
                    batch.discounts,
                    batch.weights,
                )
            )
            loss, metrics = self.learner.compute_loss(
                states, actions, rewards, next_states, dones, discounts, weights if self.config.priority_alpha else None
            )
            if self.config.priority_alpha:
                self.replay.update_priorities(batch.indices, self.learner.td_errors)
            yield loss, metrics | {"replay_size": float(len(self.replay)), "beta": beta, "epsilon": self.epsilon}

    def state_dict(self) -> dict[str, Any]:
        """The replay and both random generators."""
        return {"replay": self.replay.state_dict(), "generator": self.generator.get_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken."""
        self.replay.load_state_dict(state["replay"])
        self.generator.set_state(state["generator"])
