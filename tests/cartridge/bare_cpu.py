"""Parts of Antidote on a bare 6502 (py65): art and sound routines called one by one, every write and cycle counted."""

from __future__ import annotations

import functools
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from py65.memory import ObservableMemory

from mario_rl.distill.machine import ExactMPU

CARTRIDGE = Path(__file__).parents[2] / "cartridge"
START = 0x8000
RETURN = 0x0100  # where a called routine returns to: nothing runs there

LINKER_CONFIG = """
MEMORY { PRG: start = $8000, size = $6000, file = %O; }
SEGMENTS { ART: load = PRG, type = ro; SOUND: load = PRG, type = ro; }
"""


@functools.cache
def image() -> tuple[bytes, Mapping[str, int]]:
    """Art and sound, assembled and linked without the game, and the addresses of their exported names."""
    with tempfile.TemporaryDirectory() as directory:
        made = Path(directory)
        subprocess.run([sys.executable, CARTRIDGE / "art" / "build.py", made], check=True)
        (made / "parts.cfg").write_text(LINKER_CONFIG)
        sources = [*CARTRIDGE.glob("art/*.s"), *CARTRIDGE.glob("sound/*.s"), *made.glob("*.s")]
        objects = [made / f"{source.stem}.o" for source in sources]
        for source, target in zip(sources, objects, strict=True):
            subprocess.run(["ca65", "-g", "-I", made, "-o", target, source], check=True)
        subprocess.run(
            ["ld65", "-C", made / "parts.cfg", "-Ln", made / "labels", "-o", made / "image", *objects], check=True
        )
        labels = (line.split() for line in (made / "labels").read_text().splitlines())
        return (made / "image").read_bytes(), {name.removeprefix("."): int(address, 16) for _, address, name in labels}


class BareCpu:
    """2 KB of RAM, the parts at $8000, and logs of what is written where."""

    def __init__(self) -> None:
        data, self.labels = image()
        self.memory = ObservableMemory()
        self.memory.write(START, list(data))
        self.writes: list[tuple[int, int]] = []
        self.memory.subscribe_to_write(range(0x8000), lambda address, value: self.writes.append((address, value)))
        self.cpu = ExactMPU(memory=self.memory)

    def call(self, name: str, a: int = 0, x: int = 0, y: int = 0) -> int:
        """Call a routine; the cycles it took, its RTS included. `writes` then holds what it wrote but for the stack."""
        cpu = self.cpu
        cpu.a, cpu.x, cpu.y, cpu.sp, cpu.pc = a, x, y, 0xFD, self.labels[name]
        self.memory[0x1FE], self.memory[0x1FF] = (RETURN - 1) & 0xFF, (RETURN - 1) >> 8
        self.writes.clear()
        before = cpu.processorCycles
        while cpu.pc != RETURN:
            cpu.step()
        self.writes[:] = [(address, value) for address, value in self.writes if address >> 8 != 1]
        return int(cpu.processorCycles - before)

    def poke(self, values: Mapping[int, int]) -> None:
        """Set bytes of RAM."""
        for address, value in values.items():
            self.memory[address] = value
