"""What a session owns: a console and whoever keeps it alive. Mednafen in a child process, or our own core in ours."""

from __future__ import annotations

from typing import Literal, Protocol

from mario_rl.emulators.base import Emulator
from mario_rl.emulators.embedded import EmbeddedEmulator
from mario_rl.emulators.mednafen import LaunchReport, MednafenManager
from mario_rl.emulators.navigation import game_of

EmulatorName = Literal["mednafen", "embedded"]
ManagerState = Literal["stopped", "running", "recovering", "failed"]


class Manager(Protocol):
    """Launches a console and watches it."""

    @property
    def state(self) -> ManagerState:
        """How it is at this moment."""

    @property
    def pid(self) -> int | None:
        """The console's process, if it has one of its own."""

    @property
    def restarts(self) -> int:
        """How often it was lost and brought back."""

    def launch(self) -> LaunchReport:
        """Start it, and bring it into play if that was asked for."""

    def restart(self) -> LaunchReport:
        """End it and start it again."""

    def shutdown(self) -> None:
        """End it. Idempotent."""

    def get_mcp(self) -> Emulator:
        """The console."""


class EmbeddedManager:
    """Our own core: no process, so nothing to recover."""

    restarts = 0
    pid = None

    def __init__(self, rom: bytes, play: bool = True):
        self._rom = rom
        self._play = play
        self._console: EmbeddedEmulator | None = None

    @property
    def state(self) -> ManagerState:
        """See `Manager`."""
        return "stopped" if self._console is None else "running"

    def launch(self) -> LaunchReport:
        """See `Manager`."""
        console, game = EmbeddedEmulator(self._rom), game_of(self._rom)
        if game is not None and self._play:
            game.into_play(console)
        self._console = console
        return {
            "success": True,
            "pid": None,
            "nes_ram_base": None,
            "game_mode": "" if game is None else game.mode(console.ram),
            "in_gameplay": game is not None and game.in_play(console.ram),
            "message": "the embedded core runs in the server's own process",
        }

    def restart(self) -> LaunchReport:
        """See `Manager`."""
        self.shutdown()
        return self.launch()

    def shutdown(self) -> None:
        """See `Manager`."""
        self._console = None

    def get_mcp(self) -> EmbeddedEmulator:
        """See `Manager`."""
        if self._console is None:
            raise RuntimeError("not launched")
        return self._console


def open_manager(emulator: EmulatorName, rom: bytes, headless: bool, display: str | None, play: bool) -> Manager:
    """The manager of a console that is not launched yet."""
    if emulator == "embedded":
        return EmbeddedManager(rom, play)
    return MednafenManager(rom, headless, display=display, play=play)
