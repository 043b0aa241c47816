"""A worker: plays its lanes, makes gradients of what it saw, sends them, takes new weights.

`TrainingWorker` is all of that without processes; `work` is the body of a worker process. Who receives the gradients is
an `Exchange`: shared memory for processes (`exchange.py`), or the coordinator itself where there is only one process
(`in_process.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mario_rl.bytes_in_checkpoints import bytes_as_tensors, tensors_as_bytes
from mario_rl.config import TrainingConfig
from mario_rl.distributed.curriculum import Curriculum
from mario_rl.distributed.events import Events
from mario_rl.environment.actions import pad_table
from mario_rl.environment.smb.observation import OBSERVATIONS
from mario_rl.environment.smb.vector import SmbVectorEnv
from mario_rl.learners.base import LaneSteps
from mario_rl.learners.registry import build_experience, build_learner, build_model
from mario_rl.metrics.collectors import worker_collectors
from mario_rl.metrics.logger import MetricLogger
from mario_rl.metrics.schema import Values
from mario_rl.models.flat import FlatModel

PUBLISH_EVERY_SENDS = 5
PUBLISH_AT_MOST_EVERY = 0.5  # seconds: people cannot read faster, and files stay small
PUBLISH_AT_LEAST_EVERY = 2.0  # seconds: a worker that only collects is heard of, too

Vector = npt.NDArray[np.float32]


@dataclass(slots=True)
class Gradient:
    """What a worker sends. `vector` is the worker's own memory: copy it before the next one is computed."""

    vector: Vector
    loss: float


class Exchange(Protocol):
    """A worker's line to the coordinator."""

    def join(self, values: Values) -> None:
        """Take part from now on; on-policy workers begin together. `values` are the metrics at the start."""

    def running(self) -> bool:
        """Whether to go on. Waits here while the run is paused; tells the supervisor that the worker is alive."""

    def run_steps(self) -> int:
        """Environment steps of the whole run so far."""

    def begin_round(self) -> None:
        """Say that a collection begins."""

    def fetch(self, weights: Vector, trained_only: bool = False) -> int | None:
        """Copy the newest weights and give their version; None if they are those that were fetched last.

        `trained_only` leaves target networks as they are: they change slowly, and are half of all weights.
        """

    def send(self, gradient: Gradient) -> None:
        """Hand a gradient over; waits until the one before has been taken."""

    def await_update(self) -> None:
        """Wait for the weights that come after the gradient sent last."""

    def note(self, values: Values) -> None:
        """Make the worker's counters known."""

    def save_wanted(self) -> bool:
        """Whether a state of this worker is asked for (once per request)."""


