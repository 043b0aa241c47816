"""cynes: a console per `NES` object. It always draws; `step(k)` runs k frames in one call."""

import sys
from importlib.metadata import version

import numpy as np
from cynes import NES

from benchmarks.console_measurements import ConsoleMeasurements
from benchmarks.worker import serve


class CynesConsole:
    """cynes's pad bits are ours."""

    def __init__(self, rom_file: str) -> None:
        self._nes = NES(rom_file)

    def run(self, pad: int, frames: int) -> None:
        self._nes.controller = pad
        self._nes.step(frames)

    def run_and_draw(self, pad: int) -> np.ndarray:
        self._nes.controller = pad
        return self._nes.step(1)

    def peek(self, address: int) -> int:
        return int(self._nes[address])

    def save(self) -> np.ndarray:
        return self._nes.save()

    def load(self, state: np.ndarray) -> None:
        self._nes.load(state)


if __name__ == "__main__":
    serve(version("cynes"), ConsoleMeasurements(CynesConsole(sys.argv[1])).by_name())
