"""nes-py's emulator library, called as its own NESEnv calls it. NESEnv itself does not load under NumPy 2."""

import ctypes
import sys
from importlib.metadata import distribution, version

import numpy as np

from benchmarks.console_measurements import ConsoleMeasurements
from benchmarks.worker import serve


class NesPyConsole:
    """One frame per call, always drawn. The library keeps one backup, so that is what save and load can do."""

    def __init__(self, rom_file: str) -> None:
        files = distribution("nes-py").files or []
        library = next(file for file in files if file.name.startswith("lib_nes_env"))
        self._library = ctypes.CDLL(str(library.locate()))
        for name, result, arguments in [
            ("Width", ctypes.c_uint, []),
            ("Height", ctypes.c_uint, []),
            ("Initialize", ctypes.c_void_p, [ctypes.c_wchar_p]),
            ("Controller", ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_uint]),
            ("Screen", ctypes.c_void_p, [ctypes.c_void_p]),
            ("Memory", ctypes.c_void_p, [ctypes.c_void_p]),
            ("Reset", None, [ctypes.c_void_p]),
            ("Step", None, [ctypes.c_void_p]),
            ("Backup", None, [ctypes.c_void_p]),
            ("Restore", None, [ctypes.c_void_p]),
        ]:
            function = getattr(self._library, name)
            function.restype, function.argtypes = result, arguments
        self._console = self._library.Initialize(rom_file)
        self._library.Reset(self._console)
        height, width = self._library.Height(), self._library.Width()
        self._screen = self._bytes(self._library.Screen(self._console), height * width * 4).reshape(height, width, 4)
        self._ram = self._bytes(self._library.Memory(self._console), 2048)
        self._pad = self._bytes(self._library.Controller(self._console, 0), 1)

    @staticmethod
    def _bytes(address: int, size: int) -> np.ndarray:
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))

    def run(self, pad: int, frames: int) -> None:
        self._pad[0] = int(f"{pad:08b}"[::-1], 2)  # nes-py counts the buttons from the other end
        for _ in range(frames):
            self._library.Step(self._console)

    def run_and_draw(self, pad: int) -> np.ndarray:
        self.run(pad, 1)
        return self._screen[:, :, 2::-1].copy()  # blue, green, red, unused -> RGB

    def peek(self, address: int) -> int:
        return int(self._ram[address])

    def save(self) -> None:
        self._library.Backup(self._console)

    def load(self, state: None) -> None:
        self._library.Restore(self._console)


if __name__ == "__main__":
    serve(version("nes-py"), ConsoleMeasurements(NesPyConsole(sys.argv[1])).by_name())
