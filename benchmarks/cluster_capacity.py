"""How many gradients a coordinator takes: a real one, and senders that do nothing but send.

A sender is an actor with a worker's end of the line (`ClusterExchange`). It sends the same gradient over and over, each
as soon as the one before was answered, and fetches the weights that the answer names. The coordinator averages what is
on offer (ppo: one of each sender), steps Adam and publishes. So neither consoles nor networks keep it waiting.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import psutil
import ray

from benchmarks.cluster_runs import Load
from benchmarks.cluster_training import NEVER, progress
from benchmarks.gradient_training import endless_config
from benchmarks.worker import Answer
from mario_rl.cluster.coordinator_actor import CoordinatorActor
from mario_rl.cluster.exchange import ClusterExchange
from mario_rl.cluster.messages import ClusterPlan, Sender
from mario_rl.cluster.node import ROM
from mario_rl.cluster.relayed_events import RelayedEvents
from mario_rl.config import TrainingConfig
from mario_rl.distributed.coordinator import Totals, TrainingCoordinator
from mario_rl.distributed.worker import Gradient
from mario_rl.emulators.rom import find_rom
from mario_rl.learners.registry import algorithm

SETTLING_SECONDS = 0.3  # of sending, before and after what counts
GRADIENTS_A_ROUND = 16  # where workers begin rounds together


class GradientSender:
    """An actor that sends without end, to any of the coordinators that it knows."""

    def __init__(self, index: int) -> None:
        self._index = index
        self._lines: dict[str, _Line] = {}

    def know(self, name: str, coordinator: Any, config: TrainingConfig, flat: tuple[int, int]) -> None:
        """Be ready to send to that coordinator, whose weights are so many: trained, and all."""
        sender, events = Sender(self._index, 0), RelayedEvents(f"worker_{self._index}")
        (trained, whole), how = flat, algorithm(config)
        exchange = ClusterExchange(coordinator, sender, events, trained, how.lockstep, config.precision)
        gradient = Gradient(np.random.default_rng(self._index).normal(size=trained).astype(np.float32), 0.0)
        weights = np.zeros(whole, np.float32)
        self._lines[name] = _Line(coordinator, exchange, how.experience.waits, gradient, weights)

    def send(self, name: str, seconds: float) -> None:
        """For so long; then be one that nobody waits for."""
        line = self._lines[name]
        exchange = line.exchange
        exchange.join({})
        until, sent = time.perf_counter() + seconds, 0
        while time.perf_counter() < until and exchange.running():
            if sent % GRADIENTS_A_ROUND == 0:
                exchange.begin_round()
            exchange.send(line.gradient)
            if line.waits:
                exchange.await_update()
            exchange.fetch(line.weights, trained_only=True)
            sent += 1
        exchange.await_update()
        ray.get(line.coordinator.forget.remote(self._index))


@dataclass(frozen=True)
class _Line:
    coordinator: Any
    exchange: ClusterExchange
    waits: bool  # for the answer to a gradient before the next one is begun
    gradient: Gradient
    weights: npt.NDArray[np.float32]


class Capacity:
    """Coordinators and senders on the cluster that this process has joined."""

    def __init__(self, rom_file: str, loads: Sequence[Load]) -> None:
        self._senders = [
            ray.remote(GradientSender).options(num_cpus=1).remote(index)
            for index in range(max(load.senders for load in loads))
        ]
        self._coordinators: dict[str, Any] = {}
        self._ends: list[Any] = []
        for load in {load.coordinator: load for load in loads}.values():
            self._start(rom_file, load)
        ray.get([actor.following.remote() for actor in self._coordinators.values()])  # once they have their models
        (self._raylet,) = [child for child in psutil.Process().children() if child.name() == "raylet"]

    def _start(self, rom_file: str, load: Load) -> None:
        senders = len(self._senders)
        config = endless_config(rom_file, senders, "laptop", model=load.model, precision=load.precision, **NEVER)
        flat = TrainingCoordinator(config).flat
        actor: Any = ray.remote(CoordinatorActor).options(num_cpus=1, max_concurrency=4 * senders + 64).remote()
        files = {ROM: find_rom("smb", config.rom).read_bytes()}
        self._ends.append(actor.run.remote(ClusterPlan(config, Totals()), 0, files))
        known = (actor, config, (flat.trained_size, flat.size))
        ray.get([sender.know.remote(load.coordinator, *known) for sender in self._senders])
        self._coordinators[load.coordinator] = actor

    def measure(self, load: Load, seconds: float) -> Answer:
        """What the coordinator takes from so many senders; CPU times of its process, and of the raylet beside it."""
        whole = seconds + 2 * SETTLING_SECONDS
        sending = [sender.send.remote(load.coordinator, whole) for sender in self._senders[: load.senders]]
        time.sleep(SETTLING_SECONDS)
        before = self._counted(load)
        time.sleep(seconds)
        after = self._counted(load)
        ray.get(sending)
        return {name: after[name] - before[name] for name in after}

    def _counted(self, load: Load) -> Answer:
        counted = ray.get(self._coordinators[load.coordinator].__ray_call__.remote(progress))
        times = self._raylet.cpu_times()
        return counted | {"raylet_cpu_s": times.user + times.system}

    def close(self) -> None:
        """End the coordinators as a run's parent does, and wait for them."""
        for actor in self._coordinators.values():
            actor.order.remote(stop=True, pause=False)
        ray.wait(self._ends, num_returns=len(self._ends), timeout=10)
