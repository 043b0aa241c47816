"""One float32 vector summed between two processes, three ways: both give theirs, both get the sum.

That is what `torch.distributed` calls an all-reduce. Each way is an object in this process with a partner process.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed

from benchmarks.worker import Answer, timed
from mario_rl.distributed.process import become_child
from mario_rl.distributed.run_memory import MemoryPlan, RunMemory

PATIENCE = 60.0  # seconds; a partner that does not answer within is dead
OURS, THEIRS = 1.0, 2.0  # what the two vectors are full of


class Exchange(ABC):
    """A way to sum vectors with a partner process; measured by how often a second that can be done."""

    def __init__(self, size: int, partner: Callable[..., None], *arguments: Any) -> None:
        self.gradient = np.full(size, OURS, np.float32)
        self.sum = np.zeros(size, np.float32)
        process = multiprocessing.get_context("spawn").Process(
            target=partner, args=(os.getpid(), size, *arguments), daemon=True
        )
        process.start()
        self.partner = process

    @abstractmethod
    def exchange(self) -> None:
        """Send `gradient`, have the partner add its own, receive `sum`."""

    def measure(self, seconds: float) -> Answer:
        """Exchanges per second; the first one is checked."""
        self.exchange()
        if not np.all(self.sum == OURS + THEIRS):
            raise AssertionError(f"{type(self).__name__} got the sum wrong")
        return timed(self._exchange_once, seconds)

    def _exchange_once(self) -> int:
        self.exchange()
        return 1

    def close(self) -> None:
        """End the partner."""
        self.partner.kill()
        self.partner.join()


class SharedMemoryExchange(Exchange):
    """Ours: a gradient pool there, weights back, a doorbell each way."""

    def __init__(self, size: int) -> None:
        plan = MemoryPlan.of_run("bench.exchange", workers=1, gradient_size=size, weights_size=size)
        self._memory = RunMemory(plan, create=True)
        self._version = -1
        super().__init__(size, _shared_memory_partner, plan)

    def exchange(self) -> None:
        self._memory.gradients.write(0, self.gradient, step=0, weight_version=self._version, loss=0.0)
        self._memory.plan.gradient_bell.ring()
        while (version := self._memory.weights.read_into(self.sum, newer_than=self._version)) is None:
            if not self._memory.plan.worker_bells[0].wait(PATIENCE):
                raise TimeoutError("the partner does not answer")
        self._version = version

    def close(self) -> None:
        super().close()
        self._memory.close()


def _shared_memory_partner(parent_pid: int, size: int, plan: MemoryPlan) -> None:
    become_child(parent_pid)
    memory = RunMemory(plan)
    gradient, total = np.full(size, THEIRS, np.float32), np.zeros(size, np.float32)
    for version in range(2**62):
        while not memory.gradients.ready():
            plan.gradient_bell.wait(PATIENCE)
        np.copyto(total, gradient)
        memory.gradients.add_into(0, total)
        memory.gradients.release(0)
        memory.weights.publish(total, version)
        plan.worker_bells[0].ring()


class PipeExchange(Exchange):
    """A multiprocessing pipe each way."""

    def __init__(self, size: int) -> None:
        self._pipe, far_end = multiprocessing.get_context("spawn").Pipe()
        super().__init__(size, _pipe_partner, far_end)

    def exchange(self) -> None:
        self._pipe.send_bytes(memoryview(self.gradient).cast("B"))
        self._pipe.recv_bytes_into(memoryview(self.sum).cast("B"))


def _pipe_partner(parent_pid: int, size: int, pipe: Connection) -> None:
    become_child(parent_pid)
    gradient, total = np.full(size, THEIRS, np.float32), np.zeros(size, np.float32)
    while True:
        pipe.recv_bytes_into(memoryview(total).cast("B"))
        total += gradient
        pipe.send_bytes(memoryview(total).cast("B"))


class GlooExchange(Exchange):
    """An all-reduce of `torch.distributed` over gloo, in place as it wants it."""

    def __init__(self, size: int) -> None:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # both are on this machine, whatever its name resolves to
        self._meeting_place = tempfile.TemporaryDirectory(prefix="mario-rl-gloo-")
        store = str(Path(self._meeting_place.name) / "store")
        super().__init__(size, _gloo_partner, store)
        _join_gloo(store, rank=0)
        self._tensor = torch.from_numpy(self.sum)

    def exchange(self) -> None:
        self.sum.fill(OURS)
        torch.distributed.all_reduce(self._tensor)

    def close(self) -> None:
        super().close()
        torch.distributed.destroy_process_group()
        self._meeting_place.cleanup()


def _gloo_partner(parent_pid: int, size: int, store: str) -> None:
    become_child(parent_pid)
    _join_gloo(store, rank=1)
    tensor = torch.zeros(size)
    while True:
        tensor.fill_(THEIRS)
        torch.distributed.all_reduce(tensor)


def _join_gloo(store: str, rank: int) -> None:
    torch.distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)


EXCHANGES: dict[str, type[Any]] = {"shm": SharedMemoryExchange, "gloo": GlooExchange, "pipe": PipeExchange}
