"""Our console: a batch of one lane."""

import sys
from pathlib import Path

import numpy as np

from benchmarks.console_measurements import ConsoleMeasurements
from benchmarks.worker import Answer, serve
from mario_rl import __version__
from mario_rl.emulators.embedded import EmbeddedBatch

MANY_LANES = 1000


class MarioRlConsole:
    """Nothing is drawn unless it is asked for; pictures come in an array that stays where it is."""

    def __init__(self, rom_file: str) -> None:
        self._batch = EmbeddedBatch(rom_file, 1)
        self._pads = np.zeros((1, 2), np.uint8)
        self._ram = self._batch.ram
        self._screen = self._batch.configure_screen("rgb", stack=1)

    def run(self, pad: int, frames: int) -> None:
        self._pads[0, 0] = pad
        self._batch.step(self._pads, frames)

    def run_and_draw(self, pad: int) -> np.ndarray:
        self._pads[0, 0] = pad
        self._batch.step(self._pads, 1, screen="push")
        return self._screen[0, -1]

    def peek(self, address: int) -> int:
        return int(self._ram[0, address])

    def save(self) -> bytes:
        return self._batch.save(0)

    def load(self, state: bytes) -> None:
        self._batch.load(0, state)


def memory_of_many_lanes(rom_file: str) -> Answer:
    """Megabytes of resident memory that a thousand consoles take, after each has run."""
    before = _resident_megabytes()
    batch = EmbeddedBatch(rom_file, MANY_LANES)
    batch.step(np.zeros((MANY_LANES, 2), np.uint8), 30)
    return {"lanes": MANY_LANES, "megabytes": _resident_megabytes() - before}


def _resident_megabytes() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise OSError("/proc/self/status has no VmRSS")


if __name__ == "__main__":
    rom = sys.argv[1]
    measurements = ConsoleMeasurements(MarioRlConsole(rom)).by_name()
    serve(__version__, {**measurements, "memory": lambda: memory_of_many_lanes(rom)})
