"""Two consoles side by side: ours and cynes, which passes all the public hardware test ROMs and so is the oracle."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from cynes import NES

from mario_rl._native import Batch, Rom

PadSequence = Callable[[int], tuple[int, int]]

# Where things lie in a cynes save state, counted as its save() lays them out
CYNES_UNINITIALISED_BYTE = 24  # starts with whatever was in memory; 0 makes every instance start alike
CYNES_RAM_FROM_END = 2340
CYNES_VRAM_FROM_END = CYNES_RAM_FROM_END + 2048  # powers on with a pattern; undefined in hardware, 0 in our core


def no_buttons(_frame: int) -> tuple[int, int]:
    return 0, 0


class CynesConsole:
    """One cynes instance, always from the same power-on state."""

    def __init__(self, rom: bytes) -> None:
        with tempfile.NamedTemporaryFile(suffix=".nes") as file:
            Path(file.name).write_bytes(rom)
            self._nes = NES(file.name)
        state = self._nes.save()
        state[CYNES_UNINITIALISED_BYTE] = 0
        if rom[6] >> 4 == 0:  # other mappers put their own registers in between
            state[state.size - CYNES_VRAM_FROM_END : state.size - CYNES_RAM_FROM_END] = 0
        self._nes.load(state)
        self._picture = np.zeros((240, 256, 3), np.uint8)

    def step(self, pads: tuple[int, int] = (0, 0)) -> None:
        self._nes.controller = pads[0] | pads[1] << 8
        self._picture = self._nes.step(1)

    def reset(self) -> None:
        self._nes.reset()

    @property
    def ram(self) -> np.ndarray:
        state = self._nes.save()
        return state[state.size - CYNES_RAM_FROM_END :][:2048]

    @property
    def picture(self) -> np.ndarray:
        """RGB of the frame that just ended."""
        return self._picture

    def poke(self, address: int, value: int) -> None:
        self._nes[address] = value


class OurConsole:
    """One lane of the native core, with the same surface."""

    def __init__(self, rom: bytes, idle_skip: bool = True, draw: bool = False) -> None:
        self.batch = Batch(Rom(rom), 1, idle_skip=idle_skip)
        self._screen = "draw" if draw else "off"

    def step(self, pads: tuple[int, int] = (0, 0)) -> None:
        self.batch.step(np.array([pads], np.uint8), 1, screen=self._screen)

    def reset(self) -> None:
        self.batch.reset(0)

    @property
    def ram(self) -> np.ndarray:
        return self.batch.ram[0]

    @property
    def cycles(self) -> int:
        return int(self.batch.cycles[0])

    @property
    def colours(self) -> np.ndarray:
        """NES palette indices of the frame that just ended."""
        return self.batch.pixels(0)

    def poke(self, address: int, value: int) -> None:
        self.batch.poke(0, address, value)


@dataclass
class Comparison:
    """Runs a ROM in cynes and in our core with and without idle-loop skipping, and stops at the first difference."""

    rom: bytes
    pads: PadSequence = no_buttons
    draw: bool = False

    @cached_property
    def oracle(self) -> CynesConsole:
        return CynesConsole(self.rom)

    @cached_property
    def ours(self) -> tuple[OurConsole, OurConsole]:
        return OurConsole(self.rom, idle_skip=True, draw=self.draw), OurConsole(self.rom, idle_skip=False)

    @property
    def consoles(self) -> tuple[CynesConsole | OurConsole, ...]:
        return (self.oracle, *self.ours)

    def frames(self, count: int) -> Iterator[int]:
        """Steps everything frame by frame; after each, all RAM has been found equal, and the cycles of our two."""
        for frame in range(count):
            for console in self.consoles:
                console.step(self.pads(frame))
            difference = self.difference()
            assert difference is None, f"frame {frame}: {difference}"
            yield frame

    def difference(self) -> str | None:
        skipping, plain = self.ours
        expected = self.oracle.ram
        for name, console in (("without idle skip", plain), ("with idle skip", skipping)):
            if not np.array_equal(console.ram, expected):
                places = np.flatnonzero(console.ram != expected)
                shown = ", ".join(f"${at:04X} is {console.ram[at]:02X} not {expected[at]:02X}" for at in places[:8])
                return f"{name}, {len(places)} RAM bytes differ from cynes: {shown}"
        if skipping.cycles != plain.cycles:
            return f"idle skip ends at cycle {skipping.cycles}, without it {plain.cycles}"
        return None
