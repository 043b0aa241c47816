"""Learning from demonstrations: a warm start by cloning, and a loss beside the algorithm's own that fades away.

What it means to imitate is the learner's affair (`Learner.imitation_loss`): a policy raises the probability of what was
demonstrated, Q-values prefer it by a margin.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from mario_rl.config import TrainingConfig
from mario_rl.learners.base import Learner
from mario_rl.models.flat import FlatModel
from mario_rl.snapshots.demonstration import Demonstration

CLONING_BATCH = 256
CLONING_RATE = 1e-3
BESIDE_BATCH = 64


class Demonstrations:
    """What was seen and pressed on routes, to be drawn from."""

    def __init__(self, config: TrainingConfig, shown: Sequence[Demonstration], seed: int):
        self.config = config
        self._observations = torch.from_numpy(np.concatenate([each.observations for each in shown]))
        self._actions = torch.from_numpy(np.concatenate([each.actions for each in shown]))
        self.generator = torch.Generator().manual_seed(seed)

    def weight(self, progress: float) -> float:
        """Of the loss beside the algorithm's own: falls to 0 over the first `imitation_until` of the run."""
        return self.config.imitation * max(1 - progress / self.config.imitation_until, 0.0)

    def loss(self, learner: Learner, progress: float) -> Tensor | None:
        """The loss to add to a minibatch's, weighted; None if it has faded away."""
        weight = self.weight(progress)
        return weight * learner.imitation_loss(*self.draw(BESIDE_BATCH)) if weight > 0 else None

    def draw(self, count: int) -> tuple[Tensor, Tensor]:
        """Observations and actions, at random."""
        chosen = torch.randint(len(self._actions), (count,), generator=self.generator)
        return self._observations[chosen].to(self.config.device), self._actions[chosen].to(self.config.device)


def clone(flat: FlatModel, learner: Learner, demonstrations: Demonstrations, steps: int) -> float:
    """Imitate before anything else is learned; the loss at the end. Target networks follow."""
    optimiser = torch.optim.Adam([flat.trained], CLONING_RATE)
    last = 0.0
    for _ in range(steps):
        flat.zero_gradient()
        loss = learner.imitation_loss(*demonstrations.draw(CLONING_BATCH))
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        last = loss.item()
    flat.zero_gradient()
    learner.update_targets(1.0)
    return last
