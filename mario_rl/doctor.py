"""What `mario-rl doctor` examines: is everything here, how fast is it, and how is what is missing put right?"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mario_rl import __version__
from mario_rl.distributed.shared_memory import leftovers, release_leftovers
from mario_rl.emulators import mednafen_build
from mario_rl.emulators.rom import RomFile, find_rom, located_roms

HOW_TO_BUILD = "run `pip install -e .` in the source tree (or `make setup`)"
SPEED_SECONDS = 2.0
FRAMES_BETWEEN_CLOCK_READS = 300
_NO_LEFTOVERS = "no shared memory of killed runs"


@dataclass(frozen=True)
class Finding:
    """One line of the examination. Without what is `required` nothing runs."""

    name: str
    ok: bool
    detail: str
    fix: str = ""
    required: bool = False
    otherwise: str = "absent"  # what it is called if it is not ok

    def line(self) -> str:
        """The finding for a terminal: state, name, detail, and how to fix it."""
        state = "ok" if self.ok else "MISSING" if self.required else self.otherwise
        return f"{state:8} {self.name:12} {self.detail}" + (f": {self.fix}" if self.fix else "")


def findings(rom: Path | None = None) -> Iterator[Finding]:
    """Examine this machine, one finding at a time; the last one, the speed, takes two seconds."""
    yield Finding("mario-rl", True, f"{__version__} on {platform.platform()}, {os.cpu_count()} cores")
    yield Finding("Python", True, platform.python_version())
    for package in ("numpy", "gymnasium"):
        yield Finding(package, True, importlib.metadata.version(package))

    core = _examine_core()
    yield core
    smb = _examine_rom("smb", rom, core_is_built=core.ok)
    yield smb
    yield _examine_mednafen()
    yield _examine_leftovers()
    if core.ok and smb.ok:
        frames_per_second = measure_speed(find_rom("smb", rom))
        yield Finding("speed", True, f"{frames_per_second:,.0f} frames/s, one console on one core, RAM only")
    else:
        yield Finding("speed", False, "not measured", "it needs the native core and a ROM")


def measure_speed(rom_file: Path, seconds: float = SPEED_SECONDS) -> float:
    """Frames per CPU second of one console that boots the game into its demo, nothing drawn."""
    from mario_rl._native import Batch, Rom  # here, because the doctor must run where the core is not built

    console = Batch(Rom(rom_file.read_bytes()), 1)
    pads = np.zeros((1, 2), np.uint8)
    frames, start = 0, time.process_time()
    while (elapsed := time.process_time() - start) < seconds:
        console.step(pads, FRAMES_BETWEEN_CLOCK_READS)
        frames += FRAMES_BETWEEN_CLOCK_READS
    return frames / elapsed


def clean() -> Iterator[Finding]:
    """Remove the shared memory and sockets that killed runs left, and say what that was. Living runs keep theirs."""
    released = release_leftovers()
    with contextlib.suppress(ModuleNotFoundError):  # without the extra [train] there never was a socket
        from mario_rl.distributed.events import remove_dead_sockets

        released += remove_dead_sockets()
    for name in released:
        yield Finding("leftovers", True, f"removed {name}")
    if not released:
        yield Finding("leftovers", True, _NO_LEFTOVERS)


def core_is_built() -> bool:
    """Whether the native core can be imported."""
    return _examine_core().ok


def _examine_core() -> Finding:
    try:
        from mario_rl import _native
    except ImportError as missing:
        return Finding("native core", False, f"not built ({missing})", HOW_TO_BUILD, required=True)
    return Finding("native core", True, str(_native.__file__), required=True)


def _examine_mednafen() -> Finding:
    """Optional: only `mario-rl serve` and the benchmarks against it need it."""
    try:
        build = mednafen_build.installed_build()  # if it cannot be used, its message says what to do
    except mednafen_build.MednafenError as problem:
        return Finding("Mednafen", False, f"{problem} (optional)")
    return Finding("Mednafen", True, f"{build.path}, {build.version}")


def _examine_leftovers() -> Finding:
    found = leftovers()
    if found:
        detail = f"killed runs left shared memory, {', '.join(found)}"
        return Finding("leftovers", False, detail, "`mario-rl doctor --clean` removes it", otherwise="found")
    return Finding("leftovers", True, _NO_LEFTOVERS)


def _examine_rom(game: str, explicit: Path | None, core_is_built: bool) -> Finding:
    name = f"ROM {game}"
    try:
        find_rom(game, explicit)  # if there is none, its message says what to do
        rom = next(located_roms(game, explicit))
        if core_is_built:
            _check_rom(rom)
    except (OSError, ValueError) as problem:  # RomNotFound, an unreadable file; RomError
        return Finding(name, False, str(problem), required=True)
    return Finding(name, True, f"{rom.path} ({rom.source}; {rom.title})", required=True)


def _check_rom(rom: RomFile) -> None:
    from mario_rl._native import Rom  # as in measure_speed

    Rom(rom.path.read_bytes())
