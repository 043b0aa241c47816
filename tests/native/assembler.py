"""Small iNES cartridges for tests: assembled from ca65 source, or wrapped around machine code.

A cartridge is the last `code_size` bytes of PRG ROM (the program, with the vectors at its end) plus generated banks
before it. Generated PRG bytes, and the first byte of each CHR page, are the page's number: a program sees its banks.
"""

import functools
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"

PRG_PAGE = 0x2000  # the smallest bank any supported mapper switches (MMC3)
CHR_PAGE = 0x400

LINKER_CONFIG = """
MEMORY {{
    ZP:  start = $0010, size = $00F0;
    PRG: start = ${start:04X}, size = ${size:04X}, fill = yes, fillval = $EA, file = %O;
    CHR: start = $0000, size = $2000, fill = yes, file = %O;
}}
SEGMENTS {{
    ZEROPAGE: load = ZP, type = zp, optional = yes;
    CODE:     load = PRG, type = ro, align = $100;
    SAMPLES:  load = PRG, type = ro, align = $40, optional = yes;
    VECTORS:  load = PRG, type = ro, start = $FFFA;
    CHARS:    load = CHR, type = ro, optional = yes;
}}
"""


@dataclass(frozen=True)
class Cartridge:
    """The hardware around a program."""

    mapper: int = 0
    prg_size: int = 0x8000
    chr_size: int = 0x2000  # 0: 8 KB of CHR RAM
    mirroring: str = "horizontal"
    battery: bool = False
    code_size: int = 0x8000
    program_in_every_bank: bool = False  # for mappers that can switch away the bank that holds the vectors

    def image(self, program: bytes, tiles: bytes = b"") -> bytes:
        """The iNES file."""
        assert len(program) == self.code_size <= self.prg_size
        if self.program_in_every_bank:
            prg = b"".join(
                program[:-0x10] + bytes([bank]) + program[-0xF:] for bank in range(self.prg_size // len(program))
            )
        else:
            pages = (self.prg_size - self.code_size) // PRG_PAGE
            prg = b"".join(bytes([page]) * PRG_PAGE for page in range(pages)) + program
        return self.header() + prg + self._chr_rom(tiles)

    def header(self) -> bytes:
        flags6 = {"horizontal": 0, "vertical": 1, "four-screen": 8}[self.mirroring]
        flags6 |= 2 * self.battery | (self.mapper & 15) << 4
        sizes = bytes([self.prg_size // 0x4000, self.chr_size // 0x2000])
        return b"NES\x1a" + sizes + bytes([flags6, self.mapper & 0xF0]) + bytes(8)

    def _chr_rom(self, tiles: bytes) -> bytes:
        if tiles.strip(b"\0") == b"" and self.chr_size:
            pages = (bytes((page * 37 + i * 29 + (i >> 4)) & 255 for i in range(CHR_PAGE)) for page in range(1024))
            return b"".join(bytes([page & 255]) + next(pages)[1:] for page in range(self.chr_size // CHR_PAGE))
        return (tiles * (1 + self.chr_size // 0x2000))[: self.chr_size]


NROM = Cartridge()


def assemble(source: str, cartridge: Cartridge = NROM, defines: tuple[str, ...] = ()) -> bytes:
    """The iNES image of a ca65 program, which may include the files of the programs directory."""
    code, tiles = _assemble(source, cartridge.code_size, defines)
    return cartridge.image(code, tiles)


@functools.cache
def _assemble(source: str, code_size: int, defines: tuple[str, ...]) -> tuple[bytes, bytes]:
    if shutil.which("ca65") is None:
        raise RuntimeError("ca65 is missing; install the Debian package cc65")
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        (folder / "program.s").write_text(source)
        (folder / "link.cfg").write_text(LINKER_CONFIG.format(start=0x10000 - code_size, size=code_size))
        options = [option for define in defines for option in ("-D", define)]
        _run(folder, "ca65", "-t", "none", "-I", str(PROGRAMS), *options, "-o", "program.o", "program.s")
        _run(folder, "ld65", "-C", "link.cfg", "-o", "program.bin", "-m", "map", "program.o")
        image = (folder / "program.bin").read_bytes()
    return image[:code_size], image[code_size:]


def _run(folder: Path, *command: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"{command[0]}: {done.stderr.strip()}")


def machine_code(code: bytes, origin: int = 0x8000, nmi: int | None = None, irq: int | None = None) -> bytes:
    """An NROM program whose bytes are given: `code` from `origin` on, with NMI and IRQ returning at once by default."""
    program = bytearray(b"\xea" * 0x8000)
    program[origin - 0x8000 : origin - 0x8000 + len(code)] = code
    program[0x7FF0] = 0x40  # RTI
    for vector, target in zip((0x7FFA, 0x7FFC, 0x7FFE), (nmi or 0xFFF0, origin, irq or 0xFFF0), strict=True):
        program[vector : vector + 2] = target.to_bytes(2, "little")
    return NROM.image(bytes(program))
