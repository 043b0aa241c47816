"""The coordinator: averages the workers' gradients, steps the optimiser, publishes weights.

`TrainingCoordinator` is that without processes; `coordinate` is the body of the coordinator's process. Workers are
reached through `Workers`: shared memory for processes (`exchange.py`); where there is only one process, `in_process.py`
calls both sides. Metrics, evaluations and checkpoints are the `RunKeeper`'s (`keeper.py`).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from mario_rl.config import TrainingConfig
from mario_rl.environment.actions import pad_table
from mario_rl.environment.smb.observation import OBSERVATIONS
from mario_rl.learners.base import InParts, Learner, TrainedPart
from mario_rl.learners.registry import build_learner, build_model
from mario_rl.metrics.collectors import CoordinatorCollector
from mario_rl.models.flat import FlatModel

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Offer:
    """A worker's gradient where it lies: in its buffer, without a copy."""

    worker: int
    vector: Vector
    loss: float
    intact: Callable[[], bool] = lambda: True
    """Whether the buffer was left alone while it was read; false if its worker died and was replaced meanwhile."""


@dataclass(frozen=True)
class Totals:
    """What all workers together have done."""

    steps: int = 0
    episodes: int = 0
    flags: int = 0
    best_x: int = 0
    recent_episodes: int = 0  # the last 100 of each worker
    recent_flags: int = 0

    @property
    def flag_rate(self) -> float:
        """The share of recent episodes that reached the flag."""
        return self.recent_flags / self.recent_episodes if self.recent_episodes else 0.0


@dataclass
class Counters:
    """How far a run is; saved with it."""

    updates: int = 0
    steps: int = 0
    episodes: int = 0
    flags: int = 0
    seconds: float = 0.0  # of training, over all resumes
    grads_received: int = 0
    grads_nonfinite: int = 0
    grads_stale: int = 0
    first_flag_steps: int | None = None
    first_flag_seconds: float | None = None
    next_evaluation: int = 0  # environment steps
    best_rate: float = -1.0
    best_mean_x: float = -1.0
    best_steps: int = 0
    confirmed: bool = False  # an evaluation has reached stop_at, and a second, longer one, too


class Workers(Protocol):
    """The coordinator's line to the workers."""

    def gather(self, version: int) -> list[Offer]:
        """The gradients to average next; waits a moment, and may come back empty. `version` is that of the weights."""

    def release(self, offers: Sequence[Offer], spoilt: Sequence[int]) -> None:
        """Give the buffers back; `spoilt` are the workers whose gradients were not finite."""

    def publish(self, weights: Vector, version: int) -> None:
        """Make these the current weights."""

    def totals(self) -> Totals:
        """What they have done in the whole run."""

    def stopping(self) -> bool:
        """Whether the run is to end. Tells the supervisor that the coordinator is alive."""


class Keeper(Protocol):
    """Looks after the run."""

    def count(self, totals: Totals) -> None:
        """Take over what the workers have done, before the next update: schedules go by it."""

    def tick(self) -> None:
        """Do what is due between two updates."""


