"""The metrics for Weights & Biases: what TensorBoard gets, under the same names, with `steps` to draw them over.

W&B may be slow to reach, or not to be reached at all. So a thread of its own talks to it; a run only puts points into a
queue, and leaves them out when that is full. Whatever goes wrong costs one warning, never the run.
"""

from __future__ import annotations

import importlib.util
import math
import os
import queue
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mario_rl.metrics.tensorboard import SECONDS_BETWEEN
from mario_rl.settings import ConfigError

MOST_WAITING = 10_000  # points; hours of them
CLOSE_SECONDS = 30.0  # for what is still to be sent at the end
INIT_SECONDS = 30.0  # to reach W&B at all; a process does not end before

Point = dict[str, float]


def check_installed() -> None:
    """A ConfigError that says how to get W&B, if it is not there."""
    if importlib.util.find_spec("wandb") is None:
        raise ConfigError("wandb is not installed: pip install 'mario-rl[wandb]'")


def open_run(project: str, name: str, settings: Mapping[str, Any], directory: Path, run_id: str | None = None) -> Any:
    """A new run of W&B, or the one of that id; its files go into `directory`/wandb unless WANDB_DIR says otherwise.

    It never asks anybody anything, and tells W&B nothing about the machine.
    """
    import wandb

    wandb.setup(wandb.Settings(silent=True))  # without this it would ask for a key on the terminal
    quiet = wandb.Settings(
        silent=True,
        console="off",
        host="",
        disable_git=True,
        save_code=False,
        init_timeout=INIT_SECONDS,
        x_disable_meta=True,
        x_disable_stats=True,
    )
    run = wandb.init(
        project=project,
        name=name,
        id=run_id,
        resume=None if run_id is None else "allow",
        dir=None if "WANDB_DIR" in os.environ else str(directory),
        config=dict(settings),
        settings=quiet,
    )
    run.define_metric("steps")
    run.define_metric("*", step_metric="steps")
    return run


class WeightsAndBiasesWriter:
    """Writes to a project of W&B; see `TensorBoardWriter`, whose interface it has.

    `directory` is the run's, in which the id of the W&B run is kept, so that a resumed run goes on with it. `warn` is
    called at most once, by whoever calls `add` or `close`.
    """

    def __init__(
        self,
        project: str,
        name: str,
        settings: Mapping[str, Any],
        directory: Path,
        warn: Callable[[str], None],
        seconds_between: float = SECONDS_BETWEEN,
        clock: Callable[[], float] = time.monotonic,
    ):
        check_installed()
        self._project, self._name, self._settings, self._directory = project, name, dict(settings), directory
        self._warn = warn
        self._seconds_between, self._clock = seconds_between, clock
        self._next: dict[str, float] = {}  # when a source's next point is due
        self._waiting: queue.Queue[Point | None] = queue.Queue(MOST_WAITING)
        self._thread: threading.Thread | None = None
        self._problem: str | None = None
        self._warned = False

    def add(self, source: str, values: Mapping[str, float], steps: int) -> None:
        """Values of a source at this many environment steps of the whole run; returns at once, whatever W&B does."""
        now = self._clock()
        if now < self._next.get(source, now):
            return
        self._next[source] = now + self._seconds_between
        if self._problem is not None:
            self._tell()
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._send, name="weights-and-biases", daemon=True)
            self._thread.start()
        point = {f"{source}/{name}": float(value) for name, value in values.items() if math.isfinite(value)}
        try:
            self._waiting.put_nowait(point | {"steps": float(steps)})
        except queue.Full:
            self._problem = "it does not keep up"

    def close(self) -> None:
        """Send what still waits, for no longer than is reasonable; closing twice is fine."""
        thread, self._thread = self._thread, None
        if thread is not None:
            try:
                self._waiting.put(None, timeout=CLOSE_SECONDS)
            except queue.Full:
                self._problem = self._problem or "it does not keep up"
            thread.join(CLOSE_SECONDS)
            if thread.is_alive() and self._problem is None:
                self._problem = f"it did not take everything within {CLOSE_SECONDS:g} s"
        self._tell()

    def _tell(self) -> None:
        if self._problem is not None and not self._warned:
            self._warned = True
            self._warn(f"Weights & Biases: {self._problem}; the run goes on without it")

    # --- in the thread --------------------------------------------------------------------------------------------

    def _send(self) -> None:
        try:
            run = open_run(self._project, self._name, self._settings, self._directory, self._run_id())
            while (point := self._waiting.get()) is not None:
                run.log(point)
            run.finish()
        except BaseException as problem:  # whatever it is, it is not worth a run
            self._problem = " ".join(str(problem).split())[:200] or type(problem).__name__

    def _run_id(self) -> str | None:
        """The id of this run's W&B run: kept, so that both go on together. Offline, W&B cannot go on with one."""
        if os.environ.get("WANDB_MODE", "online") != "online":
            return None
        file = self._directory / "wandb" / "run_id"
        if file.is_file():
            return file.read_text(encoding="utf-8").strip()
        file.parent.mkdir(exist_ok=True)
        run_id = secrets.token_hex(4)
        file.write_text(run_id + "\n", encoding="utf-8")
        return run_id
