"""Servers that the tests of a process share: one per emulator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mario_rl.emulators.mednafen import MednafenError
from mario_rl.emulators.mednafen_build import installed_build

from .running_server import TOKEN, RunningServer, serving


@pytest.fixture(scope="session")
def mednafen() -> None:
    """Skips where there is no Mednafen."""
    try:
        installed_build()
    except MednafenError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def roms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder the shared servers may launch ROMs from."""
    return tmp_path_factory.mktemp("roms")


@pytest.fixture(scope="session")
def _embedded(roms: Path) -> Iterator[RunningServer]:
    with serving("--emulator", "embedded", "--roms", str(roms), "--sessions", "8") as server:
        yield server


@pytest.fixture(scope="session")
def _mednafen(mednafen: None, roms: Path) -> Iterator[RunningServer]:
    with serving("--roms", str(roms), "--sessions", "8") as server:
        yield server


@pytest.fixture(scope="session")
def public() -> Iterator[RunningServer]:
    """A server that other machines could reach, so that needs its token."""
    options = ("--emulator", "embedded", "--host", "0.0.0.0", "--allow-host", "games", "--allow-origin", "http://page")
    with serving(*options, MARIO_RL_TOKEN=TOKEN) as server:
        server.url = server.url.replace("0.0.0.0", "127.0.0.1")
        yield server


@pytest.fixture(params=["embedded", "mednafen"])
def server(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    """Either server, with nothing running."""
    shared: RunningServer = request.getfixturevalue(f"_{request.param}")
    yield shared
    shared.clear()


@pytest.fixture
def embedded(_embedded: RunningServer) -> Iterator[RunningServer]:
    """The server of our own core, with nothing running; for what does not depend on the emulator."""
    yield _embedded
    _embedded.clear()
