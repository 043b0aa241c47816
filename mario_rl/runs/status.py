"""How a run stands: `status.json`, which says what became of it even after a crash.

A process that is killed cannot say so. Its status stays RUNNING on disk, but its process is gone; `RunStatus.now` tells
the two apart by process id and start time, since ids are used again.
"""

from __future__ import annotations

import dataclasses
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import psutil

from mario_rl.atomic_file import write_atomically

State = Literal["RUNNING", "SUCCESS", "FAILED", "INTERRUPTED"]

# Both ends read the start time from the same clock, but through a conversion with fractions of a second.
SAME_START_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True)
class RunStatus:
    """What is known of a run without loading it."""

    state: State
    why: str = ""
    """For people: why it ended, in a few words."""
    pid: int | None = None
    process_started: float | None = None
    """Unix seconds; with the pid it names one process."""
    updated: float = 0.0
    """Unix seconds."""
    steps: int = 0
    """Environment steps, all workers together."""
    minutes_trained: float = 0.0
    """Wall-clock minutes of training, over all resumes."""
    steps_to_first_flag: int | None = None
    minutes_to_first_flag: float | None = None

    def now(self) -> RunStatus:
        """The status as it is: a run whose process has died was interrupted."""
        if self.state != "RUNNING" or _is_alive(self.pid, self.process_started):
            return self
        return dataclasses.replace(self, state="INTERRUPTED", why="its process died without a word")

    def of_this_process(self) -> RunStatus:
        """The same counters, RUNNING in the calling process."""
        started = psutil.Process().create_time()
        return dataclasses.replace(self, state="RUNNING", why="", pid=os.getpid(), process_started=started)


def write_status(file: Path, status: RunStatus) -> RunStatus:
    """Save a status, with the time of now; returns what was saved."""
    saved = dataclasses.replace(status, updated=time.time())
    write_atomically(file, (json.dumps(dataclasses.asdict(saved), indent=2) + "\n").encode())
    return saved


def read_status(file: Path) -> RunStatus:
    """A saved status; a ValueError says what is wrong with the file."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as problem:
        raise ValueError(f"cannot read {file}: {problem.strerror}") from problem
    except ValueError as problem:
        raise ValueError(f"{file} is damaged: {problem}") from problem
    return _checked(file, content)


def _checked(file: Path, content: Any) -> RunStatus:
    if not isinstance(content, dict) or content.get("state") not in get_args(State):
        raise ValueError(f"{file} is damaged: it should name a state, one of {', '.join(get_args(State))}")
    known = {field.name for field in dataclasses.fields(RunStatus)}
    status = RunStatus(**{name: value for name, value in content.items() if name in known})
    for name in ("pid", "process_started", "steps", "minutes_trained", "steps_to_first_flag", "minutes_to_first_flag"):
        value = getattr(status, name)
        if isinstance(value, bool) or not isinstance(value, int | float | None):
            raise ValueError(f"{file} is damaged: {name} is a number, not {value!r}")
    return status


def _is_alive(pid: int | None, started: float | None) -> bool:
    if pid is None or started is None:
        return False
    try:
        process = psutil.Process(int(pid))
        same = abs(process.create_time() - started) < SAME_START_SECONDS
        return same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
