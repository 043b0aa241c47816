"""One run on disk: `checkpoints/<name or timestamp>/` and the file names in it, which nobody else spells out."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from mario_rl.config import ConfigError, TrainingConfig, from_dict, read_yaml
from mario_rl.runs.status import RunStatus, State, read_status, write_status
from mario_rl.settings import write_settings

__all__ = ["RunDirectory", "RunError"]

NUMBERED_CHECKPOINT = re.compile(r"checkpoint-(\d+)\.pt")


class RunError(ValueError):
    """Something about a run that the user can put right; the message says how."""


class RunDirectory:
    """The directory of a run. `create` makes one, `open` finds one."""

    resume_command = "mario-rl train --resume"

    def __init__(self, path: Path, chosen_file: Path | None = None):
        self.path = path
        self.chosen_file = chosen_file  # the checkpoint or weights that the user named, if it was not the whole run
        self.config_yaml = path / "config.yaml"
        self.status_json = path / "status.json"
        self.weights_pt = path / "weights.pt"  # the latest
        self.best_pt = path / "best.pt"  # those with the best evaluation
        self.checkpoint_pt = path / "checkpoint.pt"  # everything a resume needs
        self.coordinator_csv = path / "coordinator.csv"
        self.deaths_csv = path / "deaths.csv"  # time, level, area, x_pos
        self.training_log = path / "training.log"
        self.death_hotspots_json = path / "death_hotspots.json"
        self.evaluation_json = path / "evaluation.json"
        self.tensorboard = path / "tensorboard"
        self.videos = path / "videos"
        self.plots = path / "plots"

    def worker_csv(self, worker: int) -> Path:
        """What a worker measured."""
        return self.path / f"worker_{worker}.csv"

    def worker_state(self, worker: int) -> Path:
        """What a worker remembered when the run was saved last, if that was wanted."""
        return self.path / f"worker_{worker}.pt"

    def worker_csvs(self) -> list[Path]:
        """The files of all workers that there are, in order."""
        found = [(re.fullmatch(r"worker_(\d+)\.csv", file.name), file) for file in self.path.glob("worker_*.csv")]
        return [file for _, file in sorted((int(match[1]), file) for match, file in found if match)]

    def numbered_checkpoint(self, steps: int) -> Path:
        """An older checkpoint, by the environment steps it was made at."""
        return self.path / f"checkpoint-{steps}.pt"

    def numbered_checkpoints(self) -> list[Path]:
        """The older checkpoints, the newest first. Temporary files have other names and never count."""
        found = [(NUMBERED_CHECKPOINT.fullmatch(file.name), file) for file in self.path.glob("checkpoint-*.pt")]
        return [file for _, file in sorted(((int(match[1]), file) for match, file in found if match), reverse=True)]

    # --- finding one ----------------------------------------------------------------------------------------------

    @classmethod
    def create(cls, checkpoints: str | Path, name: str | None, config: Any) -> Self:
        """A new directory with the configuration in it; never one that exists."""
        if name is not None and (not re.fullmatch(r"[^/\0]{1,200}", name) or name.startswith((".", "-"))):
            raise RunError(f"a run's name is a plain directory name that starts with neither . nor -, not {name!r}")
        try:
            Path(checkpoints).mkdir(parents=True, exist_ok=True)
            path = Path(checkpoints) / name if name is not None else _timestamped(Path(checkpoints))
            path.mkdir()
        except FileExistsError as problem:
            if not Path(checkpoints).is_dir():
                raise RunError(f"{checkpoints} is not a directory: choose another one for --checkpoints") from problem
            advice = f"choose another --name, or go on with it: {cls.resume_command} {path}"
            raise RunError(f"{path} exists already; {advice}") from problem
        except OSError as problem:
            raise RunError(f"cannot make a run in {checkpoints}: {problem.strerror}") from problem
        run = cls(path)
        try:
            write_settings(dataclasses.replace(config, name=path.name), run.config_yaml)
            write_status(run.status_json, RunStatus(state="INTERRUPTED", why="it has not begun"))
        except OSError as problem:
            shutil.rmtree(path, ignore_errors=True)
            raise RunError(f"cannot make a run in {checkpoints}: {problem.strerror}") from problem
        return run

    @classmethod
    def open(cls, target: str | Path, checkpoints: str | Path = "checkpoints") -> Self:
        """The run that `target` names: its directory, its name below `checkpoints`, or a checkpoint file in it."""
        named = Path(target)
        path = named if named.exists() else Path(checkpoints) / named
        if not path.exists():
            raise RunError(f"no run {str(target)!r}; {_runs_that_exist(Path(checkpoints))}")
        chosen = None
        if path.is_file():
            if path.suffix != ".pt":
                raise RunError(f"{path} is neither a run's directory nor a checkpoint (.pt) in one")
            path, chosen = path.parent, path
        run = cls(path, chosen)
        if not run.config_yaml.is_file():
            raise RunError(f"{path} is not a run: it has no config.yaml; {_runs_that_exist(Path(checkpoints))}")
        return run

    # --- what it says ---------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The directory's name."""
        return self.path.resolve().name

    def config(self) -> TrainingConfig:
        """The configuration the run was started with."""
        try:
            return from_dict(read_yaml(self.config_yaml))
        except (ConfigError, TypeError) as problem:
            raise RunError(f"the run {self.path} cannot be used: {problem} (in config.yaml)") from problem

    def status(self) -> RunStatus:
        """How the run stands now; a run whose process died counts as interrupted."""
        try:
            return read_status(self.status_json).now()
        except ValueError as problem:
            raise RunError(str(problem)) from problem

    # --- running it -----------------------------------------------------------------------------------------------

    def begin(self) -> RunStatus:
        """Mark the run as running in this process; refuses if it is running in another one."""
        with self._locked():
            try:
                status = self.status()
            except RunError:  # missing or damaged: the counters are in the checkpoint, too
                status = RunStatus(state="INTERRUPTED")
            if status.state == "RUNNING" and status.pid != os.getpid():
                raise RunError(f"{self.path} is running already, as process {status.pid}; stop it first, then resume")
            return write_status(self.status_json, status.of_this_process())

    def update_status(self, **changes: Any) -> RunStatus:
        """Change counters (`steps`, `minutes_trained`, ...) of the saved status; the others stay as they are."""
        with self._locked():
            return write_status(self.status_json, dataclasses.replace(read_status(self.status_json), **changes))

    def finish(self, state: State, why: str, **counters: Any) -> RunStatus:
        """Say how the run ended."""
        return self.update_status(state=state, why=why, pid=None, process_started=None, **counters)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Nobody else is in such a block of this run; the lock goes with the process, whatever ends it."""
        directory = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(directory, fcntl.LOCK_EX)
            yield
        finally:
            os.close(directory)


def _timestamped(checkpoints: Path) -> Path:
    """A directory named after the time; a number keeps two runs of one second apart."""
    stamp = time.strftime("%Y-%m-%d_%H-%M-%S")
    path = checkpoints / stamp
    number = 2
    while path.exists():
        path = checkpoints / f"{stamp}-{number}"
        number += 1
    return path


def _runs_that_exist(checkpoints: Path) -> str:
    runs = sorted(file.parent for file in checkpoints.glob("*/config.yaml"))
    if not runs:
        return f"there are none in {checkpoints}/ yet: `mario-rl train` makes one"
    newest_last = sorted(runs, key=lambda run: run.stat().st_mtime)[-5:]
    return f"the latest in {checkpoints}/: {', '.join(run.name for run in reversed(newest_last))}"
