"""A console in Mednafen: what is particular to it. What all consoles have in common is in tests/contracts."""

from __future__ import annotations

import dataclasses
import gc
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mario_rl._native import RomError, StateError
from mario_rl.emulators import mednafen_build
from mario_rl.emulators.base import LEFT, RIGHT, START, A
from mario_rl.emulators.embedded import EmbeddedEmulator
from mario_rl.emulators.mednafen import MednafenEmulator, MednafenError
from mario_rl.emulators.mednafen_build import KNOWN_BUILDS, Build, installed_build
from mario_rl.emulators.mednafen_memory import ConsoleMemory
from mario_rl.emulators.mednafen_shim import ShimStepper
from mario_rl.emulators.mednafen_state import StateFormat
from mario_rl.emulators.mednafen_stepper import Launch
from mario_rl.roms import antidote
from tests.contracts.demo_cartridge import CARTRIDGES, MMC1_WITH_RAM, NROM
from tests.emulators.mednafen_here import PATIENCE, Opener, mednafen_or_skip

STEPPERS = ("shim", "ptrace")
PADS = [(START, 0), (0, 0), (RIGHT, LEFT), (A, 0), (LEFT, A), (0, 0), (0, START)]


@pytest.fixture(autouse=True, scope="module")
def build() -> Build:
    return mednafen_or_skip()


# --- which Mednafen -------------------------------------------------------------------------------------------------


