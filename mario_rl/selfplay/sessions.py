"""`mario-rl selfplay train` behind its command line: a run of either kind, new or gone on with."""

from __future__ import annotations

import dataclasses
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from mario_rl.config import ConfigError
from mario_rl.runs.checkpoint import load_newest_good
from mario_rl.runs.directory import RunDirectory, RunError
from mario_rl.runs.status import State
from mario_rl.selfplay import config as configuration
from mario_rl.selfplay.config import SelfPlayConfig
from mario_rl.selfplay.frames.config import FramesConfig
from mario_rl.selfplay.run_directory import SelfPlayDirectory
from mario_rl.settings import read_settings

Say = Callable[[str], None]


class Session(Protocol):
    """One process's part of a run."""

    warnings: list[str]
    unit: str
    """What is counted: decisions or steps."""
    rival: str
    """A bot worth playing against."""

    @property
    def run(self) -> RunDirectory:
        """Where it is kept."""

    def train(self, stop: Callable[[], bool], say: Say, log: Say) -> State:
        """Train to the end, or until `stop()`; `say` gets the progress, `log` what should stay readable."""


def env_of(resume: str, checkpoints: str) -> str:
    """The kind of a run that is to go on."""
    run = RunDirectory.open(resume, checkpoints)
    try:
        found = read_settings(run.config_yaml, FramesConfig)
    except ConfigError as problem:
        raise RunError(str(problem)) from problem
    env = found.get("env")
    if env not in ("placement", "frames"):
        raise RunError(f"{run.path} is no run of self-play; `mario-rl train --resume` may know it")
    return str(env)


def open_session(env: str, chosen: Mapping[str, Any], preset: str | None, resume: str | None) -> Session:
    """The session of a new run, or of one that goes on; errors in one line."""
    return PlacementSession(chosen, preset, resume) if env == "placement" else FramesSession(chosen, resume)


class PlacementSession:
    """The agent that chooses placements."""

    unit, rival = "decisions", "search"

    def __init__(self, chosen: Mapping[str, Any], preset: str | None, resume: str | None):
        self._saved: dict[str, Any] | None = None
        self.warnings: list[str] = []
        if resume is None:
            self._config = configuration.build(chosen, preset)
            self.run = SelfPlayDirectory.create(self._config.checkpoints, self._config.name, self._config)
            return
        self.run = SelfPlayDirectory.open(resume, chosen.get("checkpoints", SelfPlayConfig.checkpoints))
        self._config = configuration.build(chosen, preset, base=self.run.config())
        self._saved, file, skipped = load_newest_good(self.run)
        self.warnings = [*skipped, *([f"going on from {file.name}"] if skipped else [])]
        self.run.keep(self._config, self._saved)

    def train(self, stop: Callable[[], bool], say: Say, log: Say) -> State:
        """See `Session.train`."""
        from mario_rl.selfplay.training import train

        try:
            return train(self.run, self._config, self._saved, stop, say, log)
        except BaseException:
            _remove_if_empty(self.run, new=self._saved is None)
            raise


class FramesSession:
    """The agent that presses buttons."""

    unit, rival = "steps", "random"

    def __init__(self, chosen: Mapping[str, Any], resume: str | None):
        self.warnings: list[str] = []
        self._resumes = resume is not None
        if resume is None:
            self._config = FramesConfig.from_dict(chosen)
            self.run = FramesDirectory.create(self._config.checkpoints, self._config.name, self._config)
            return
        self.run = FramesDirectory.open(resume, chosen.get("checkpoints", FramesConfig.checkpoints))
        before = dataclasses.asdict(FramesConfig.from_dict(read_settings(self.run.config_yaml, FramesConfig)))
        self._config = FramesConfig.from_dict(before | dict(chosen))

    def train(self, stop: Callable[[], bool], say: Say, log: Say) -> State:
        """See `Session.train`."""
        from mario_rl.selfplay.frames.training import train_frames

        run, config = self.run, self._config
        run.begin()
        end = None if config.minutes is None else time.monotonic() + 60 * config.minutes
        over = False

        def stops() -> bool:
            nonlocal over
            over = end is not None and time.monotonic() >= end
            return over or stop()

        try:
            result = train_frames(config, run.path, stops, say, self._resumes, log)
        except BaseException as problem:
            run.finish("FAILED", f"{type(problem).__name__}: {problem}")
            _remove_if_empty(run, new=not self._resumes)
            raise
        state: State = "SUCCESS" if result.finished or over else "INTERRUPTED"
        why = "the time is over" if over and not result.finished else result.why
        run.finish(state, why, steps=result.steps, minutes_trained=result.minutes)
        return state


class FramesDirectory(RunDirectory):
    """The directory of a run of the agent that presses buttons."""

    resume_command = SelfPlayDirectory.resume_command


def _remove_if_empty(run: RunDirectory, new: bool) -> None:
    """A new run that failed before it saved anything leaves nothing."""
    if new and not run.checkpoint_pt.exists() and not Path(run.path / "pool").exists():
        shutil.rmtree(run.path, ignore_errors=True)
