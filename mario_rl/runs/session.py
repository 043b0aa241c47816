"""A run that is going on, as the dashboard or the progress line drives it.

They call `tick` a few times a second until that says that the run is over, then `close`, which leaves nothing behind
but the run's directory. What happens goes into the picture that they show, and into the run's files.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping

from mario_rl.config import TrainingConfig
from mario_rl.distributed.coordinator import Totals
from mario_rl.distributed.events import Event, LocalEvents
from mario_rl.export.published_settings import published
from mario_rl.metrics.aggregator import MetricAggregator
from mario_rl.metrics.tensorboard import TensorBoardWriter
from mario_rl.metrics.weights_and_biases import WeightsAndBiasesWriter
from mario_rl.runs.checkpoint import CheckpointError, load_checkpoint
from mario_rl.runs.directory import RunDirectory
from mario_rl.runs.status import State
from mario_rl.snapshots.hotspots import DeathHotspotAggregate

TENSORBOARD_SECONDS = 2.0  # between two points of the run as a whole
HOTSPOTS_SECONDS = 60.0  # between two times that hotspots are saved for the workers


class AtOnce(Exception):
    """The user wants an end without further waiting."""


class Session(ABC):
    """A run that is going on."""

    def __init__(self, run: RunDirectory, config: TrainingConfig, before: Totals):
        self.run = run
        self.run_directory = run.path
        self.config = config
        self.before = before
        self.aggregator = MetricAggregator()
        self.problem: str | None = None  # what made the run fail
        self.stop_asked = self.stop_at_once_asked = self._stop_told = False
        boards: list[TensorBoardWriter | WeightsAndBiasesWriter] = []
        boards.append(TensorBoardWriter(run.tensorboard, first_steps=before.steps or None))
        if config.wandb is not None:
            boards.append(self._weights_and_biases(config.wandb))
        self._boards = boards
        run.begin()
        self._log = run.training_log.open("a", encoding="utf-8", buffering=1)
        self._deaths = run.deaths_csv.open("a", encoding="utf-8", buffering=1)
        if self._deaths.tell() == 0:
            self._deaths.write("time,level,area,x_pos\n")
        self._pointed = 0.0
        self.hotspots = DeathHotspotAggregate.load_or_create(run.death_hotspots_json, config.half_life)
        self._hotspots_saved = time.monotonic()

    @abstractmethod
    def tick(self) -> bool:
        """Take in what has happened; whether the run goes on."""

    @abstractmethod
    def pause(self, paused: bool) -> None:
        """Let everybody wait, or go on."""

    @abstractmethod
    def save(self) -> None:
        """Ask for a checkpoint now."""

    def stop(self) -> None:
        """Ask for a clean end; `tick` says when it is reached. Only notes it: a signal may call this at any moment."""
        self.stop_asked = True

    def stop_at_once(self) -> None:
        """The user has no more patience: end without saving what is not saved yet."""
        self.stop_asked = self.stop_at_once_asked = True

    @abstractmethod
    def close(self) -> State:
        """End the run if it still goes on, and leave nothing behind; how it ended."""

    def take(self, events: list[Event]) -> None:
        """Into the aggregator, the log file, the deaths, TensorBoard and W&B. A full disk must not end a run."""
        self.aggregator.update_all(events)
        self._count_deaths(events)
        with contextlib.suppress(OSError):
            for event in events:
                match event:
                    case {"type": "log", "level": level, "text": text}:
                        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(event["time"]))
                        self._log.write(f"{when} {level} {event['source']}: {text}\n")
                    case {"type": "death_positions", "deaths": deaths}:
                        lines = (f"{event['time']:.1f},{level},{area},{x}\n" for level, area, x in deaths)
                        self._deaths.write("".join(lines))
                    case {"type": "metrics", "source": source, "values": values}:
                        self._add(source, values)
            if time.monotonic() - self._pointed > TENSORBOARD_SECONDS and self.aggregator.steps:
                self._pointed = time.monotonic()
                self._add("all", self.aggregator.overall())

    def _add(self, source: str, values: Mapping[str, float]) -> None:
        for board in self._boards:
            board.add(source, values, self.aggregator.steps)

    def _weights_and_biases(self, project: str) -> WeightsAndBiasesWriter:
        """A ConfigError if that is not installed."""
        settings = dataclasses.asdict(published(self.config))
        return WeightsAndBiasesWriter(
            project, self.run.name, settings, self.run.path, warn=lambda text: self.log("warning", text)
        )

    def _count_deaths(self, events: list[Event]) -> None:
        """Into the hotspots, which the workers read from time to time."""
        self.hotspots.advance(int(self.aggregator.steps))
        for event in events:
            if event["type"] == "death_positions":
                for level, area, x in event["deaths"]:
                    self.hotspots.record_death(level, x, area)
        if time.monotonic() - self._hotspots_saved > HOTSPOTS_SECONDS:
            self._save_hotspots()

    def _save_hotspots(self) -> None:
        self._hotspots_saved = time.monotonic()
        with contextlib.suppress(OSError):  # a full disk must not end a run
            self.hotspots.save()

    def tell_stop(self) -> None:
        """Say once that the end has been asked for."""
        if self.stop_asked and not self._stop_told:
            self._stop_told = True
            self.log("info", "stopping: the run is being saved (Ctrl-C again: end without)")

    def log(self, level: str, text: str) -> None:
        """A line of our own."""
        LocalEvents("trainer", lambda event: self.take([event])).log(level, text)

    def finish(self) -> State:
        """Write down how it ended."""
        state, why = self._outcome()
        self._save_hotspots()
        with contextlib.suppress(OSError, ValueError):
            self.run.finish(state, why)
        for file in (*self._boards, self._log, self._deaths):
            with contextlib.suppress(OSError):
                file.close()
        return state

    def _outcome(self) -> tuple[State, str]:
        if self.problem is not None:
            return "FAILED", self.problem
        try:
            counters = load_checkpoint(self.run.weights_pt)["counters"]
        except (CheckpointError, KeyError) as problem:
            if self.stop_asked and not self.run.weights_pt.exists():
                return "INTERRUPTED", "stopped by the user before anything was saved"
            return "FAILED", f"the weights were not saved: {problem}"
        if counters["confirmed"]:
            return "SUCCESS", f"reached {self.config.stop_at:.0%} flags after {counters['steps']} steps"
        if counters["steps"] >= self.config.steps:
            return "SUCCESS", f"did its {self.config.steps} steps"
        if self.config.minutes is not None and counters["seconds"] >= 60 * self.config.minutes:
            return "SUCCESS", f"used its {self.config.minutes:g} minutes"
        return "INTERRUPTED", "stopped by the user"