def test_an_unknown_build_is_refused(build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patched = tmp_path / "mednafen"
    data = build.path.read_bytes()
    assert data.count(bytes.fromhex(build.build_id)) == 1
    patched.write_bytes(data.replace(bytes.fromhex(build.build_id), bytes.fromhex("ab" * 20)))
    patched.chmod(0o755)
    monkeypatch.setenv("MARIO_RL_MEDNAFEN", str(patched))
    with pytest.raises(MednafenError, match=f"{patched} is a build .* not known .*{'ab' * 20}.*install Debian's"):
        MednafenEmulator(antidote())


def test_the_shim_itself_checks_the_build(build: Build) -> None:
    """The addresses could be for another file than the one that is started, if it changes in between."""
    other = dataclasses.replace(build, build_id="ab" * 20)
    memory = ConsoleMemory(build.ram)
    with antidote().open("rb") as rom, pytest.raises(MednafenError, match="another build than the addresses are for"):
        ShimStepper(other, memory, Launch(rom.fileno(), None), lambda: None)
    memory.close()


def test_a_copy_of_a_known_build_is_used(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Opener
) -> None:
    copy = tmp_path / "another"
    shutil.copy(build.path, copy)
    monkeypatch.setenv("MARIO_RL_MEDNAFEN", str(copy))
    assert installed_build().path == copy
    assert Path(f"/proc/{opened(NROM).pid}/exe").readlink() == copy


def test_what_is_no_mednafen_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    for file, mode, message in (
        (script, 0o644, "no such program"),
        (script, 0o755, "no Linux program"),
        (tmp_path / "nothing", None, "no such program"),
    ):
        if mode is not None:
            file.chmod(mode)
        monkeypatch.setenv("MARIO_RL_MEDNAFEN", str(file))
        with pytest.raises(MednafenError, match=message):
            MednafenEmulator(antidote())


def test_where_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MARIO_RL_MEDNAFEN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(mednafen_build, "GAMES_DIRECTORY", str(tmp_path))
    with pytest.raises(MednafenError, match="not installed: apt-get install mednafen"):
        MednafenEmulator(antidote())


@pytest.mark.parametrize("stepper", STEPPERS)
def test_the_ram_is_where_it_says(opened: Opener, stepper: str) -> None:
    """Seen from outside, by the kernel's own view of the process."""
    console = opened(antidote(), stepper=stepper)
    console.step((START, 0), frames=30)
    console.ram[0x7FF] = 0xA5
    with Path(f"/proc/{console.pid}/mem").open("rb") as memory:
        memory.seek(console.nes_ram_base)
        assert memory.read(2048) == console.ram.tobytes()
    assert psutil.Process(console.pid).name() == "mednafen"


def test_without_the_shim_ptrace_takes_over(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mario_rl.emulators.mednafen.shim_library", lambda: None)
    monkeypatch.setattr("mario_rl.emulators.mednafen_shim.shim_library", lambda: None)
    console = opened(antidote())
    assert "TracerPid:\t0" not in Path(f"/proc/{console.pid}/status").read_text()
    with pytest.raises(MednafenError, match="not built"):
        MednafenEmulator(antidote(), stepper="shim")


# --- playing --------------------------------------------------------------------------------------------------------


def test_the_steppers_agree(opened: Opener) -> None:
    shim, ptrace = (opened(antidote(), stepper=stepper) for stepper in STEPPERS)
    for frame in range(300):
        for console in (shim, ptrace):
            console.step(PADS[frame % len(PADS)], 1, render=frame % 50 == 0)
        assert np.array_equal(shim.ram, ptrace.ram)
    assert np.array_equal(shim.frame(), ptrace.frame())
    assert shim.save() == ptrace.save()
    assert shim.peek(0, 0x10000) == ptrace.peek(0, 0x10000)
    ptrace.load(shim.save())
    assert shim.save() == ptrace.save()


@pytest.mark.parametrize("rom", [*CARTRIDGES.values(), antidote().read_bytes()], ids=[*CARTRIDGES, "antidote"])
def test_the_bus_is_that_of_our_core(opened: Opener, rom: bytes) -> None:
    mednafen, embedded = opened(rom), EmbeddedEmulator(rom)
    for console in (mednafen, embedded):
        console.step(frames=40)
    assert mednafen.peek(0x8000, 0x8000) == embedded.peek(0x8000, 0x8000)
    assert mednafen.peek(0x2000, 0x4000) == embedded.peek(0x2000, 0x4000) == bytes(0x4000)
    for address, length in ((0x1FFF, 2), (0x5FFF, 1), (0x7FF0, 0x20), (0xFFFF, 1), (0x10000, 0), (0x1F00, 0x5000)):
        assert mednafen.peek(address, length) == mednafen.peek(0, 0x10000)[address : address + length]


def test_cartridge_ram_is_that_of_our_core(opened: Opener) -> None:
    mednafen, embedded = opened(MMC1_WITH_RAM), EmbeddedEmulator(MMC1_WITH_RAM)
    mednafen.ram[:] = 0  # as ours is at power-on
    mednafen.step()  # its picture unit is dead for a frame
    for console in (mednafen, embedded):
        for frame in range(60):
            console.step((frame, 0))
    history = mednafen.peek(0x6000, 60)
    assert history == embedded.peek(0x6000, 60) and any(history)


def test_the_picture_is_that_of_our_core(opened: Opener) -> None:
    """In other colours, but each of them stands for the same."""
    mednafen, embedded = opened(antidote()), EmbeddedEmulator(antidote())
    for frame in range(400):
        for console in (mednafen, embedded):
            console.step((START if frame in (20, 40) else 0, 0), render=frame == 399)
    ours = embedded.frame().astype(np.uint32) @ (1 << 16, 1 << 8, 1)
    theirs = mednafen.frame().astype(np.uint32) @ (1 << 16, 1 << 8, 1)
    pairs = set(zip(ours.ravel().tolist(), theirs.ravel().tolist(), strict=True))
    assert len(pairs) == len({mine for mine, _ in pairs}) == len({other for _, other in pairs}) > 8


def test_several_side_by_side(opened: Opener) -> None:
    alone = [EmbeddedEmulator(antidote()) for _ in range(4)]
    together = [opened(antidote()) for _ in range(4)]
    for console in together:
        console.ram[:] = 0
    for frame in range(200):
        for number, pair in enumerate(zip(alone, together, strict=True)):
            for console in pair:
                console.step((START if frame % (9 + number) == 0 else RIGHT, 0))
    rams = [console.ram.copy() for console in together]
    stack = [0x1FD, 0x1FE]  # what an NMI pushed: benchmarks/reference_lockstep.py
    for ram, console in zip(rams, alone, strict=True):
        ram[stack] = console.ram[stack] = 0
        assert np.array_equal(ram, console.ram)
    assert len({ram.tobytes() for ram in rams}) == 4, "each played its own game"
    assert len({console.pid for console in together}) == 4


def test_a_console_outlives_the_thread_that_opened_it(opened: Opener) -> None:
    """A child that dies with its parent dies with the thread that started it: that must be no caller's."""
    for stepper in STEPPERS:
        made: list[MednafenEmulator] = []
        thread = threading.Thread(target=lambda s=stepper, m=made: m.append(opened(NROM, stepper=s)))
        thread.start()
        thread.join()
        made[0].step(frames=20)
        assert made[0].alive


# --- what is not right ----------------------------------------------------------------------------------------------


def test_bad_arguments_change_nothing(opened: Opener) -> None:
    console = opened(NROM)
    before = console.save()
    for call in (
        lambda: console.step((256, 0)),
        lambda: console.step((0, -1)),
        lambda: console.step(frames=-1),
        lambda: console.peek(-1),
        lambda: console.peek(0xFFFF, 2),
        lambda: console.peek(0, -1),
        console.frame,
    ):
        with pytest.raises(ValueError):
            call()
    console.step(frames=0, render=True)
    with pytest.raises(ValueError, match="not drawn"):
        console.frame()
    assert console.save() == before


def test_bad_cartridges_never_reach_mednafen() -> None:
    with pytest.raises(RomError):
        MednafenEmulator(b"no cartridge")
    with pytest.raises(FileNotFoundError):
        MednafenEmulator("/nowhere/game.nes")
    with pytest.raises(ValueError, match="unknown stepper"):
        MednafenEmulator(NROM, stepper="telepathy")  # type: ignore[arg-type]


def test_a_closed_console_says_so(opened: Opener) -> None:
    console = opened(NROM)
    ram, state = console.ram, console.save()
    console.close()
    for call in (console.step, console.save, lambda: console.load(state), lambda: console.peek(0x8000), console.power):
        with pytest.raises(MednafenError, match="closed"):
            call()
    with pytest.raises(MednafenError, match="closed"):
        console.relaunch()
    assert not console.alive and console.pid is None
    assert ram.shape == (2048,) and int(ram.sum()) >= 0, "the array is still there"


@pytest.mark.parametrize("stepper", STEPPERS)
def test_a_mednafen_that_does_not_start_says_why(stepper: str) -> None:
    with pytest.raises(MednafenError, match="does not start: Could not initialize SDL"):
        MednafenEmulator(NROM, headless=False, display=":4711", stepper=stepper)  # type: ignore[arg-type]


# --- states ---------------------------------------------------------------------------------------------------------

FORMAT = StateFormat(NROM, next(iter(KNOWN_BUILDS)), 100)
GOOD = FORMAT.wrap(bytes(range(100)))


@given(st.binary(max_size=400))
def test_anything_is_no_state(data: bytes) -> None:
    with pytest.raises(StateError):
        FORMAT.unwrap(data)


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
def test_a_state_with_a_changed_byte_is_none(place: int, change: int) -> None:
    damaged = bytearray(GOOD)
    damaged[place] ^= change
    with pytest.raises(StateError):
        FORMAT.unwrap(bytes(damaged))


def test_states_of_others_are_refused_by_name() -> None:
    assert FORMAT.unwrap(GOOD) == bytes(range(100))
    build_id = next(iter(KNOWN_BUILDS))
    for other, reason in (
        (StateFormat(MMC1_WITH_RAM, build_id, 100).wrap(bytes(100)), "another cartridge"),
        (StateFormat(NROM, "00" * 20, 100).wrap(bytes(100)), "another build"),
        (StateFormat(NROM, build_id, 99).wrap(bytes(99)), "size is wrong"),  # would end Mednafen
        (EmbeddedEmulator(NROM).save(), "not a state of a console in Mednafen"),
    ):
        with pytest.raises(StateError, match=reason):
            FORMAT.unwrap(other)


# --- the end --------------------------------------------------------------------------------------------------------


def test_opening_and_closing_leaves_nothing(opened: Opener) -> None:
    def held() -> tuple[int, int, set[int]]:
        own = psutil.Process()
        return own.num_fds(), threading.active_count(), {child.pid for child in own.children()}

    MednafenEmulator(NROM).close()
    before = held()
    for stepper in (*STEPPERS, *STEPPERS):
        MednafenEmulator(NROM, stepper=stepper).close()  # type: ignore[arg-type]
    after = held()
    assert after[0] == before[0] and after[2] == before[2]
    assert subprocess.run(["true"], check=False).returncode == 0, "our own children are still ours to wait for"


@pytest.mark.parametrize("stepper", STEPPERS)
def test_a_console_that_is_forgotten_ends(stepper: str) -> None:
    console = MednafenEmulator(NROM, stepper=stepper)  # type: ignore[arg-type]
    child = psutil.Process(console.pid)
    del console
    gc.collect()
    assert not child.is_running()


@pytest.mark.parametrize("stepper", STEPPERS)
def test_an_interrupted_call_does_not_mix_up_the_next(opened: Opener, stepper: str) -> None:
    """Ctrl-C while a long step is under way: the console finishes it, and answers what it is asked then."""
    console = opened(antidote(), stepper=stepper)
    signals = threading.Timer(0.1, signal.pthread_kill, (threading.get_ident(), signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        signals.start()
        with pytest.raises(KeyboardInterrupt):
            console.step(frames=1500)
            time.sleep(PATIENCE)  # a machine so fast that the step is done already
    finally:
        signal.signal(signal.SIGINT, before)
    state = console.save()
    console.step(frames=10)
    console.load(state)
    assert console.save() == state
    assert console.peek(0xFFF0, 16) == EmbeddedEmulator(antidote()).peek(0xFFF0, 16)
