"""stable-retro's emulator object, below its environment: one frame per call, always drawn by its core (fceumm)."""

import sys
from importlib.metadata import version

import numpy as np
import stable_retro

from benchmarks.console_measurements import ConsoleMeasurements
from benchmarks.smb_run import RIGHT, START, A, B
from benchmarks.worker import serve

BUTTON_NAMES = {RIGHT: "RIGHT", START: "START", B: "B", A: "A"}


class StableRetroConsole:
    """`update_ram` is how stable-retro makes the RAM readable after a frame."""

    def __init__(self, rom_file: str) -> None:
        self._buttons = stable_retro.get_system_info("Nes")["buttons"]
        self._emulator = stable_retro.RetroEmulator(rom_file)
        self._data = stable_retro.data.GameData()
        self._emulator.configure_data(self._data)
        self._emulator.step()
        self._masks = {pad: self._mask(pad) for pad in range(256)}

    def _mask(self, pad: int) -> np.ndarray:
        pressed = {name for bit, name in BUTTON_NAMES.items() if pad & bit}
        return np.array([button in pressed for button in self._buttons], np.uint8)

    def run(self, pad: int, frames: int) -> None:
        self._emulator.set_button_mask(self._masks[pad], 0)
        for _ in range(frames):
            self._emulator.step()
        self._data.update_ram()

    def run_and_draw(self, pad: int) -> np.ndarray:
        self._emulator.set_button_mask(self._masks[pad], 0)
        self._emulator.step()
        return self._emulator.get_screen()

    def peek(self, address: int) -> int:
        return int(self._data.memory.extract(address, "|u1"))

    def save(self) -> bytes:
        return self._emulator.get_state()

    def load(self, state: bytes) -> None:
        self._emulator.set_state(state)


if __name__ == "__main__":
    serve(version("stable-retro"), ConsoleMeasurements(StableRetroConsole(sys.argv[1])).by_name())
