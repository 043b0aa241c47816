"""Our own NES core (native/) behind the emulator contracts."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mario_rl._native import Batch, Rom, RomError, StateError
from mario_rl.emulators.base import Screen

__all__ = ["EmbeddedBatch", "EmbeddedEmulator", "RomError", "StateError", "load_rom"]


def load_rom(rom: bytes | str | Path | Rom) -> Rom:
    """A cartridge from iNES bytes or a file; raises RomError (a ValueError) that says what is wrong."""
    if isinstance(rom, Rom):
        return rom
    if isinstance(rom, bytes):
        return Rom(rom)
    try:
        return Rom(Path(rom).read_bytes())
    except RomError as problem:
        raise RomError(f"{rom}: {problem}") from problem


class EmbeddedBatch:
    """Lanes of one cartridge on a thread pool (see `EmulatorBatch`). The GIL is free while they run."""

    def __init__(self, rom: bytes | str | Path | Rom, lanes: int, threads: int = 1, idle_skip: bool = True) -> None:
        self.rom = load_rom(rom)
        self._batch = Batch(self.rom, lanes, threads, idle_skip)
        self.lanes = lanes
        self.threads = threads
        self.ram: NDArray[np.uint8] = self._batch.ram
        # The hot calls are the native ones themselves.
        self.step = self._batch.step
        self.frame = self._batch.frame
        self.pixels = self._batch.pixels
        self.peek = self._batch.peek
        self.poke = self._batch.poke
        self.save = self._batch.save
        self.load = self._batch.load
        self.load_lanes = self._batch.load_lanes
        self.copy = self._batch.copy
        self.power = self._batch.power
        self.reset = self._batch.reset
        self.registers = self._batch.registers

    @property
    def cycles(self) -> NDArray[np.uint64]:
        """CPU cycles since power-on, per lane."""
        return self._batch.cycles

    @property
    def frames(self) -> NDArray[np.uint64]:
        """Frames since power-on, per lane."""
        return self._batch.frames

    @property
    def state_size(self) -> int:
        """Bytes of a saved state, as of now (cartridge RAM counts once it was used)."""
        return self._batch.state_size

    def configure_screen(
        self,
        colour: Literal["grey", "rgb"] = "grey",
        crop: tuple[int, int, int, int] = (0, 0, 0, 0),
        size: tuple[int, int] | None = None,
        stack: int = 1,
        max_pool: bool = False,
    ) -> NDArray[np.uint8]:
        """See `EmulatorBatch.configure_screen`."""
        return self._batch.configure_screen(colour, crop, size, stack, max_pool)

    def close(self) -> None:
        """Nothing to release early: the consoles go with the last array that looks into them."""


class EmbeddedEmulator:
    """One console (see `Emulator`)."""

    def __init__(self, rom: bytes | str | Path | Rom, idle_skip: bool = True) -> None:
        self._batch = EmbeddedBatch(rom, lanes=1, idle_skip=idle_skip)
        self.ram: NDArray[np.uint8] = self._batch.ram[0]
        self._pads = np.zeros((1, 2), np.uint8)

    def step(self, pads: tuple[int, int] = (0, 0), frames: int = 1, render: bool = False) -> None:
        """Run `frames` frames with both pads held; draw the last one if `render`."""
        self._pads[0] = pads
        screen: Screen = "draw" if render else "off"
        self._batch.step(self._pads, frames, None, screen)

    def frame(self) -> NDArray[np.uint8]:
        """The last drawn frame, uint8[240, 256, 3] RGB."""
        return self._batch.frame(0)

    def peek(self, address: int, length: int = 1) -> bytes:
        """The CPU bus without side effects; registers read as 0."""
        return self._batch.peek(0, address, length)

    def poke(self, address: int, value: int) -> None:
        """Write a byte of RAM or cartridge RAM."""
        self._batch.poke(0, address, value)

    def save(self) -> bytes:
        """The whole state, portable between processes and machines."""
        return self._batch.save(0)

    def load(self, state: bytes) -> None:
        """Restore a saved state; StateError (a ValueError) if it is not one, and then nothing changed."""
        self._batch.load(0, state)

    def power(self) -> None:
        """Switch off and on again."""
        self._batch.power(0)

    def reset(self) -> None:
        """Press the reset button."""
        self._batch.reset(0)

    @property
    def cycles(self) -> int:
        """CPU cycles since power-on."""
        return int(self._batch.cycles[0])

    def close(self) -> None:
        """Nothing to release early."""
        self._batch.close()
