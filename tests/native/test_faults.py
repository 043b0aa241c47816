"""Bad files: a ROM or a state that is not one is refused with a reason, changes nothing, and never crashes."""

import random
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mario_rl._native import Batch, Rom, RomError, StateError

from .assembler import Cartridge, machine_code

IDLE = machine_code(b"\x4c\x00\x80")  # JMP $8000
COUNTER = machine_code(bytes.fromhex("e610 d0fc e611 d0f8 e612 4c0080".replace(" ", "")))  # counts in $10-$12

quick = settings(
    max_examples=300, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


def header(prg: int = 2, chr_banks: int = 1, flags6: int = 0, flags7: int = 0, rest: bytes = bytes(8)) -> bytes:
    return b"NES\x1a" + bytes([prg, chr_banks, flags6, flags7]) + rest


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "short|empty|truncated|16|iNES"),
        (b"NES", "short|truncated|16|iNES"),
        (b"NES\x1a", "short|truncated|16|iNES"),
        (b"ZIP" + IDLE[3:], "iNES|magic|NES"),
        (b"NES\x1b" + IDLE[4:], "iNES|magic|NES"),
        (b"UNIF" + IDLE[4:], "iNES|magic|NES"),
        (IDLE[:-1], "short|truncated|bytes|missing"),
        (IDLE[: 16 + 0x4000], "short|truncated|bytes|missing"),
        (header(), "short|truncated|bytes|missing"),
        (header(prg=0) + IDLE[16:], "PRG"),
        (header(prg=255, chr_banks=255) + IDLE[16:], "short|truncated|bytes|missing"),
        (header(flags6=0x50) + IDLE[16:], "mapper 5"),
        (header(flags6=0xF0, flags7=0xF0) + IDLE[16:], "mapper 255"),
        (header(flags7=0x10) + IDLE[16:], "mapper 16"),
        (header(flags6=4) + IDLE[16:], "short|truncated|bytes|missing"),  # a trainer that is not there
    ],
)
def test_bad_roms_are_refused_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(RomError, match=f"(?i){reason}"):
        Rom(data)


def test_rom_error_is_a_value_error() -> None:
    assert issubclass(RomError, ValueError) and issubclass(StateError, ValueError)


def test_trainer_is_skipped() -> None:
    trained = Rom(header(flags6=4) + bytes(512) + IDLE[16:])
    assert (trained.prg_size, trained.chr_size) == (0x8000, 0x2000)


def test_what_a_rom_says_of_itself() -> None:
    cartridge = Cartridge(
        mapper=4, prg_size=0x20000, chr_size=0x10000, mirroring="vertical", battery=True, code_size=0x2000
    )
    rom = Rom(cartridge.image(bytes(0x2000)))
    assert (rom.mapper, rom.prg_size, rom.chr_size, rom.mirroring, rom.battery) == (
        4,
        0x20000,
        0x10000,
        "vertical",
        True,
    )
    assert Rom(Cartridge(chr_size=0).image(bytes(0x8000))).chr_size == 0
    assert Rom(Cartridge(mirroring="four-screen").image(bytes(0x8000))).mirroring == "four-screen"
    assert rom.hash != Rom(IDLE).hash == Rom(IDLE).hash


def run_anything(data: bytes) -> None:
    """Whatever the loader accepts must also run."""
    try:
        rom = Rom(data)
    except RomError:
        return
    batch = Batch(rom, 1)
    batch.step(np.zeros((1, 2), np.uint8), 2, screen="draw")
    assert batch.frames[0] == 2
    state = batch.save(0)
    batch.load(0, state)
    assert batch.save(0) == state


@quick
@given(st.binary(max_size=64), st.integers(0, 0x2000))
def test_random_bytes_as_a_rom(start: bytes, length: int) -> None:
    run_anything(b"NES\x1a" + start + bytes(length))


@quick
@given(st.integers(0, 255), st.integers(0, 255), st.integers(0, 255), st.integers(0, 2**31))
def test_random_headers_over_random_code(prg: int, flags6: int, flags7: int, seed: int) -> None:
    """Sizes that fit, every flag, random machine code: JAM, BRK storms, wild jumps."""
    banks = 1 + prg % 8
    body = random.Random(seed).randbytes(banks * 0x4000 + 0x2000)
    run_anything(header(banks, 1, flags6 & 0x4F, flags7 & 0x0F) + body)


@quick
@given(st.integers(0, len(COUNTER) - 1), st.integers(0, 7), st.integers(0, len(COUNTER)))
def test_flipped_and_truncated_roms(at: int, bit: int, length: int) -> None:
    damaged = bytearray(COUNTER)
    damaged[at % 16] ^= 1 << bit
    run_anything(bytes(damaged))
    run_anything(COUNTER[:length])


@pytest.fixture(scope="module")
def console() -> Batch:
    batch = Batch(Rom(COUNTER), 1)
    batch.step(np.zeros((1, 2), np.uint8), 5)
    return batch


def refuse(batch: Batch, state: bytes) -> None:
    before = batch.save(0)
    if state == before:
        return
    with pytest.raises(StateError):
        batch.load(0, state)
    assert batch.save(0) == before


@quick
@given(data=st.data())
def test_damaged_states_change_nothing(console: Batch, data: st.DataObject) -> None:
    good = console.save(0)
    kind = data.draw(st.sampled_from(["flip", "truncate", "extend", "swap", "noise", "header"]))
    at = data.draw(st.integers(0, len(good) - 1))
    match kind:
        case "flip":
            damaged = bytearray(good)
            damaged[at] ^= 1 << data.draw(st.integers(0, 7))
        case "truncate":
            damaged = bytearray(good[:at])
        case "extend":
            damaged = bytearray(good + data.draw(st.binary(min_size=1, max_size=64)))
        case "swap":
            damaged = bytearray(good[at:] + good[:at])
        case "noise":
            damaged = bytearray(data.draw(st.binary(max_size=256)))
        case _:
            damaged = bytearray(good)
            damaged[: min(at, 64)] = random.Random(at).randbytes(min(at, 64))
    refuse(console, bytes(damaged))


def test_states_of_another_game_or_size(console: Batch) -> None:
    other = Batch(Rom(IDLE), 1)
    other.step(np.zeros((1, 2), np.uint8), 1)
    refuse(console, other.save(0))
    refuse(console, struct.pack("<Q", 2**63) * 100)


def test_a_jammed_cpu_still_has_frames() -> None:
    """JAM stops the CPU for good; the PPU goes on, so a step returns."""
    batch = Batch(Rom(machine_code(b"\xe6\x10\x02\xe6\x11")), 1)
    batch.step(np.zeros((1, 2), np.uint8), 10)
    assert batch.frames[0] == 10
    assert batch.ram[0, 0x10:0x12].tolist() == [1, 0]
    batch.reset(0)
    batch.step(np.zeros((1, 2), np.uint8), 3)
    assert batch.ram[0, 0x10:0x12].tolist() == [2, 0], "reset frees it"
