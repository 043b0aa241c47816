"""Real workers and a real coordinator, measured while they train: gradients per second, and what the exchange costs.

Runs stay alive between measurements, paused. The coordinator neither evaluates nor saves.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from multiprocessing.process import BaseProcess
from typing import Any

import torch

from benchmarks.measurement import say
from benchmarks.worker import Answer
from mario_rl import config as configuration
from mario_rl.config import TrainingConfig
from mario_rl.distributed.board import Board
from mario_rl.distributed.coordinator import Totals, TrainingCoordinator, coordinate
from mario_rl.distributed.doorbell import Doorbell
from mario_rl.distributed.events import LocalEvents
from mario_rl.distributed.exchange import SharedExchange, SharedWorkers
from mario_rl.distributed.process import run_child
from mario_rl.distributed.run_memory import MemoryPlan, RunMemory
from mario_rl.distributed.shared_memory import SharedBlock, block_name
from mario_rl.distributed.supervisor import Supervisor
from mario_rl.distributed.worker import TrainingWorker, work
from mario_rl.learners.registry import algorithm

WARM_UP_GRADIENTS = 20  # of every worker, before anything is measured
SETTLING_SECONDS = 0.3  # after a pause
TICK_SECONDS = 0.1
_EXCHANGE, _WHOLE = range(2)  # words of a worker's stopwatch


def endless_config(rom_file: str, workers: int, preset: str | None, **more: Any) -> TrainingConfig:
    """DDQN as `mario-rl train` has it with a preset, or with the defaults, without an end; `more` comes on top."""
    endless = {"model": "ddqn", "workers": workers, "rom": rom_file, "steps": 10**9, "lr_steps": 10**6}
    return configuration.build(endless | more, preset)


class EndlessRun(ABC):
    """A run that trains while it is measured, and is paused otherwise."""

    board: Board
    supervisor: Supervisor
    settling_seconds = SETTLING_SECONDS

    @abstractmethod
    def counted(self) -> Answer:
        """What has been done until now: gradients as `units`, and the clock, as `wall_s`."""

    @abstractmethod
    def close(self) -> None:
        """End the run."""

    def tick(self) -> None:
        """The supervisor's work of the moment."""
        if not self.supervisor.tick():
            raise RuntimeError("the run ended while it was measured")

    def tick_until(self, happened: Callable[[], bool]) -> None:
        """Look after the run until then."""
        while not happened():
            self.tick()
            time.sleep(TICK_SECONDS)

    def measure(self, seconds: float) -> Answer:
        """What was done within so many seconds."""
        self.board.control.pause = 0
        self._tick_for(self.settling_seconds)
        before = self.counted()
        self._tick_for(seconds)
        after = self.counted()
        self.board.control.pause = 1
        self.tick()  # where the board is told to others, this does it
        if self.board.total("restarts"):
            raise RuntimeError("a worker died while it was measured; its words are above")
        return {name: after[name] - before[name] for name in after}

    def _tick_for(self, seconds: float) -> None:
        end = time.perf_counter() + seconds
        self.tick_until(lambda: time.perf_counter() >= end)


class TrainingMeasurement(EndlessRun):
    """A run of so many worker processes.

    Beside gradients it counts `exchange_s`, the part of `worker_s`, all workers' time, that the exchange took.
    """

    def __init__(
        self,
        rom_file: str,
        workers: int,
        preset: str | None = None,
        warm_up_gradients: int = WARM_UP_GRADIENTS,
        **more: Any,
    ) -> None:
        self._config = endless_config(rom_file, workers, preset, **more)
        flat = TrainingCoordinator(self._config).flat
        name = f"bench.training.{self._config.model}.{preset or 'default'}{workers}"
        plan = MemoryPlan.of_run(name, workers, flat.trained_size, flat.size)
        self._memory = RunMemory(plan, create=True)
        self.board = self._memory.board
        self._stopwatches = _stopwatches(block_name(plan.run, "stopwatches"), workers, create=True)
        start = partial(_start, _ChildPlan(self._config, plan, self._stopwatches.name, os.getpid()))
        self.supervisor = Supervisor(
            partial(start, _worker),
            partial(start, _coordinator, workers),
            board=self.board,
            pool=self._memory.gradients,
            heartbeat=self._memory.heartbeat,
            last_words=self._memory.last_words,
            report=say_what_goes_wrong,
        )
        self.tick_until(lambda: all(row.grads_sent >= warm_up_gradients for row in self.board.workers))
        self.board.control.pause = 1

    def counted(self) -> Answer:
        """From the board and the stopwatches."""
        times = self._stopwatches.numbers(0, 2 * self._config.workers).tolist()
        return {
            "units": self.board.total("grads_sent"),
            "wall_s": time.perf_counter(),
            "worker_s": sum(times[_WHOLE::2]),
            "exchange_s": sum(times[_EXCHANGE::2]),
        }

    def close(self) -> None:
        """Let nothing stay of it."""
        self.supervisor.shutdown()
        self._memory.close()
        self._stopwatches.close()


