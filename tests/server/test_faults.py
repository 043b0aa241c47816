"""Consoles and servers come to harm: nobody hangs, nothing is lost but the moment, nothing is left."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests

from mario_rl.emulators.base import EmulatorReset
from mario_rl.emulators.remote import RemoteEmulator
from mario_rl.emulators.remote_step import LONGEST_STEP

from .running_server import PATIENCE, RunningServer, serving, until

KILLS = 50
LAUNCH_BY_MCP = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    b'"clientInfo":{"name":"test","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"launch","arguments":{}}}\n'
)


@pytest.fixture
def place(mednafen: None) -> Iterator[Path]:
    """A temporary directory for a server and its consoles; empty afterwards."""
    with tempfile.TemporaryDirectory(prefix="mario-rl-faults-") as folder:
        yield Path(folder)
        until(lambda: not list(Path(folder).iterdir()), 5)


def _status(server: RunningServer) -> Any:
    """Over a connection of its own: tests ask from several threads."""
    return requests.get(server.url + "/status", timeout=PATIENCE).json()


def _kill_console(server: RunningServer) -> None:
    os.kill(until(lambda: _status(server)["pid"]), signal.SIGKILL)


# --- consoles -------------------------------------------------------------------------------------------------------


class Client(threading.Thread):
    """Does something again and again until it is over."""

    over = threading.Event()

    def __init__(self, work: Callable[[], None]):
        super().__init__(daemon=True)
        self._work = work
        self.problem: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            while not self.over.is_set():
                self._work()
        except Exception as problem:
            self.problem = problem


def test_consoles_killed_under_load(place: Path) -> None:
    """kill -9 the console 50 times while one client writes, two watch, and another session is being used."""
    Client.over.clear()
    seen: Counter[str] = Counter()
    with serving("--sessions", "2", TMPDIR=str(place)) as server:
        server.post("/launch")
        server.post("/launch?session=other", {"play": False})
        console, other = RemoteEmulator(server.url), RemoteEmulator(server.url, "other")
        begun = other.save()
        other.step(frames=100)
        expected = other.ram.tobytes()

        def write() -> None:
            try:
                console.step((2, 0), frames=60)
                seen["steps"] += 1
            except EmulatorReset as reset:
                assert reset.restarts > 0
                seen["resets"] += 1

        def watch() -> None:
            status = _status(server)
            assert status["alive"] == (status["state"] == "running")
            assert status["state"] in ("running", "recovering")

        def look() -> None:
            picture = requests.get(server.url + "/screenshot.png", timeout=PATIENCE)
            assert picture.status_code in (200, 409), picture.text
            seen[f"pictures {picture.status_code}"] += 1

        def use_another() -> None:
            other.load(begun)
            for _ in range(10):
                other.step(frames=10)
            assert other.ram.tobytes() == expected, "the other session must not notice"

        clients = [Client(work) for work in (write, watch, look, use_another)]
        for number in range(1, KILLS + 1):
            _kill_console(server)
            until(lambda: _status(server)["restarts"] == number)  # noqa: B023
        steps = seen["steps"]
        until(lambda: seen["steps"] > steps + 3 or not all(client.is_alive() for client in clients))
        Client.over.set()
        for client in clients:
            client.join(PATIENCE)
            assert not client.is_alive() and client.problem is None, client.problem
        console.close()
        other.close()
        assert _status(server)["restarts"] == KILLS
        assert 1 <= seen["resets"] <= KILLS and seen["pictures 200"] > 0, seen
        assert len(server.consoles()) == 2
        lines = server.ask("GET", "/metrics").text.splitlines()
        assert f'mario_rl_console_restarts_total{{session="default"}} {KILLS}.0' in lines

        _killed_in_the_middle_of_a_long_step(server)
        _killed_while_nobody_asks(server)


def _killed_in_the_middle_of_a_long_step(server: RunningServer) -> None:
    console = RemoteEmulator(server.url)
    kept = console.save()
    killer = threading.Timer(0.05, _kill_console, (server,))
    killer.start()
    with pytest.raises(EmulatorReset):
        for _ in range(1000):
            console.step(frames=LONGEST_STEP)
    killer.join()
    console.load(kept)
    assert console.save() == kept
    console.close()


def _killed_while_nobody_asks(server: RunningServer) -> None:
    """The server notices by itself; each writer is told, once."""
    server.ask("POST", "/step")  # so that this writer knows of all that was before
    server.post("/reset")
    restarts = _status(server)["restarts"]
    _kill_console(server)
    until(lambda: _status(server)["restarts"] == restarts + 1 and _status(server)["alive"])
    assert server.get("/game_state")["in_gameplay"], "it is back, where it was"
    assert server.ask("GET", "/state").status_code == 200, "who only reads does not notice"
    assert server.post("/step", status=409) == {
        "error": "reset",
        "detail": "the console was lost and is back at the last kept state: begin a new episode",
        "restarts": restarts + 1,
    }
    assert server.post("/step")["frames"] == 1
    key = {"X-Writer": server.post("/connect", {"writer": True})["writer"]}
    assert server.post("/step", headers=key)["frames"] == 1, "it is news to those who were there"
    server.post("/disconnect", status=204, headers=key)


# --- servers --------------------------------------------------------------------------------------------------------


def _connected(server: RunningServer) -> socket.socket:
    host, _, port = server.url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), PATIENCE)


def _runs(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def test_the_end_of_a_server(place: Path) -> None:
    """A step is being carried out and a stream is open: one is answered, the other ended, the consoles are gone."""
    with serving("--sessions", "2", TMPDIR=str(place)) as server, _connected(server) as client:
        for session in ("default", "other"):
            server.post(f"/launch?session={session}", {"play": False})
        consoles = server.consoles()
        assert len(consoles) == 2
        stream = requests.get(server.url + "/events", stream=True, timeout=PATIENCE)
        news = stream.iter_lines()
        assert next(news) == b"event: status"
        body = b'{"frames": %d, "return": "none"}' % LONGEST_STEP
        head = b"POST /step HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        client.sendall(head % len(body) + body)
        server.get("/status")  # sent later, so the step has been read
        assert server.end() == (0, "")
        assert client.recv(4096).startswith(b"HTTP/1.1 200 ")
        list(news)
        assert not any(_runs(console) for console in consoles)


def test_no_console_outlives_a_killed_server(place: Path) -> None:
    with serving("--sessions", "2", TMPDIR=str(place)) as server:
        for session in ("default", "other"):
            server.post(f"/launch?session={session}", {"play": False})
        consoles = server.consoles()
        assert server.end(signal.SIGKILL) == (-signal.SIGKILL, "")
        until(lambda: not any(_runs(console) for console in consoles))


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_the_end_of_a_server_on_stdio(place: Path, how: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "mario_rl", "serve", "--mcp-stdio"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(place)},
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(LAUNCH_BY_MCP)
    process.stdin.flush()
    while b'"id":2' not in (line := process.stdout.readline()):
        assert line, "it ended"
    consoles = psutil.Process(process.pid).children()
    assert len(consoles) == 1
    process.send_signal(how)
    _, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said) == (-how if how == signal.SIGKILL else 0, b"")
    until(lambda: not any(_runs(console) for console in consoles))


def test_garbage_on_the_wire(embedded: RunningServer) -> None:
    letters = b"GET " + b"x" * 200_000
    for garbage in (b"\0" * 100, b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\0\x01", letters, b"\r\n" * 1000):
        with _connected(embedded) as stream, contextlib.suppress(ConnectionError):
            stream.sendall(garbage)
            stream.shutdown(socket.SHUT_WR)
            while stream.recv(4096):
                pass
    assert embedded.get("/status")["state"] == "stopped"
