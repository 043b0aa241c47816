"""A server as a user runs it: a process of its own, at a port that was free."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil
import requests

PATIENCE = 60.0  # s; against hangs only
TOKEN = "correct-horse-battery-staple"


class RunningServer:
    """The process, and a client's connection to it."""

    def __init__(self, *options: str, **environment: str):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mario_rl", "serve", "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        self.url = self._announced()
        self.http = requests.Session()
        self.http.trust_env = False

    def _announced(self) -> str:
        assert self.process.stdout is not None and self.process.stderr is not None
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        line = self.process.stdout.readline() if ready else ""
        address = re.search(r"http://\S+", line)
        if address is None:
            self.process.kill()
            raise AssertionError(f"the server did not start: {line} {self.process.stderr.read()}")
        return address[0]

    def ask(self, method: str, path: str, **arguments: Any) -> requests.Response:
        """A request."""
        return self.http.request(method, self.url + path, timeout=PATIENCE, **arguments)

    def get(self, path: str, **arguments: Any) -> Any:
        """The JSON object at an address that is there."""
        answer = self.ask("GET", path, **arguments)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: Any = None, status: int = 200, **arguments: Any) -> Any:
        """What a POST answers."""
        answer = self.ask("POST", path, json=body, **arguments)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    def consoles(self) -> list[psutil.Process]:
        """The Mednafen processes it has started."""
        return [
            child for child in psutil.Process(self.process.pid).children(recursive=True) if "mednafen" in child.name()
        ]

    def clear(self) -> None:
        """End all sessions and delete all states."""
        for status in self.get("/sessions")["sessions"]:
            self.post("/shutdown", params={"session": status["session"]})
        for state in self.get("/states")["states"]:
            assert self.ask("DELETE", f"/states/{state['name']}").status_code == 204

    def end(self, how: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Send it a signal; its exit code and what it said on stderr."""
        self.process.send_signal(how)
        _, said = self.process.communicate(timeout=PATIENCE)
        self.http.close()
        return self.process.returncode, said


@contextmanager
def serving(*options: str, **environment: str) -> Iterator[RunningServer]:
    """A server for the time of a block; it must end well and say nothing meanwhile."""
    server = RunningServer(*options, **environment)
    try:
        yield server
    except BaseException:
        server.process.kill()
        server.process.communicate()
        raise
    if server.process.poll() is None:
        code, said = server.end()
        assert (code, said) == (0, ""), (code, said)


def until(true: Any, patience: float = PATIENCE) -> Any:
    """Wait for something to become true; what it was then."""
    end = time.monotonic() + patience
    while not (value := true()):
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.01)
    return value