class TrainingWorker:
    """The lanes, the experience and the gradients of one worker."""

    def __init__(self, config: TrainingConfig, index: int, events: Events, curriculum: Curriculum | None = None):
        self.config = config
        self.events = events
        self.curriculum = curriculum or Curriculum()
        self.env = SmbVectorEnv(config.lanes, starts=self.curriculum.starts, **config.environment())
        space = OBSERVATIONS[config.observation].space
        model = build_model(config, space, len(pad_table(config.actions)))
        model.to(config.device)
        self.flat = FlatModel(model)
        self.learner = build_learner(config, model)
        self.experience = build_experience(config, self.learner, space, index)
        self.collector = worker_collectors(config)
        self.logger: MetricLogger | None = None
        # lanes of different workers, and runs of different seeds, must not share streams of random numbers
        seed = int(np.random.SeedSequence([config.seed, index, 1]).generate_state(1)[0])
        self.observations, _ = self.env.reset(seed=seed)
        self.weight_version = 0
        self._incoming = self.flat.weights_array()  # on the CPU this is the model's own memory
        self._sends = 0
        self._published = time.monotonic()

    def take_weights(self, exchange: Exchange, trained_only: bool = False) -> None:
        """Go on with the newest weights."""
        version = exchange.fetch(self._incoming, trained_only)
        if version is not None:
            self.weight_version = version
            if self.config.device != "cpu":
                self.flat.load_weights(self._incoming)

    def collect(self, run_steps: int) -> None:
        """Play `collect_steps` steps on every lane."""
        for _ in range(self.config.collect_steps):
            actions = self.experience.act(self.observations, self.progress(run_steps), run_steps)
            following, rewards, terminated, truncated, infos = self.env.step(actions)
            steps = LaneSteps(
                self.observations,
                actions,
                rewards * np.float32(self.config.reward_scale),
                true_successors(following, infos),
                terminated,
                truncated,
            )
            self.experience.record(steps)
            self.collector.on_steps(steps, infos)
            self.observations = following

    def gradients(self, run_steps: int) -> Iterator[Gradient]:
        """The gradients due after a collection. The weights may be replaced between two of them."""
        minibatches = self.config.accumulate_grads
        progress = self.progress(run_steps)
        self.flat.zero_gradient()
        loss_sum, count = 0.0, 0
        for loss, metrics in self.experience.losses(progress):
            imitation = self.curriculum.imitation_loss(self.learner, progress)
            loss = loss if imitation is None else loss + imitation
            (loss / minibatches).backward()  # type: ignore[no-untyped-call]
            loss_sum, count = loss_sum + metrics["loss"], count + 1
            if count == minibatches:
                self.collector.on_gradient(metrics | {"loss": loss_sum / count, "weight_version": self.weight_version})
                yield Gradient(self.flat.gradient_array(), loss_sum / count)
                self.flat.zero_gradient()
                self._sends += 1
                loss_sum, count = 0.0, 0

    def publish(self) -> None:
        """Write and send the metrics if it is time, and the deaths since the last time."""
        waited = time.monotonic() - self._published
        due = waited > PUBLISH_AT_MOST_EVERY and self._sends % PUBLISH_EVERY_SENDS == 0
        if due or waited > PUBLISH_AT_LEAST_EVERY:
            self._published += waited
            self._publish_now()

    def _publish_now(self) -> None:
        if self.logger is not None:
            self.logger.log(self.collector.values())
        deaths = self.collector.take_deaths()
        if deaths:
            self.events.deaths(deaths)

    def progress(self, run_steps: int) -> float:
        """The share of the schedules that is done."""
        return min(run_steps / self.config.schedule_steps, 1.0)

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to go on exactly here, between two rounds."""
        return {
            "environment": bytes_as_tensors(self.env.state_dict()),
            "experience": self.experience.state_dict(),
            "collector": self.collector.state_dict(),
            "curriculum": self.curriculum.state_dict(),
        }

    def continue_from(self, values: Values) -> None:
        """Go on from the last known metrics alone."""
        self.collector.continue_from(values)
        self.curriculum.continue_from(values)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` was taken."""
        self.env.load_state_dict(tensors_as_bytes(state["environment"]))
        self.observations = self.env.current_observation()
        self.experience.load_state_dict(state["experience"])
        self.collector.load_state_dict(state["collector"])
        if "curriculum" in state:  # runs of before there were any have none
            self.curriculum.load_state_dict(state["curriculum"])

    def close(self) -> None:
        """Publish a last time, finish the CSV file, leave what others can use, and free the consoles."""
        self._publish_now()
        self.curriculum.close()
        if self.logger is not None:
            self.logger.close()
        self.env.close()


def true_successors(following: npt.NDArray[Any], infos: dict[str, Any]) -> npt.NDArray[Any]:
    """What followed each observation: where an episode ended, its last observation, not the next one's first."""
    if "_final_obs" not in infos:
        return following
    successors = following.copy()
    for lane in np.flatnonzero(infos["_final_obs"]):
        successors[lane] = infos["final_obs"][lane]
    return successors


def work(worker: TrainingWorker, exchange: Exchange, save: Callable[[], None]) -> None:
    """The body of a worker process."""
    exchange.join(worker.collector.values())
    while exchange.running():
        exchange.begin_round()
        worker.take_weights(exchange)
        worker.collect(exchange.run_steps())
        for gradient in worker.gradients(exchange.run_steps()):
            exchange.send(gradient)
            worker.publish()
            if worker.experience.waits:
                exchange.await_update()
            worker.take_weights(exchange, trained_only=not worker.experience.waits)
            if not exchange.running():
                break
        worker.publish()
        worker.curriculum.between_rounds()
        exchange.note(worker.collector.values())
        if exchange.save_wanted():
            save()