class TrainingCoordinator:
    """The weights of a run and what changes them."""

    def __init__(self, config: TrainingConfig):
        self.config = config
        torch.manual_seed(config.seed)
        model = build_model(config, OBSERVATIONS[config.observation].space, len(pad_table(config.actions)))
        model.to(config.device)
        self.flat = FlatModel(model)
        self.learner = build_learner(config, model)
        self.parts = _parts(config, self.flat, self.learner)
        self.optimiser = torch.optim.Adam(
            [{"params": [weights], "lr": part.lr} for part, weights in self.parts], eps=config.adam_eps, fused=True
        )
        self.counters = Counters(next_evaluation=config.evaluate_every)
        self.collector = CoordinatorCollector()
        self.version = 0  # of the weights; grows with every update, and never falls within a run
        # What people see, if the weights swing too much from one update to the next (Polyak & Juditsky 1992).
        self._average = self.flat.weights.detach().clone() if config.average else None
        self._sum = self.flat.gradient_array()  # on the CPU this is the optimiser's own memory

    def apply(self, offers: Sequence[Offer]) -> list[int]:
        """One update from these gradients; returns the workers whose gradients were not finite.

        The version grows even when no gradient was fit to be used, for workers wait for newer weights.
        """
        finite = [offer for offer in offers if _is_finite(offer)]
        spoilt = [offer.worker for offer in offers if offer not in finite]
        self.counters.grads_received += len(offers)
        self.counters.grads_nonfinite += len(spoilt)
        used = self._add_up(finite)
        self.version += 1
        if used:
            gradient = self.flat.gradient
            if self.config.device != "cpu":
                gradient.copy_(torch.from_numpy(self._sum))
            if len(used) > 1:
                gradient.mul_(1 / len(used))
            norm = self._clip()
            learning_rate = self.learning_rate()
            for (part, _), group in zip(self.parts, self.optimiser.param_groups, strict=True):
                group["lr"] = learning_rate * (part.lr / self.config.lr)
            self.optimiser.step()
            self.counters.updates += 1
            self._update_targets()
            if self._average is not None:
                self._average.lerp_(self.flat.weights.detach(), self.config.average)
            self.collector.observe(
                {
                    "updates": self.counters.updates,
                    "loss": sum(offer.loss for offer in used) / len(used),
                    "grad_norm": norm,
                    "lr": learning_rate,
                    "weight_version": self.version,
                    "workers_in": len(used),
                }
            )
        return spoilt

    def _clip(self) -> float:
        """Scale the gradient of every part down to its norm; the norm of them all before that."""
        squares = 0.0
        for part, weights in self.parts:
            assert weights.grad is not None
            norm = torch.linalg.vector_norm(weights.grad).item()
            squares += norm**2
            if norm > part.max_grad_norm:
                weights.grad.mul_(part.max_grad_norm / norm)
        return math.sqrt(squares)

    def _add_up(self, offers: Sequence[Offer]) -> Sequence[Offer]:
        """Sum gradients into `_sum`, without those that changed under our hands."""
        while offers:
            np.copyto(self._sum, offers[0].vector)
            for offer in offers[1:]:
                self._sum += offer.vector
            intact = [offer for offer in offers if offer.intact()]
            if len(intact) == len(offers):
                break
            offers = intact
        return offers

    def _update_targets(self) -> None:
        period = self.config.target_every
        if not period:
            self.learner.update_targets(self.tau())
        elif self.counters.updates % period == 0:
            self.learner.update_targets(1.0)

    def learning_rate(self) -> float:
        """From lr to lr_min over the run's steps."""
        return self._falling(self.config.lr, self.config.lr_min)

    def tau(self) -> float:
        """From tau to tau_min likewise: a target network that averages longer judges more calmly."""
        end = self.config.tau_min
        return self.config.tau if end is None else self._falling(self.config.tau, end)

    def _falling(self, start: float, end: float) -> float:
        """A cosine from start to end over the schedule (Loshchilov & Hutter 2017, eq. 5, one period)."""
        progress = min(self.counters.steps / self.config.schedule_steps, 1.0)
        return end + (start - end) * (1 + math.cos(math.pi * progress)) / 2

    def finished(self) -> bool:
        """Whether the run has done its steps, used its time or reached its goal."""
        return self.counters.confirmed or self.counters.steps >= self.config.steps or self._time_is_up()

    def _time_is_up(self) -> bool:
        return self.config.minutes is not None and self.counters.seconds >= 60 * self.config.minutes

    @contextmanager
    def to_be_seen(self) -> Iterator[None]:
        """Within, the model has the weights that are evaluated and kept: their average, where there is one."""
        if self._average is None:
            yield
            return
        trained = self.flat.weights.detach().clone()
        self.flat.weights.copy_(self._average)
        try:
            yield
        finally:
            self.flat.weights.copy_(trained)

    def weights_state(self) -> dict[str, Any]:
        """What weights.pt and best.pt hold."""
        with self.to_be_seen():
            return self._weights_state()

    def _weights_state(self) -> dict[str, Any]:
        return {
            "config": dataclasses.asdict(self.config),
            "model": {name: weights.cpu().clone() for name, weights in self.flat.model.state_dict().items()},
            "counters": dataclasses.asdict(self.counters),
        }

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint holds, but for the workers."""
        return self._weights_state() | {
            "average": None if self._average is None else self._average.cpu().clone(),
            "optimizer": self.optimiser.state_dict(),
            "collector": self.collector.state_dict(),
            "version": self.version,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` was taken."""
        self.flat.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimizer"])
        if self._average is not None:  # a run that had none begins one with its weights
            saved = state.get("average")
            self._average.copy_(self.flat.weights.detach() if saved is None else saved)
        self.collector.load_state_dict(state["collector"])
        self.counters = Counters(**state["counters"])
        self.version = state["version"]


def _parts(config: TrainingConfig, flat: FlatModel, learner: Learner) -> list[tuple[TrainedPart, nn.Parameter]]:
    """What is clipped and stepped together, and its weights: all, unless the learner has parts."""
    if not isinstance(learner, InParts):
        return [(TrainedPart("all", flat.trained_size, config.lr, config.max_grad_norm), flat.trained)]
    parts = learner.parts()
    sizes = [part.size for part in parts]
    weights = [nn.Parameter(piece) for piece in torch.split(flat.trained.detach(), sizes)]
    for piece, gradient in zip(weights, torch.split(flat.gradient, sizes), strict=True):
        piece.grad = gradient
    return list(zip(parts, weights, strict=True))


def _is_finite(offer: Offer) -> bool:
    """One pass without a temporary: a NaN or an infinity anywhere makes the sum of squares one, too."""
    return math.isfinite(offer.loss) and math.isfinite(float(np.dot(offer.vector, offer.vector)))


def coordinate(coordinator: TrainingCoordinator, workers: Workers, keeper: Keeper) -> None:
    """The body of the coordinator's process."""
    workers.publish(coordinator.flat.weights_array(), coordinator.version)
    while not workers.stopping() and not coordinator.finished():
        offers = workers.gather(coordinator.version)
        keeper.count(workers.totals())
        if offers and not coordinator.finished():
            spoilt = coordinator.apply(offers)
            workers.release(offers, spoilt)
            workers.publish(coordinator.flat.weights_array(), coordinator.version)
        keeper.tick()
