"""The `Emulator` contract, over every implementation and two cartridges."""

import hashlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from mario_rl._native import StateError
from mario_rl.emulators.base import RAM_SIZE, SCREEN_HEIGHT, SCREEN_WIDTH, Emulator
from mario_rl.emulators.embedded import EmbeddedEmulator
from mario_rl.emulators.mednafen import MednafenEmulator, MednafenError
from mario_rl.emulators.mednafen_build import installed_build
from tests.server.remote_consoles import RemoteConsole

from .demo_cartridge import CARTRIDGES

IMPLEMENTATIONS: dict[str, Callable[[bytes], Emulator]] = {
    "embedded": EmbeddedEmulator,
    "embedded-without-idle-skip": lambda rom: EmbeddedEmulator(rom, idle_skip=False),
    "mednafen-shim": lambda rom: MednafenEmulator(rom, stepper="shim"),
    "mednafen-ptrace": lambda rom: MednafenEmulator(rom, stepper="ptrace"),
    "remote-embedded": lambda rom: RemoteConsole(rom, "embedded"),
    "remote-mednafen": lambda rom: RemoteConsole(rom, "mednafen"),
}
# How another process opens one, given the bytes `rom`.
IN_ANOTHER_PROCESS = {
    "embedded": "embedded.EmbeddedEmulator(rom)",
    "embedded-without-idle-skip": "embedded.EmbeddedEmulator(rom)",
    "mednafen-shim": "mednafen.MednafenEmulator(rom, stepper='shim')",
    "mednafen-ptrace": "mednafen.MednafenEmulator(rom, stepper='ptrace')",
    "remote-embedded": "embedded.EmbeddedEmulator(rom)",
    "remote-mednafen": "mednafen.MednafenEmulator(rom)",
}
BATTERY = 0x02  # this bit of an iNES header's byte 6: the cartridge has RAM of its own


@pytest.fixture(params=CARTRIDGES)
def rom(request: pytest.FixtureRequest) -> bytes:
    return CARTRIDGES[request.param]


@pytest.fixture(params=IMPLEMENTATIONS)
def implementation(request: pytest.FixtureRequest) -> str:
    if "mednafen" in request.param:
        try:
            installed_build()
        except MednafenError as missing:
            pytest.skip(str(missing))
    return str(request.param)


@pytest.fixture
def make(implementation: str) -> Iterator[Callable[[bytes], Emulator]]:
    """Makes emulators, and closes them afterwards."""
    made: list[Emulator] = []

    def build(rom: bytes) -> Emulator:
        made.append(IMPLEMENTATIONS[implementation](rom))
        return made[-1]

    yield build
    for emulator in made:
        emulator.close()


def play(emulator: Emulator, first: int, frames: int) -> None:
    """Presses buttons that depend on the frame number only."""
    for frame in range(first, first + frames):
        emulator.step(((frame * 37) & 255, (frame * 101 + 7) & 255))


def fingerprint(emulator: Emulator) -> str:
    """Everything an agent can see: RAM, cartridge RAM, ROM, and the picture of one more frame."""
    emulator.step((0x81, 0x18), render=True)
    return hashlib.sha256(
        emulator.ram.tobytes() + emulator.peek(0x6000, 0xA000) + emulator.frame().tobytes()
    ).hexdigest()


def test_is_an_emulator(make: Callable[[bytes], Emulator], rom: bytes) -> None:
    assert isinstance(make(rom), Emulator)


def test_shapes(make: Callable[[bytes], Emulator], rom: bytes) -> None:
    emulator = make(rom)
    emulator.step(render=True)
    assert emulator.ram.shape == (RAM_SIZE,) and emulator.ram.dtype == np.uint8
    assert emulator.frame().shape == (SCREEN_HEIGHT, SCREEN_WIDTH, 3) and emulator.frame().dtype == np.uint8


def test_same_inputs_same_states(make: Callable[[bytes], Emulator], rom: bytes) -> None:
    first, second = make(rom), make(rom)
    for start in range(0, 120, 30):
        play(first, start, 30)
        play(second, start, 30)
        assert fingerprint(first) == fingerprint(second)
    assert first.save() == second.save()


def test_pads_reach_the_game(make: Callable[[bytes], Emulator], rom: bytes) -> None:
    """Each of the 16 buttons makes a difference of its own."""
    emulator = make(rom)
    play(emulator, 0, 20)
    state = emulator.save()
    outcomes = set()
    for button in range(17):
        emulator.load(state)
        pressed = 1 << button & 0xFFFF
        emulator.step((pressed & 255, pressed >> 8), frames=2)
        outcomes.add(emulator.ram.tobytes())
    assert len(outcomes) == 17


def test_many_frames_in_one_call(make: Callable[[bytes], Emulator], rom: bytes) -> None:
    one_by_one, at_once = make(rom), make(rom)
    for _ in range(40):
        one_by_one.step((0x41, 0x02))
    at_once.step((0x41, 0x02), frames=40)
    assert fingerprint(one_by_one) == fingerprint(at_once)


