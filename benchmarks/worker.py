"""A measured system lives in its own process and is spoken to in JSON lines: a request on stdin, its answer on stdout.

Only the standard library: both sides of the pipe use this file, and the peers' side has no mario_rl.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SOURCE_TREE = Path(__file__).resolve().parents[1]

Answer = dict[str, Any]


class WorkerFailed(RuntimeError):
    """A worker could not start or died; the message is the last it said."""


class Worker:
    """The benchmark's end: start a worker module under some Python, ask it for measurements, stop it."""

    def __init__(self, python: Path | str, module: str, *arguments: str) -> None:
        self.module = module
        self._process = subprocess.Popen(
            [str(python), "-m", f"benchmarks.workers.{module}", *arguments],
            cwd=SOURCE_TREE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.version = self._receive()["version"]

    def ask(self, measurement: str, **parameters: Any) -> Answer:
        """Have the worker do a measurement and wait for its figures."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"measurement": measurement, **parameters}) + "\n")
        self._process.stdin.flush()
        return self._receive()

    def close(self) -> None:
        """Close the worker's stdin, at which it ends."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _receive(self) -> Answer:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise WorkerFailed(f"{self.module} ended with exit code {self._process.wait()}; its own words are above")
        answer: Answer = json.loads(line)
        return answer


def serve(version: str, measurements: dict[str, Callable[..., Answer]]) -> None:
    """The worker's end: answer requests until stdin closes."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C is the benchmark's to talk about
    # Emulators print as they please; the pipe is ours alone, so whatever they print goes to stderr.
    pipe = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def send(answer: Answer) -> None:
        pipe.write(json.dumps(answer) + "\n")
        pipe.flush()

    send({"version": version})
    for line in sys.stdin:
        request = json.loads(line)
        send(measurements[request.pop("measurement")](**request))


def timed(work: Callable[[], int], seconds: float) -> Answer:
    """Repeat `work` for at least `seconds` of wall time; `work` returns how many units (frames, steps) it did."""
    units = 0
    wall_start, cpu_start = time.perf_counter(), time.process_time()
    while time.perf_counter() - wall_start < seconds:
        units += work()
    return {
        "units": units,
        "cpu_s": time.process_time() - cpu_start,
        "wall_s": time.perf_counter() - wall_start,
    }
