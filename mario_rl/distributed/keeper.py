"""Keeps a run on disk and its people informed: counters, metrics, evaluations, checkpoints, the status file."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, cast

from mario_rl.distributed.coordinator import Counters, Totals, TrainingCoordinator
from mario_rl.distributed.events import Events
from mario_rl.metrics.logger import MetricLogger
from mario_rl.runs.checkpoint import CheckpointError, save_checkpoint, save_run_checkpoint
from mario_rl.runs.directory import RunDirectory
from mario_rl.runs.evaluate import Outcome, Protocol, evaluate

LOG_EVERY = 1.0  # seconds
CONFIRMING_EPISODES = 200
ENDING_EPISODES = 400  # more, before a run is ended
WORTH_CONFIRMING = 0.5  # below this rate nobody cares about luck
OTHER_EPISODES = 1_000_003  # added to a seed: other episodes than those of any evaluation before


def progress_in_status(counters: Counters) -> dict[str, Any]:
    """What a run's status file says of how far it is."""
    first = counters.first_flag_seconds
    return {
        "steps": counters.steps,
        "minutes_trained": round(counters.seconds / 60, 2),
        "steps_to_first_flag": counters.first_flag_steps,
        "minutes_to_first_flag": None if first is None else round(first / 60, 2),
    }


class RunKeeper:
    """Does what is due between two updates."""

    def __init__(
        self,
        run: RunDirectory,
        coordinator: TrainingCoordinator,
        events: Events,
        worker_states: Callable[[], Sequence[dict[str, Any]]] = lambda: (),
        save_wanted: Callable[[], bool] = lambda: False,
        alive: Callable[[], None] = lambda: None,
    ):
        self.run = run
        self.coordinator = coordinator
        self.events = events
        names = coordinator.collector.names
        self.logger = MetricLogger(run.coordinator_csv, names, events, keep_steps=coordinator.counters.steps)
        self._worker_states = worker_states
        self._save_wanted = save_wanted
        self._alive = alive  # called during long work, so that the supervisor does not take it for a hang
        self._totals = Totals()
        self._evaluated_steps = -1  # at which the last evaluation was made
        self._noted = self._logged = self._saved = time.monotonic()

    def count(self, totals: Totals) -> None:
        """Take over what the workers have done."""
        now = time.monotonic()
        counters = self.coordinator.counters
        counters.steps, counters.episodes, counters.flags = totals.steps, totals.episodes, totals.flags
        counters.seconds += now - self._noted
        self._noted = now
        if totals.flags and counters.first_flag_steps is None:
            counters.first_flag_steps, counters.first_flag_seconds = totals.steps, round(counters.seconds, 1)
            self.events.log("info", f"first flag after {totals.steps} steps, {counters.seconds:.0f} s")
        self._totals = totals

    def tick(self) -> None:
        """Log, evaluate and save when it is time."""
        now = time.monotonic()
        if self._evaluation_due():
            self.evaluate()
        if now - self._logged > LOG_EVERY:
            self._logged = now
            self._log()
        if now - self._saved > self.coordinator.config.checkpoint_minutes * 60 or self._save_wanted():
            self.save()

    def _log(self) -> None:
        """Write and publish the metrics of this moment."""
        self._observe()
        self.logger.log(self.coordinator.collector.values())

    def _observe(self) -> None:
        counters, totals = self.coordinator.counters, self._totals
        known = {name: float(value) for name, value in asdict(counters).items() if value is not None}
        self.coordinator.collector.observe(known | {"flag_rate": totals.flag_rate, "best_x": totals.best_x})

    def _evaluation_due(self) -> bool:
        """Before the first flag there is nothing to evaluate."""
        counters = self.coordinator.counters
        every = self.coordinator.config.evaluate_every
        return bool(every and counters.flags and counters.steps >= counters.next_evaluation)

    def evaluate(self) -> None:
        """Play evaluation episodes; keep the weights if they are the best so far; see whether the goal is reached."""
        config, counters = self.coordinator.config, self.coordinator.counters
        self.events.learner_status("evaluating")
        counters.next_evaluation = (counters.steps // config.evaluate_every + 1) * config.evaluate_every
        self._evaluated_steps = counters.steps
        seed = config.seed + counters.steps
        found = self._play(config.evaluate_episodes, seed)
        goal = math.inf if config.stop_at is None else config.stop_at
        if found.rate >= goal or found.rate + found.standard_error >= max(counters.best_rate, WORTH_CONFIRMING):
            # A few episodes won by luck would hide better weights that come later, and a few lost would hide these:
            # whatever could be the best is judged by other, more episodes.
            found = self._play(CONFIRMING_EPISODES, seed + OTHER_EPISODES)
            if found.rate >= goal:  # a run has many chances to be lucky here, and none to go on once it has ended
                more = self._play(ENDING_EPISODES, seed + 2 * OTHER_EPISODES)
                found = Outcome(found.played + more.played)
                counters.confirmed = found.rate >= goal
        if (found.rate, found.mean_x) >= (counters.best_rate, counters.best_mean_x):  # of equals, who learned longer
            counters.best_rate, counters.best_mean_x, counters.best_steps = found.rate, found.mean_x, counters.steps
            self._guarded(lambda: save_checkpoint(self.run.best_pt, self.coordinator.weights_state()))
        self.coordinator.collector.observe({"evaluation_rate": found.rate, "evaluation_mean_x": found.mean_x})
        self.events.log(
            "info", f"evaluation at {counters.steps} steps: {found.successes} of {found.episodes} at the flag"
        )
        self.events.learner_status("learning")

    def _play(self, episodes: int, seed: int) -> Outcome:
        config = self.coordinator.config
        with self.coordinator.to_be_seen():
            return evaluate(
                self.coordinator.flat.model,
                config,
                episodes,
                cast(Protocol, config.evaluate_protocol),
                seed,
                threads=min(max(config.workers, 1), os.cpu_count() or 1),  # the workers wait: their cores are free
                progress=lambda done, of: self._alive(),
            )

    def save(self) -> bool:
        """Write checkpoint, weights and status; whether that went well. What was there before stays if it did not."""
        coordinator, counters = self.coordinator, self.coordinator.counters
        self.events.learner_status("saving")
        self._observe()

        def write() -> None:
            state = coordinator.state_dict() | {"workers": list(self._worker_states())}
            save_run_checkpoint(self.run, state, coordinator.config.keep)
            save_checkpoint(self.run.weights_pt, coordinator.weights_state())
            self.run.update_status(**progress_in_status(counters))

        well = self._guarded(write)
        self._saved = time.monotonic()
        self.events.learner_status("learning")
        return well

    def _guarded(self, write: Callable[[], object]) -> bool:
        """Run something that writes; a full disk is a warning, not the end of the run."""
        try:
            write()
        except (CheckpointError, OSError) as problem:
            self.events.log("warning", f"not saved: {problem}")
            return False
        return True

    def close(self) -> bool:
        """Evaluate what a finished run ends with, save a last time; whether everything is on disk."""
        coordinator, counters = self.coordinator, self.coordinator.counters
        judged = counters.confirmed or self._evaluated_steps == counters.steps  # a resumed run may have been confirmed
        if coordinator.finished() and not judged and coordinator.config.evaluate_every and counters.flags:
            self.evaluate()
            self.count(self._totals)  # the time that took
        well = self.save()
        self._log()
        self.logger.close()
        self.events.learner_status("done")
        return well
