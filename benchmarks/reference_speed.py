"""How fast Mednafen is in lock-step, and by itself: the same cartridge from power-on, turn by turn.

By itself is `mednafen -nothrottle 1` as it comes, without sound or screen: as fast as it can, and nobody holds it. Its
frames are counted by the game's own counter in RAM. It takes more than one core: a second thread shows what the first
one emulates. So the ratio is that of frames per CPU second, as between the other consoles here; that of frames per
second, on a machine with cores to spare, is told beside it.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from mario_rl.emulators.mednafen import MednafenEmulator
from mario_rl.emulators.mednafen_build import installed_build
from mario_rl.emulators.mednafen_process import Child, Log, home_directory
from mario_rl.emulators.mednafen_stepper import Launch

FRAMES_A_STEP = 4
FRAME_COUNTER = 0x09  # of Super Mario Bros.: counts every frame, on the title screen and in its demo, too
LOOK_EVERY = 0.01  # seconds; the counter comes around every 256 frames
ROUNDS, QUICK_ROUNDS = 11, 5
SECONDS = 0.7
CLOCK_TICK = 0.01  # the kernel counts a process's time in these


@dataclass(frozen=True)
class Run:
    """Frames in a time."""

    frames: int
    seconds: float
    mednafen_cpu_seconds: float
    our_cpu_seconds: float = 0.0
    """Of whoever holds it."""

    @property
    def cpu_seconds(self) -> float:
        """Of both."""
        return self.mednafen_cpu_seconds + self.our_cpu_seconds

    def __str__(self) -> str:
        return f"{self.frames / self.seconds:,.0f} frames/s ({self.frames / self.cpu_seconds:,.0f} a CPU second)"


def speed(smb: Path, quick: bool, say: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
    """{"lockstep_fps", "free_run_fps", "lockstep_vs_free_run", ...}: medians of rounds in which both take turns."""
    rounds = QUICK_ROUNDS if quick else ROUNDS
    held, free = [], []
    for turn in range(rounds + 1):
        pair = lockstep(smb, SECONDS), free_run(smb, SECONDS)
        if turn > 0:  # the first warms up
            held.append(pair[0])
            free.append(pair[1])
            words = [
                f"{run.frames / run.seconds:,.0f} ({run.frames / run.cpu_seconds:,.0f} a CPU second)" for run in pair
            ]
            say(f"round {turn} of {rounds}: {words[0]} frames/s in lock-step, {words[1]} by itself")
    return {
        "lockstep_fps": round(_median(run.frames / run.seconds for run in held)),
        "free_run_fps": round(_median(run.frames / run.seconds for run in free)),
        "lockstep_vs_free_run": round(_median_ratio(held, free, lambda run: run.frames / run.cpu_seconds), 2),
        "lockstep_vs_free_run_wall": round(_median_ratio(held, free, lambda run: run.frames / run.seconds), 2),
        "lockstep_mednafen_share": round(_median(run.mednafen_cpu_seconds / run.cpu_seconds for run in held), 3),
        "rounds": rounds,
    }


def _median(values: Iterable[float]) -> float:
    return statistics.median(values)


def _median_ratio(held: list[Run], free: list[Run], rate: Callable[[Run], float]) -> float:
    return _median(rate(one) / rate(other) for one, other in zip(held, free, strict=True))


def lockstep(smb: Path, seconds: float) -> Run:
    """Four frames a step, nothing drawn."""
    console = MednafenEmulator(smb)
    assert console.pid is not None
    frames, begin = 0, time.perf_counter()
    theirs, ours = _cpu_seconds(console.pid), time.process_time()
    while (elapsed := time.perf_counter() - begin) < seconds:
        console.step(frames=FRAMES_A_STEP)
        frames += FRAMES_A_STEP
    ours, theirs = time.process_time() - ours, _cpu_seconds(console.pid) - theirs
    console.close()
    return Run(frames, elapsed, max(theirs, CLOCK_TICK), ours)


def free_run(smb: Path, seconds: float) -> Run:
    """A Mednafen that nobody holds."""
    build, log = installed_build(), Log()
    command = [str(build.path), "-nothrottle", "1", "-sound", "0", "-video.driver", "softfb", str(smb)]
    with home_directory() as home:
        child = Child(command, Launch(rom_fd=-1, display=None).environment(home), [], log)
        try:
            return _counted(child.pid, build.ram + FRAME_COUNTER, seconds)
        finally:
            child.end()
            log.close()


def _cpu_seconds(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def _byte_of(pid: int, address: int) -> int:
    try:
        with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
            return os.pread(memory.fileno(), 1, address)[0]
    except OSError:  # it is just becoming Mednafen
        return 0


def _counted(pid: int, address: int, seconds: float) -> Run:
    """The ticks of a counter of one byte, from its first ones on."""
    give_up = time.perf_counter() + 30
    while _byte_of(pid, address) in (0, 0xEF):  # not running yet: 0 before power-on, and then what RAM has there
        if time.perf_counter() > give_up:
            raise RuntimeError("Mednafen does not run by itself: try `mednafen -nothrottle 1` with the ROM")
        time.sleep(LOOK_EVERY)
    last, ticks = _byte_of(pid, address), 0
    begin, cpu = time.perf_counter(), _cpu_seconds(pid)
    while (elapsed := time.perf_counter() - begin) < seconds:
        time.sleep(LOOK_EVERY)
        now = _byte_of(pid, address)
        ticks += (now - last) % 256
        last = now
    return Run(ticks, elapsed, max(_cpu_seconds(pid) - cpu, CLOCK_TICK))
