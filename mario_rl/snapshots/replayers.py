"""The emulators on which routes are replayed: our core, and two that are none of ours and say whether it is right."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from mario_rl.emulators.base import RAM_SIZE
from mario_rl.emulators.embedded import EmbeddedBatch
from mario_rl.emulators.mednafen import MednafenEmulator
from mario_rl.emulators.mednafen_build import MednafenError, installed_build
from mario_rl.snapshots.routes import Replayer, RouteError

__all__ = ["ORACLES", "CynesReplayer", "EmbeddedReplayer", "MednafenReplayer", "installed_oracles"]

# Where things lie in a state that cynes saves, the latter two from its end (NROM cartridges).
_CYNES_UNINITIALISED = 24
_CYNES_RAM = 2340
_CYNES_VRAM = _CYNES_RAM + 2048


class EmbeddedReplayer:
    """Our own core."""

    def __init__(self, rom: bytes):
        self._console = EmbeddedBatch(rom, lanes=1)
        self._console.power(0)

    def play(self, pad: int, frames: int) -> None:
        """See `Replayer`."""
        self._console.step(np.array([[pad, 0]], np.uint8), frames)

    def poke(self, address: int, value: int) -> None:
        """See `Replayer`."""
        self._console.poke(0, address, value)

    def look(self) -> np.ndarray:
        """See `Replayer`."""
        return self._console.ram[0].copy()


class CynesReplayer:
    """cynes, an emulator that is none of ours and passes the public hardware tests: `pip install mario-rl[verify]`."""

    def __init__(self, rom: Path):
        try:
            from cynes import NES
        except ImportError as problem:
            raise RouteError("routes are verified with cynes, which is not installed: pip install cynes") from problem
        self._nes = NES(str(rom))
        state = self._nes.save()
        state[_CYNES_UNINITIALISED] = 0  # starts with whatever was in memory
        state[state.size - _CYNES_VRAM : state.size - _CYNES_RAM] = 0  # undefined in hardware, 0 in our core
        self._nes.load(state)

    def play(self, pad: int, frames: int) -> None:
        """See `Replayer`."""
        self._nes.controller = pad
        self._nes.step(frames)

    def poke(self, address: int, value: int) -> None:
        """See `Replayer`."""
        self._nes[address] = value

    def look(self) -> np.ndarray:
        """See `Replayer`."""
        state = self._nes.save()
        return np.array(state[state.size - _CYNES_RAM :][:RAM_SIZE])


class MednafenReplayer:
    """Mednafen, the real emulator; see docs/mednafen.md."""

    def __init__(self, rom: Path):
        try:
            self._console = MednafenEmulator(rom)
        except MednafenError as problem:
            raise RouteError(str(problem)) from problem
        self._console.ram[:] = 0  # $FF in Mednafen, 0 in our core; Super Mario Bros. does not clear all of it
        self._console.step()  # Mednafen's picture unit is dead for a frame, and the game waits for it

    def play(self, pad: int, frames: int) -> None:
        """See `Replayer`."""
        self._console.step((pad, 0), frames)

    def poke(self, address: int, value: int) -> None:
        """See `Replayer`."""
        self._console.ram[address] = value

    def look(self) -> np.ndarray:
        """See `Replayer`."""
        return self._console.ram.copy()


ORACLES: dict[str, Callable[[Path], Replayer]] = {"cynes": CynesReplayer, "mednafen": MednafenReplayer}


def installed_oracles() -> tuple[str, ...]:
    """The emulators besides ours that this machine has, by their names in ORACLES."""
    found = ["cynes"] if find_spec("cynes") is not None else []
    try:
        installed_build()
    except MednafenError:
        return tuple(found)
    return (*found, "mednafen")
