"""What a learner is, and what a worker's experience is.

A **learner** holds a model and the maths that turns a batch of transitions into a loss. An **experience** is the side
of an algorithm that lives in a worker: how it acts while it learns, what it remembers, and which minibatches it makes
of that. Moving gradients and weights is none of their business: `distributed` does that for all algorithms alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from torch import Tensor

from mario_rl.models.base import Model

__all__ = ["Experience", "InParts", "LaneSteps", "Learner", "Metrics", "TrainedPart"]

Array = npt.NDArray[Any]
Metrics = dict[str, float]


@dataclass(slots=True)
class LaneSteps:
    """One step of all lanes of a worker; every array has one row a lane."""

    observations: Array
    actions: npt.NDArray[np.int64]
    rewards: npt.NDArray[np.float32]  # scaled
    next_observations: Array  # what really followed: where an episode ended, its last observation
    terminated: npt.NDArray[np.bool_]  # the episode is over, nothing follows
    truncated: npt.NDArray[np.bool_]  # the episode was cut, so its future is still worth something


@dataclass(frozen=True)
class TrainedPart:
    """Some of the trained weights that a coordinator clips and steps apart from the others."""

    name: str
    size: int  # numbers, in the order in which they lie in the flat vector
    lr: float  # at the start; it falls as the run's own learning rate does
    max_grad_norm: float


@runtime_checkable
class InParts(Protocol):
    """What a learner has whose weights are not all trained alike."""

    def parts(self) -> list[TrainedPart]:
        """All parts, in order."""


class Learner(Protocol):
    """The maths of an algorithm."""

    @property
    def model(self) -> Model:
        """The model it trains."""

    def compute_loss(
        self,
        states: Tensor,
        actions: Tensor,
        rewards: Tensor,
        next_states: Tensor,
        dones: Tensor,
        gamma: float | Tensor = 0.99,
    ) -> tuple[Tensor, Metrics]:
        """The loss of a batch, to be minimised, and what is worth knowing about it.

        `rewards` are n-step returns where the algorithm has them; then `gamma` holds each row's discount of
        `next_states`. `dones` are 1 where nothing follows.
        """

    def imitation_loss(self, states: Tensor, actions: Tensor) -> Tensor:
        """How far the model is from doing what was demonstrated, to be minimised (`--curriculum demo`)."""

    def update_targets(self, tau: float = 0.005) -> None:
        """Move target networks this far towards the online ones (nothing, if there are none)."""


class Experience(Protocol):
    """What a worker knows: acts, remembers, makes losses."""

    lockstep: bool
    """Whether every gradient must be computed on the newest weights (on-policy), or may be a little behind."""

    waits: bool
    """Whether a worker waits for new weights after each gradient; always true in lockstep."""

    def act(self, observations: Array, progress: float, steps: int) -> npt.NDArray[np.int64]:
        """Actions for all lanes. `progress` is the share of the run that is done, `steps` the environment's so far."""

    def record(self, steps: LaneSteps) -> None:
        """Remember one step of all lanes: the answer to the actions that `act` gave last."""

    def losses(self, progress: float) -> Iterator[tuple[Tensor, Metrics]]:
        """The minibatch losses due after a collection. The weights may change between two of them."""

    def state_dict(self) -> dict[str, Any]:
        """Everything remembered, random generators included; loads with `weights_only=True`."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken."""
