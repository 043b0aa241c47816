"""How fast Mednafen is in lock-step, and by itself: the same cartridge from power-on, turn by turn.

By itself is `mednafen -nothrottle 1` as it comes, without sound or screen: as fast as it can, and nobody holds it. Its
frames are counted by the game's own counter in RAM.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mario_rl.emulators.mednafen import MednafenEmulator
from mario_rl.emulators.mednafen_build import installed_build
from mario_rl.emulators.mednafen_process import Child, Log, home_directory
from mario_rl.emulators.mednafen_stepper import Launch

FRAMES_A_STEP = 4
FRAME_COUNTER = 0x09  # of Super Mario Bros.: counts every frame, on the title screen and in its demo, too
LOOK_EVERY = 0.01  # seconds; the counter comes around every 256 frames
ROUNDS, QUICK_ROUNDS = 11, 5
SECONDS = 0.7


def speed(smb: Path, quick: bool, say: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
    """{"lockstep_fps", "free_run_fps", "lockstep_vs_free_run"}: medians of rounds in which both take turns."""
    rounds = QUICK_ROUNDS if quick else ROUNDS
    lockstep, free_run = [], []
    for turn in range(rounds + 1):
        held, free = lockstep_rate(smb, SECONDS), free_run_rate(smb, SECONDS)
        if turn > 0:  # the first warms up
            lockstep.append(held)
            free_run.append(free)
            say(f"round {turn} of {rounds}: {held:,.0f} frames/s in lock-step, {free:,.0f} by itself")
    return {
        "lockstep_fps": round(statistics.median(lockstep)),
        "free_run_fps": round(statistics.median(free_run)),
        "lockstep_vs_free_run": round(statistics.median(a / b for a, b in zip(lockstep, free_run, strict=True)), 2),
        "rounds": rounds,
    }


def lockstep_rate(smb: Path, seconds: float) -> float:
    """Frames a second, four a step, nothing drawn."""
    console = MednafenEmulator(smb)
    frames, begin = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - begin) < seconds:
        console.step(frames=FRAMES_A_STEP)
        frames += FRAMES_A_STEP
    console.close()
    return frames / elapsed


def free_run_rate(smb: Path, seconds: float) -> float:
    """Frames a second of a Mednafen that nobody holds."""
    build, log = installed_build(), Log()
    command = [str(build.path), "-nothrottle", "1", "-sound", "0", "-video.driver", "softfb", str(smb)]
    with home_directory() as home:
        child = Child(command, Launch(rom_fd=-1, display=None).environment(home), [], log)
        try:
            return _counted(lambda: _byte_of(child.pid, build.ram + FRAME_COUNTER), seconds)
        finally:
            child.end()
            log.close()


def _byte_of(pid: int, address: int) -> int:
    try:
        with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
            return os.pread(memory.fileno(), 1, address)[0]
    except OSError:  # it is just becoming Mednafen
        return 0


def _counted(counter: Callable[[], int], seconds: float) -> float:
    """Ticks a second of a counter of one byte, from its first ticks on."""
    give_up = time.perf_counter() + 30
    while counter() in (0, 0xEF):  # not running yet: 0 before power-on, and then what RAM has there
        if time.perf_counter() > give_up:
            raise RuntimeError("Mednafen does not run by itself: try `mednafen -nothrottle 1` with the ROM")
        time.sleep(LOOK_EVERY)
    last, ticks, begin = counter(), 0, time.perf_counter()
    while (elapsed := time.perf_counter() - begin) < seconds:
        time.sleep(LOOK_EVERY)
        now = counter()
        ticks += (now - last) % 256
        last = now
    return ticks / elapsed
