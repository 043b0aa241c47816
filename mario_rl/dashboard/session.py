"""What the dashboard and the progress line need of a training run: they show and drive it, it knows nothing of them."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from mario_rl.config import TrainingConfig
from mario_rl.metrics.aggregator import MetricAggregator
from mario_rl.snapshots.hotspots import DeathHotspotAggregate


class TrainingSession(Protocol):
    """A run under way, in the parent process. All calls come from the main thread and return at once."""

    @property
    def config(self) -> TrainingConfig:
        """The settings of the run."""

    @property
    def aggregator(self) -> MetricAggregator:
        """The picture of the run, as of the last tick."""

    @property
    def hotspots(self) -> DeathHotspotAggregate:
        """Where Mario died of late, as of the last tick."""

    @property
    def run_directory(self) -> Path:
        """Where the run is on disk."""

    def tick(self) -> bool:
        """Look after the run: take events in, supervise the processes. True while it runs. A few times a second."""

    def pause(self, paused: bool) -> None:
        """Let all workers wait, or go on."""

    def save(self) -> None:
        """Ask for a checkpoint."""

    def stop(self) -> None:
        """End the run cleanly, with a checkpoint. `tick` goes on to give True until that is done."""

    def stop_at_once(self) -> None:
        """End the run without saving what is not saved yet."""
