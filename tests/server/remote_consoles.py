"""Consoles behind a server, for suites that open many: one server for the process, a session for each console."""

from __future__ import annotations

import atexit
import itertools
import tempfile
from functools import cache
from pathlib import Path

from mario_rl.emulators.remote import RemoteEmulator
from mario_rl.emulators.rom import sha256_of

from .running_server import RunningServer

_numbers = itertools.count()


class RemoteConsole(RemoteEmulator):
    """A console at power-on that ends when it is closed."""

    def __init__(self, rom: bytes, emulator: str):
        self._server, folder = _server(emulator)
        file = folder / f"{sha256_of(rom)}.nes"
        file.write_bytes(rom)
        self._name = f"console-{next(_numbers)}"
        self._server.post("/launch", {"rom_path": file.name, "play": False}, params={"session": self._name})
        super().__init__(self._server.url, self._name)

    def close(self) -> None:
        """Give the reservation back and end the session."""
        super().close()
        self._server.ask("POST", "/shutdown", params={"session": self._name})


@cache
def _server(emulator: str) -> tuple[RunningServer, Path]:
    roms = tempfile.TemporaryDirectory(prefix="mario-rl-roms-")
    server = RunningServer("--emulator", emulator, "--roms", roms.name, "--sessions", "16")
    atexit.register(roms.cleanup)
    atexit.register(server.end)
    return server, Path(roms.name)
