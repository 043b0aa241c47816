"""Real workers and a real coordinator as Ray actors, measured while they train.

What gradient_training.py does with processes: the same training, paused between measurements, without evaluations and
checkpoints. What is counted is read in the coordinator's process, clock included.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NoReturn

import ray
import torch

from benchmarks.gradient_training import EndlessRun, say_what_goes_wrong
from benchmarks.measurement import say
from benchmarks.worker import Answer
from mario_rl.cluster.connection import Connection
from mario_rl.cluster.coordinator_actor import CoordinatorActor
from mario_rl.cluster.line import ClusterLine
from mario_rl.cluster.node import scratch_directory
from mario_rl.cluster.session import STALE_SECONDS
from mario_rl.config import ConfigError, TrainingConfig
from mario_rl.distributed.coordinator import Totals
from mario_rl.distributed.supervisor import Supervisor
from mario_rl.runs.directory import RunDirectory

NEVER = {"evaluate_every": 0, "checkpoint_minutes": 1e6}
"""Settings of a run that has nothing else to do than to train."""


class ActorTraining(EndlessRun):
    """A run of so many actors on the cluster that this process has joined; it needs `workers + 1` of its CPUs."""

    settling_seconds = 1.5  # a worker that is paused asks once a second whether it still is

    def __init__(self, config: TrainingConfig, directory: Path, warm_up_gradients: int) -> None:
        run = RunDirectory.create(directory, None, config)
        self._line = ClusterLine(run, config, Totals())
        self.board = self._line.board
        self.supervisor = Supervisor(
            self._line.start_worker,
            self._line.start_coordinator,
            board=self.board,
            pool=self._line,
            heartbeat=self._line,
            last_words=self._line,
            report=say_what_goes_wrong,
            stale_seconds=STALE_SECONDS,
        )
        try:
            self.tick_until(lambda: self._warm(warm_up_gradients, config))
        except BaseException:
            self.close()
            raise
        self.board.control.pause = 1
        self.tick()

    def _warm(self, gradients: int, config: TrainingConfig) -> bool:
        if len(self.supervisor.pids) <= config.workers:
            return False
        steps = ray.get(self._line._coordinator.__ray_call__.remote(steps_of_workers))
        everybody = len(steps) == config.workers and min(steps) > config.learning_starts
        return everybody and self.counted()["units"] >= gradients * config.workers

    def tick(self) -> None:
        """Here also: hear from the actors, and tell them what is on the board."""
        for event in self._line.poll():
            say_what_goes_wrong(event)
        super().tick()

    def counted(self) -> Answer:
        """From the coordinator."""
        return ray.get(self._line._coordinator.__ray_call__.remote(progress))

    def ask_to_end(self) -> None:
        """Of several runs each is told before the first is waited for."""
        self.board.control.stop = 1
        self._line.poll()

    def close(self) -> None:
        """Nothing of it stays on the cluster."""
        try:
            self.supervisor.shutdown(meanwhile=self._line.poll)
        finally:
            self._line.close()


def progress(actor: CoordinatorActor) -> Answer:
    """In the coordinator's process: what it has done, and its clocks."""
    workers = actor._workers
    counters = None if workers is None else workers._coordinator.counters
    return {
        "units": 0 if counters is None else counters.grads_received,
        "updates": 0 if counters is None else counters.updates,
        "wall_s": time.perf_counter(),
        "coordinator_cpu_s": time.process_time(),
    }


def steps_of_workers(actor: CoordinatorActor) -> list[int]:
    """In the coordinator's process: what each worker has told of."""
    return [] if actor._workers is None else [known.steps for known in actor._workers.presence().values()]


@contextmanager
def local_cluster(cpus: int) -> Iterator[None]:
    """Within, this process has a cluster of its own; nothing stays of it, be it on disk."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # half a Ray is nobody's to end
    try:
        with closing(Connection("local", cpus)):
            signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever has become of it meanwhile
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    with scratch_directory():  # which removes those of actors that had to be killed
        pass


def ready() -> Answer:
    """Asked first: from now on Ctrl-C is an exception again, and not the end at once that `serve` makes of it.

    A Ray whose driver is just gone leaves a directory.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return {}


def told_in_one_line(main: Callable[[], None]) -> NoReturn:
    """Run a measuring process; what keeps Ray from starting is one line."""
    torch.set_num_threads(1)
    try:
        main()
    except ConfigError as problem:
        say(str(problem))
        sys.exit(2)
    except KeyboardInterrupt:  # the benchmark says so
        sys.exit(2)
    sys.exit(0)