def test_rendering_changes_nothing_else(make: Callable[[bytes], Emulator], rom: bytes) -> None:
    seen, unseen = make(rom), make(rom)
    for frame in range(60):
        seen.step((frame, 255 - frame), render=frame % 3 == 0)
        unseen.step((frame, 255 - frame))
    assert seen.save() == unseen.save()


def test_frame_is_a_copy_of_the_last_drawn_one(make: Callable[[bytes], Emulator], rom: bytes) -> None:
    emulator = make(rom)
    play(emulator, 0, 30)
    emulator.step(render=True)
    picture = emulator.frame()
    kept = picture.copy()
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 4, "the demo shows something"
    emulator.step((0x80, 0), frames=3)
    assert np.array_equal(emulator.frame(), kept), "a frame that was not drawn must not replace it"
    emulator.step((0x80, 0), frames=3, render=True)
    assert np.array_equal(picture, kept)
    assert not np.array_equal(emulator.frame(), kept)


def test_ram_is_the_console_s_own(make: Callable[[bytes], Emulator], rom: bytes) -> None:
    emulator = make(rom)
    ram = emulator.ram
    play(emulator, 0, 20)
    assert ram[0x22] > 0, "the view follows the game"
    state = emulator.save()
    ram[0x20] ^= 0x55
    assert emulator.peek(0x0020) == bytes([ram[0x20]])
    play(emulator, 20, 5)
    poked = emulator.ram.copy()
    emulator.load(state)
    play(emulator, 20, 5)
    assert not np.array_equal(emulator.ram, poked), "the game must have used what was poked"


def test_peek(make: Callable[[bytes], Emulator], rom: bytes) -> None:
    emulator = make(rom)
    play(emulator, 0, 30)
    before = emulator.save()
    whole = emulator.peek(0x0000, 0x10000)
    assert emulator.save() == before, "peeking has no side effects"
    ram = emulator.ram.tobytes()
    assert whole[:0x2000] == ram * 4, "RAM is mirrored four times"
    history = ram[0x300 : 0x300 + 20]
    # A plain NROM board has no RAM at $6000; our core gives it some nevertheless.
    assert whole[0x6000 : 0x6000 + 20] in ([history] if rom[6] & BATTERY else [history, bytes(20)]), "written to both"
    assert whole[0xC000:] == rom[16 + 0x4000 : 16 + 0x8000] or whole[0xC000:0xFFF0] == rom[16:0x4000], "ROM"
    assert emulator.peek(0xFFFC, 2) == whole[0xFFFC:0xFFFE]


def test_save_and_load(make: Callable[[bytes], Emulator], rom: bytes) -> None:
    emulator = make(rom)
    play(emulator, 0, 50)
    state = emulator.save()
    assert isinstance(state, bytes)
    play(emulator, 50, 30)
    expected = fingerprint(emulator)
    emulator.load(state)
    assert emulator.save() == state
    play(emulator, 50, 30)
    assert fingerprint(emulator) == expected
    other = make(rom)
    play(other, 7, 3)
    other.load(state)
    play(other, 50, 30)
    assert fingerprint(other) == expected


def test_power(make: Callable[[bytes], Emulator], rom: bytes) -> None:
    emulator, fresh = make(rom), make(rom)
    play(emulator, 0, 33)
    emulator.power()
    play(emulator, 0, 20)
    play(fresh, 0, 20)
    assert fingerprint(emulator) == fingerprint(fresh)
    assert emulator.save() == fresh.save()


def test_state_loads_in_another_process(
    make: Callable[[bytes], Emulator], implementation: str, rom: bytes, tmp_path: Path
) -> None:
    emulator = make(rom)
    play(emulator, 0, 40)
    (tmp_path / "state").write_bytes(emulator.save())
    (tmp_path / "rom").write_bytes(rom)
    play(emulator, 40, 20)
    script = f"""if True:
        import pathlib, sys
        from mario_rl.emulators import embedded, mednafen
        folder = pathlib.Path(sys.argv[1])
        rom = (folder / "rom").read_bytes()
        emulator = {IN_ANOTHER_PROCESS[implementation]}
        emulator.load((folder / "state").read_bytes())
        for frame in range(40, 60):
            emulator.step(((frame * 37) & 255, (frame * 101 + 7) & 255))
        sys.stdout.write(emulator.save().hex())
    """
    done = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=True)
    assert bytes.fromhex(done.stdout) == emulator.save()


def test_bad_state_changes_nothing(make: Callable[[bytes], Emulator], rom: bytes) -> None:
    emulator = make(rom)
    play(emulator, 0, 25)
    good = emulator.save()
    other_game = make(next(data for data in CARTRIDGES.values() if data != rom)).save()
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 1
    for bad in (b"", b"\0" * len(good), good[:-1], good + b"\0", bytes(flipped), other_game, good[:16]):
        with pytest.raises(StateError):
            emulator.load(bad)
        assert emulator.save() == good
    play(emulator, 25, 10)
    expected = fingerprint(emulator)
    emulator.load(good)
    play(emulator, 25, 10)
    assert fingerprint(emulator) == expected


def test_close_twice(make: Callable[[bytes], Emulator], rom: bytes) -> None:
    emulator = make(rom)
    emulator.step()
    emulator.close()
    emulator.close()
