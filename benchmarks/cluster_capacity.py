"""How many gradients a coordinator takes: a real one, and senders that do nothing but send.

A sender is an actor with a worker's end of the line (`ClusterExchange`). It sends the same gradient over and over, each
as soon as the one before was answered, and fetches the weights that the answer names, as DDQN's workers do. The
coordinator averages what is on offer, steps Adam and publishes. So neither consoles nor networks keep it waiting.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
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
from mario_rl.distributed.coordinator import Totals, TrainingCoordinator
from mario_rl.distributed.worker import Gradient
from mario_rl.emulators.rom import find_rom

SETTLING_SECONDS = 0.3  # of sending, before and after what counts


class GradientSender:
    """An actor that sends without end, to any of the coordinators that it knows."""

    def __init__(self, index: int) -> None:
        self._index = index
        self._lines: dict[str, tuple[ClusterExchange, Gradient, Any]] = {}

    def know(self, name: str, coordinator: Any, trained: int, whole: int, precision: str) -> None:
        """Join that coordinator's workers."""
        sender, events = Sender(self._index, 0), RelayedEvents(f"worker_{self._index}")
        exchange = ClusterExchange(coordinator, sender, events, trained, False, precision)
        exchange.join({})
        numbers = np.random.default_rng(self._index).normal(size=trained).astype(np.float32)
        self._lines[name] = (exchange, Gradient(numbers, 0.0), np.zeros(whole, np.float32))

    def send(self, name: str, seconds: float) -> None:
        """For so long."""
        exchange, gradient, weights = self._lines[name]
        until = time.perf_counter() + seconds
        while time.perf_counter() < until and exchange.running():
            exchange.send(gradient)
            exchange.fetch(weights, trained_only=True)
        exchange.await_update()


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
        (self._raylet,) = [child for child in psutil.Process().children() if child.name() == "raylet"]

    def _start(self, rom_file: str, load: Load) -> None:
        senders = len(self._senders)
        config = endless_config(rom_file, senders, "laptop", model=load.model, precision=load.precision, **NEVER)
        flat = TrainingCoordinator(config).flat
        actor: Any = ray.remote(CoordinatorActor).options(num_cpus=1, max_concurrency=4 * senders + 64).remote()
        files = {ROM: find_rom("smb", config.rom).read_bytes()}
        self._ends.append(actor.run.remote(ClusterPlan(config, Totals()), 0, files))
        known = (actor, flat.trained_size, flat.size, load.precision)
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