@dataclasses.dataclass(frozen=True)
class _ChildPlan:
    config: TrainingConfig
    memory: MemoryPlan
    stopwatches: str
    parent_pid: int


def _start(plan: _ChildPlan, body: Callable[[_ChildPlan, RunMemory, int], None], index: int) -> BaseProcess:
    process = multiprocessing.get_context("spawn").Process(target=_run, args=(plan, body, index), daemon=True)
    process.start()
    return process


def _run(plan: _ChildPlan, body: Callable[[_ChildPlan, RunMemory, int], None], index: int) -> None:
    torch.set_num_threads(1)
    memory = RunMemory(plan.memory)
    run_child(lambda: body(plan, memory, index), index, memory.last_words, plan.parent_pid)


def _worker(plan: _ChildPlan, memory: RunMemory, index: int) -> None:
    worker = TrainingWorker(plan.config, index, LocalEvents(f"worker_{index}", lambda event: None))
    bell = TimedBell(memory.plan.worker_bells[index])
    memory.plan.worker_bells[index] = bell  # type: ignore[call-overload]
    exchange = SharedExchange(memory, index, worker.experience.lockstep, steps_before=0)
    stopwatch = _stopwatches(plan.stopwatches, plan.config.workers).numbers(index * 16, 2)
    work(worker, TimedExchange(exchange, bell, stopwatch), save=lambda state: None)  # type: ignore[arg-type]
    worker.close()


def _coordinator(plan: _ChildPlan, memory: RunMemory, index: int) -> None:
    coordinator = TrainingCoordinator(plan.config)
    workers = SharedWorkers(memory, coordinator, algorithm(plan.config).lockstep, Totals())
    coordinate(coordinator, workers, _NobodyKeepsIt())


class TimedBell:
    """A bell that knows how long it was waited for."""

    def __init__(self, bell: Doorbell) -> None:
        self._bell = bell
        self.slept = 0.0  # seconds

    def wait(self, seconds: float) -> bool:
        start = time.perf_counter()
        rung = self._bell.wait(seconds)
        self.slept += time.perf_counter() - start
        return rung


class TimedExchange:
    """A worker's exchange that keeps two times: that of its calls, and that of all the worker does.

    A time is what was computed and what was slept. Moments in which another process has the core count for neither, so
    that a busy machine changes little.
    """

    def __init__(self, exchange: SharedExchange, bell: TimedBell, stopwatch: memoryview[float]) -> None:
        self._exchange, self._bell, self._stopwatch = exchange, bell, stopwatch

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._exchange, name)

        def timed_call(*arguments: Any) -> Any:
            start = self._now()
            try:
                return call(*arguments)
            finally:
                self._stopwatch[_WHOLE] = self._now()
                self._stopwatch[_EXCHANGE] += self._now() - start

        setattr(self, name, timed_call)  # found directly the next time
        return timed_call

    def _now(self) -> float:
        return time.thread_time() + self._bell.slept


class _NobodyKeepsIt:
    """A keeper that writes nothing down."""

    def count(self, totals: Totals) -> None:
        pass

    def tick(self) -> None:
        pass


def _stopwatches(name: str, workers: int, create: bool = False) -> SharedBlock:
    return SharedBlock(name, workers * 16, kind="watches", shape=(workers,), create=create)


def say_what_goes_wrong(event: dict[str, Any]) -> None:
    """What the supervisor or a process of the run warns of."""
    if event["type"] == "log" and event["level"] != "info":
        say(event["text"])
