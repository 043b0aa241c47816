"""Real training runs to do harm to: the command as users start it, in its own process group, and what it leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from mario_rl.metrics.logger import read_rows
from mario_rl.metrics.schema import Values
from mario_rl.runs.checkpoint import load_checkpoint

PATIENCE = 120.0  # seconds until something counts as hung; nothing is asserted about how long things take
MARK = "MARIO_RL_FAULTS_TEST"  # in the environment of every process that a test starts, however deep
FOREVER = "1000000000"  # steps

SMALL = ["--workers", "2", "--lanes", "2", "--hidden", "16", "--evaluate-every", "0", "--checkpoint-minutes", "0.01"]
DDQN = ["--model", "ddqn", *SMALL, "--collect-steps", "4", "--batch-size", "16", "--buffer-size", "500"]
DDQN += ["--learning-starts", "50"]
PPO = ["--model", "ppo", *SMALL, "--collect-steps", "16", "--batch-size", "16", "--epochs", "2"]


class Place:
    """Where a test's runs live, with a temporary directory of their own, and a mark to know their processes by."""

    def __init__(self, checkpoints: Path, temporary: Path):
        self.checkpoints = checkpoints
        self.temporary = temporary
        self.name = f"faults-{uuid.uuid4().hex[:8]}"
        self.run = checkpoints / self.name
        self.started: list[Command] = []
        self.environment = {
            MARK: self.name,
            "TMPDIR": str(temporary),
            "TORCHINDUCTOR_CACHE_DIR": str(checkpoints.parent / "torch"),  # which torch never removes
        }

    def train(self, *settings: str) -> Command:
        """`mario-rl train` of a new run."""
        return self.command("train", "--no-ui", "--name", self.name, "--checkpoints", str(self.checkpoints), *settings)

    def resume(self, *settings: str) -> Command:
        """`mario-rl train --resume` of that run."""
        return self.command("train", "--no-ui", "--resume", str(self.run), *settings)

    def command(self, *arguments: str) -> Command:
        self.started.append(Command(list(arguments), os.environ | self.environment, self.checkpoints.parent))
        return self.started[-1]

    def processes(self) -> list[psutil.Process]:
        """All living processes that this test has caused, oldest first; also orphans."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get(MARK) == self.name and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except psutil.Error:
                continue
        return sorted(found, key=lambda process: (process.create_time(), process.pid))

    def shared_memory(self) -> list[str]:
        return [file.name for file in Path("/dev/shm").glob(f"mario-rl-{self.name.replace('-', '_')}-*")]

    def status(self) -> dict[str, Any]:
        return json.loads((self.run / "status.json").read_text())

    def coordinator_rows(self) -> list[Values]:
        try:
            return read_rows(self.run / "coordinator.csv")
        except FileNotFoundError:
            return []

    def steps(self) -> int:
        """Environment steps that the coordinator has written down last."""
        rows = self.coordinator_rows()
        return int(rows[-1].get("steps", 0)) if rows else 0

    def first_steps(self) -> int:
        """Those that it has written down first."""
        rows = self.coordinator_rows()
        return int(rows[0].get("steps", 0)) if rows else 0

    def saved_steps(self) -> int:
        """Those of the newest checkpoint; -1 before the first."""
        checkpoint = self.run / "checkpoint.pt"
        return int(load_checkpoint(checkpoint)["counters"]["steps"]) if checkpoint.is_file() else -1

    def updates(self) -> int:
        rows = self.coordinator_rows()
        return int(rows[-1].get("updates", 0)) if rows else 0

    def log(self) -> str:
        return (self.run / "training.log").read_text()

    def left_behind(self) -> dict[str, list[str]]:
        """Everything that should not be there when all runs have ended."""
        return {
            "processes": [" ".join(process.cmdline()) for process in self.processes()],
            "shared memory": self.shared_memory(),
            "temporary files": [file.name for file in self.temporary.iterdir()],
            "half written files": [str(file) for file in self.checkpoints.rglob("*.tmp")],
        }


class Command:
    """A `mario-rl` process, as a shell would start it: the leader of a process group of its own."""

    def __init__(self, arguments: list[str], environment: dict[str, str], directory: Path):
        self.arguments = arguments
        # files instead of pipes: a test may look at them meanwhile, and nobody ever waits for a reader
        self._streams = [directory / f"{uuid.uuid4().hex}.{name}" for name in ("out", "err")]
        with self._streams[0].open("w") as output, self._streams[1].open("w") as errors:
            self.process = subprocess.Popen(
                # what trains while a test waits leaves the cores to the other tests
                ["nice", "-n", "5", sys.executable, "-m", "mario_rl", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                env=environment,
                cwd=Path(__file__).parents[2],
                start_new_session=True,
            )
        self.pid = self.process.pid

    @property
    def output(self) -> str:
        return self._streams[0].read_text()

    @property
    def errors(self) -> str:
        return self._streams[1].read_text()

    def signal(self, number: signal.Signals) -> None:
        """To the command alone, as `kill` does."""
        os.kill(self.pid, number)

    def signal_group(self, number: signal.Signals) -> None:
        """To the command and its children, as a terminal does."""
        os.killpg(self.pid, number)

    def children(self) -> list[psutil.Process]:
        """Coordinator, worker 0, worker 1, ... in the order of their start; not multiprocessing's own helper."""
        try:
            children = psutil.Process(self.pid).children()
        except psutil.NoSuchProcess:
            return []
        ours = [child for child in children if _is_spawned(child)]
        return sorted(ours, key=lambda child: (child.create_time(), child.pid))

    def wait(self) -> int:
        """The exit code."""
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.arguments} does not end:\n{self.output}\n{self.errors}") from None

    def until(self, happened: Callable[[], object], what: str) -> None:
        """Look twenty times a second while the command runs; fail if it does not happen."""
        deadline = time.monotonic() + PATIENCE
        while not happened():
            assert self.process.poll() is None, f"ended before {what}:\n{self.output}\n{self.errors}"
            assert time.monotonic() < deadline, f"waited in vain until {what}:\n{self.output}\n{self.errors}"
            time.sleep(0.05)


def _is_spawned(process: psutil.Process) -> bool:
    try:
        return "spawn_main" in " ".join(process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_until(happened: Callable[[], object], what: str) -> None:
    """Look twenty times a second; fail with `what` if it does not happen."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.05)
