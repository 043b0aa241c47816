"""The CSV files of a run whose workers are elsewhere: the parent writes them, of the metrics that arrive."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from mario_rl.config import TrainingConfig
from mario_rl.distributed.coordinator import Totals
from mario_rl.distributed.events import Event
from mario_rl.metrics.collectors import CoordinatorCollector, worker_collectors
from mario_rl.metrics.logger import MetricLogger, last_values
from mario_rl.metrics.schema import Values
from mario_rl.runs.directory import RunDirectory


class MetricFiles:
    """One file for each source."""

    def __init__(self, run: RunDirectory, config: TrainingConfig, before: Totals):
        self._run = run
        self._worker_names = worker_collectors(config).names
        self._files: dict[str, MetricLogger] = {}
        self._now = 0.0
        self.rewind_coordinator(before.steps)

    def rewind_coordinator(self, steps: int) -> None:
        """The coordinator goes on from there: what came after did not happen."""
        if "coordinator" in self._files:
            self._files.pop("coordinator").close()
        names = CoordinatorCollector().names
        self._files["coordinator"] = self._opened(self._run.coordinator_csv, names, keep_steps=steps)

    def last_of_worker(self, worker: int) -> Values:
        """What a worker had measured when it was heard of last."""
        return last_values(self._run.worker_csv(worker))

    def write(self, events: Iterable[Event]) -> None:
        """Add the metrics among these events, with the times that they have."""
        for event in events:
            if event["type"] == "metrics":
                self._now = event["time"]
                self._of(event["source"]).log(event["values"])

    def close(self) -> None:
        """Finish all files."""
        for file in self._files.values():
            file.close()

    def _of(self, source: str) -> MetricLogger:
        if source not in self._files:
            number = re.fullmatch(r"worker_(\d+)", source)
            assert number is not None, source
            self._files[source] = self._opened(self._run.worker_csv(int(number[1])), self._worker_names)
        return self._files[source]

    def _opened(self, path: Path, names: tuple[str, ...], keep_steps: int | None = None) -> MetricLogger:
        return MetricLogger(path, names, keep_steps=keep_steps, clock=lambda: self._now)
