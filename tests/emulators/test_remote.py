"""A console behind the server: the whole `Emulator` contract, environments over it, and what goes wrong on the way.

tests/contracts/test_emulator.py runs its suite over it, too.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from mario_rl.emulators import remote_connection
from mario_rl.emulators.base import Emulator
from mario_rl.emulators.embedded import EmbeddedEmulator
from mario_rl.emulators.remote import RemoteEmulator, RemoteError
from mario_rl.environment.drmario.env import DrMarioEnv
from mario_rl.roms import antidote
from tests.server.running_server import RunningServer, serving


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with serving("--emulator", "embedded", "--sessions", "8") as started:
        yield started


@pytest.fixture
def console(server: RunningServer) -> Iterator[RemoteEmulator]:
    """A console at power-on."""
    server.post("/launch", {"play": False, "game": "antidote"})
    opened = RemoteEmulator(server.url)
    yield opened
    opened.close()
    server.clear()


def test_it_is_the_console_there(console: RemoteEmulator) -> None:
    """Beside one in this process, with pokes, long steps, pictures and states in between."""
    here = EmbeddedEmulator(antidote())
    random = np.random.default_rng(0)
    assert isinstance(console, Emulator)
    ram = console.ram
    for _ in range(60):
        pads = (int(random.integers(256)), int(random.integers(256)))
        frames = int(random.choice([1, 4, 700]))
        for emulator in (here, console):
            emulator.ram[0x0305] = frames & 7
            emulator.step(pads, frames, render=True)
        assert np.array_equal(here.ram, ram) and console.ram is ram
    assert np.array_equal(here.frame(), console.frame())
    assert here.peek(0x8000, 0x8000) == console.peek(0x8000, 0x8000)
    state = console.save()
    assert state == here.save()
    console.power()
    assert console.save() == EmbeddedEmulator(antidote()).save()
    console.load(state)
    assert np.array_equal(here.ram, ram)
    ram[0x40] ^= 0xFF
    assert console.peek(0x40) == bytes([ram[0x40]])
    ram[0x41] ^= 0xFF
    console.load(state)
    assert np.array_equal(here.ram, ram), "a load undoes what was poked"


def test_an_environment_over_it_is_the_same_environment(server: RunningServer) -> None:
    there, here = DrMarioEnv(backend=server.url, level=3), DrMarioEnv(backend="rules", level=3)
    for seed in (1, 2):
        seen, known = (env.reset(seed=seed)[0] for env in (there, here))
        assert np.array_equal(seen, known)
        for action in np.random.default_rng(seed).integers(12, size=150):
            (seen, reward, *ended, _), (known, expected, *over, _) = (env.step(int(action)) for env in (there, here))
            assert np.array_equal(seen, known) and (reward, ended) == (expected, over)
            if any(over):
                break
    there.close()
    server.clear()


def test_only_one_can_write(server: RunningServer, console: RemoteEmulator) -> None:
    with pytest.raises(RemoteError, match="another client has reserved"):
        RemoteEmulator(server.url)
    other = RemoteEmulator(server.url, "another-one")
    other.close()
    console.close()
    console.close()
    again = RemoteEmulator(server.url)
    again.step()
    again.close()
    with pytest.raises(RemoteError, match="reservation has lapsed"):
        console.step()


# --- on the way -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8000",
        "ftp://localhost",
        "http://",
        "http://localhost/path",
        "http://localhost?x=1",
        "http://localhost:x",
        "file:///x",
    ],
)
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(ValueError, match="http://localhost:8000"):
        RemoteEmulator(url)


def test_nobody_answers() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        with pytest.raises(RemoteError, match="mario-rl serve") as problem:
            RemoteEmulator(f"http://127.0.0.1:{taken.getsockname()[1]}")
    assert "\n" not in str(problem.value)


@contextmanager
def stranger(*answers: bytes) -> Iterator[str]:
    """The address of a server that answers any request with these bytes, and then ends the connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            for answer in answers:
                connection, _ = listener.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nlonger",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        b"HTTP/1.1 four OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nwhat",
        b"HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\n[]",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"x" * 100_000,
    ],
)
def test_somebody_else_answers(answer: bytes) -> None:
    with stranger(answer) as url, pytest.raises(RemoteError) as problem:
        RemoteEmulator(url)
    assert url in str(problem.value) and "\n" not in str(problem.value)


def test_nobody_answers_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_connection, "TIMEOUT_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(RemoteError, match="in time"):
        RemoteEmulator(f"http://127.0.0.1:{listener.getsockname()[1]}")


def test_a_server_that_ends() -> None:
    with serving("--emulator", "embedded") as server:
        console = RemoteEmulator(server.url)
        server.end()
        for _ in range(2):
            with pytest.raises(RemoteError, match="mario-rl serve"):
                console.step()
        console.close()


def test_an_idle_connection_that_the_server_ended_is_opened_again(console: RemoteEmulator) -> None:
    stream = console._connection._socket
    assert stream is not None
    stream.shutdown(socket.SHUT_RD)  # as it looks here when the server has closed it
    before = console.ram.tobytes()
    console.step(frames=200)
    assert console.ram.tobytes() != before
