"""A worker as a Ray actor: the same body as in a process. Ray starts it again elsewhere if its node is lost."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import ray
import torch
from ray.exceptions import RayError

from mario_rl.cluster.exchange import ClusterExchange
from mario_rl.cluster.messages import ClusterPlan, Sender
from mario_rl.cluster.node import Whereabouts, config_here, scratch_directory, whereabouts
from mario_rl.cluster.relayed_events import RelayedEvents
from mario_rl.cluster.shared_files import Files, Folder
from mario_rl.distributed.curriculum import worker_curriculum
from mario_rl.distributed.process import keep_memory
from mario_rl.distributed.worker import TrainingWorker, work
from mario_rl.metrics.logger import MetricLogger
from mario_rl.metrics.schema import Values
from mario_rl.runs.directory import RunDirectory

SHARE_SECONDS = 10.0  # between two exchanges of snapshots with the other workers


class WorkerActor:
    """Everything a worker's actor can be asked."""

    def __init__(self) -> None:
        keep_memory()
        torch.set_num_threads(1)

    def where(self) -> Whereabouts:
        """Which node this is, and what is installed there."""
        return whereabouts()

    def run(self, plan: ClusterPlan, sender: Sender, coordinator: Any, files: Files, last: Values) -> None:
        """Work until the run is over. `last` are the metrics that a predecessor left, or this worker before a stop."""
        with scratch_directory() as directory:
            folder = Folder(directory)
            folder.write(files)
            config = config_here(plan.config, directory)
            index = sender.worker
            events = RelayedEvents(f"worker_{index}")
            curriculum = worker_curriculum(directory, config, index, warn=lambda text: events.log("warning", text))
            worker = TrainingWorker(config, index, events, curriculum)
            worker.continue_from(last)
            worker.logger = MetricLogger(RunDirectory(directory).worker_csv(index), worker.collector.names, events)
            sharing = _Sharing(coordinator, folder, f"snapshots/worker_{index}.json")
            exchange = ClusterExchange(
                coordinator,
                sender,
                events,
                worker.flat.trained_size,
                worker.experience.lockstep,
                config.precision,
                sharing.now_and_then if config.curriculum == "snapshots" else lambda: None,
            )
            events.worker_status(index, "collecting")
            work(worker, exchange, save=lambda: None)
            worker.close()
            events.worker_status(index, "done")
            if config.curriculum == "snapshots":
                sharing.share()
            exchange.note(worker.collector.values())
            exchange.leave()


@dataclasses.dataclass
class _Sharing:
    """A worker's snapshots for the others, and theirs and the run's hotspots for it."""

    coordinator: Any
    folder: Folder
    own: str
    stamp: int = 0
    shared: float = dataclasses.field(default_factory=time.monotonic)

    def now_and_then(self) -> None:
        if time.monotonic() - self.shared > SHARE_SECONDS:
            self.share()

    def share(self) -> None:
        self.shared = time.monotonic()
        try:
            self.stamp, files = ray.get(self.coordinator.share.remote(self.stamp, self.folder.changed([self.own])))
        except RayError:  # the coordinator is lost: its successor will have them
            return
        self.folder.write(files)
