"""The on-cartridge player: how it is called, what it may use, and that it can play."""

from __future__ import annotations

import random

import numpy as np
import pytest
from py65.memory import ObservableMemory

from mario_rl.distill.machine import ExactMPU
from mario_rl.emulators.embedded import EmbeddedBatch
from mario_rl.roms import antidote
from tests.environment.drmario.boards import Hand, crowded_board, viruses_on

from .session import (
    ACTION,
    ATTRACT,
    ATTRACT_LEVEL,
    ATTRACT_SPEED,
    FRAME_COUNTER,
    LATE_FRAMES,
    LEFT,
    MODE,
    OPTIONS,
    PHASE,
    PLAY,
    PLAYER_PAD,
    RANDOM,
    REDRAW,
    SEATS,
    SETTLE_STEP,
    TITLE,
    VIRUSES,
    WAIT,
    Session,
    load,
    one_virus_from_clear,
    play,
)

PLAYER_STEER, PLAYER_THINK = 0xE000, 0xE002  # where the address of the one is, and the other itself
BUDGET = 12_000  # cycles per call
OWN_MEMORY = {PLAYER_PAD, *range(0xB0, 0xD0), *range(0x3B0, 0x400), *range(0x742, 0x780), *range(0x1E0, 0x200)}


def attract(session: Session, level: int = 10, speed: int = 1) -> None:
    """Into the attract mode without the wait on the title."""
    session.step(frames=20)
    session.ram[ATTRACT_LEVEL], session.ram[ATTRACT_SPEED] = level, speed
    session.ram[WAIT], session.ram[FRAME_COUNTER] = 7, 0xFF
    session.step()
    assert (session.mode, session.ram[ATTRACT]) == (OPTIONS, 0xFE)


def test_it_clears_level_0_alone_on_ten_seeds() -> None:
    games = 10
    batch, pads = EmbeddedBatch(antidote(), games), np.zeros((games, 2), np.uint8)
    batch.step(pads, 20)
    batch.ram[:, [ATTRACT_LEVEL, ATTRACT_SPEED, WAIT, FRAME_COUNTER]] = 0, 1, 7, 0xFF
    batch.step(pads, 1)
    seeds = np.random.default_rng(5).integers(2, 65536, games)
    batch.ram[:, RANDOM], batch.ram[:, RANDOM + 1] = seeds >> 8, seeds & 0xFF
    cleared = np.zeros(games, bool)
    for _ in range(800):
        batch.step(pads, 10)
        assert not (~cleared & (batch.ram[:, MODE] > PLAY) & (batch.ram[:, MODE] < 8)).any(), "a bottle is full"
        cleared |= (batch.ram[:, MODE] == PLAY) & (batch.ram[:, PHASE] > 0)
        if cleared.all():
            break
    assert cleared.all()
    assert not batch.ram[:, LATE_FRAMES].any()


def test_after_its_game_the_attract_mode_returns_to_the_title() -> None:
    session = Session()
    attract(session, level=0)
    session.until_mode(PLAY)
    one_virus_from_clear(session)
    session.until(lambda: session.mode == TITLE)
    assert session.ram[ATTRACT] == 0


def test_its_pad_is_the_seats_pad_of_the_next_frame() -> None:
    session = play(players=2, vs_cpu=True)
    wanted, seen = int(session.ram[PLAYER_PAD]), set()
    for _ in range(300):
        session.step(0, LEFT)  # a pad that is plugged in does not disturb it
        assert session.ram[0xF8] == wanted
        wanted = int(session.ram[PLAYER_PAD])
        seen.add(wanted)
    assert len(seen) >= 3
    assert session.ram[0xF7] == 0, "the human keeps pad 1"


def test_the_human_holds_pad_2_without_vs_cpu() -> None:
    session = play(players=2)
    session.step(0, LEFT)
    assert session.ram[0xF8] == LEFT


def test_it_beats_someone_who_does_nothing() -> None:
    session = play(players=2, vs_cpu=True)
    session.until(lambda: session.mode == 7 or session.ram[PHASE] > 0, limit=8000)
    assert session.ram[0x39E] == 1
    assert session.ram[0x31E] == 0


class Bench:
    """The player alone in a 6502, to count its cycles and see what it writes."""

    def __init__(self, rom: bytes) -> None:
        self.memory = ObservableMemory()
        prg = rom[16:][:0x8000]
        self.memory.write(0x8000, list(prg))
        self.written: set[int] = set()
        self.memory.subscribe_to_write(range(0x8000), lambda address, _value: self.written.add(address))
        self.mpu = ExactMPU(self.memory)

    def ask(self, seat: int, action: int) -> int:
        """Cycles of one call, as the cartridge makes it."""
        ram = self.memory._subject
        ram[0x57], ram[0x58], ram[PLAYER_PAD] = 0, 4 + seat, 0
        ram[ACTION + SEATS[seat]] = action
        steer = ram[PLAYER_STEER] | ram[PLAYER_STEER + 1] << 8
        mpu = self.mpu
        mpu.pc, mpu.a, mpu.x = PLAYER_THINK if action == 3 else steer, action, SEATS[seat]
        mpu.sp, mpu.processorCycles = 0xFD, 0
        ram[0x1FE], ram[0x1FF] = 0xFF, 0x02  # returns to $0300
        while mpu.pc != 0x0300:
            mpu.step()
            assert mpu.processorCycles < 100_000
        return int(mpu.processorCycles)


@pytest.mark.parametrize("seat", [0, 1])
def test_it_keeps_its_budget_and_its_memory_on_any_board(seat: int) -> None:
    rng, bench, worst = random.Random(seat), Bench(antidote().read_bytes()), 0
    ram = bench.memory._subject
    for _ in range(60):
        ram[0x400:0x600] = [0xFF] * 512
        board = crowded_board(rng, rng.choice((0.1, 0.5, 0.95)), rng.choice((1, 3)))
        if rng.random() < 0.2:
            board = bytes([0xFF] * 128)  # the longest way down
        ram[0x400 + 0x100 * seat : 0x480 + 0x100 * seat] = list(board)
        block = SEATS[seat]
        for offset, value in ((1, rng.randrange(3)), (2, rng.randrange(3)), (5, 3), (6, 15), (0x25, 0)):
            ram[0x300 + block + offset] = value
        worst = max(worst, *(bench.ask(seat, action) for action in (3, 0, 0, 0)))
    assert worst <= BUDGET
    assert bench.written <= OWN_MEMORY, sorted(map(hex, bench.written - OWN_MEMORY))


def rom_with_a_player_that_needs_its_whole_budget() -> bytes:
    """Its pad is made of the frame counter; then it waits."""
    turns = (BUDGET - 100) // 1286
    code = bytes([0x02, 0xE0])  # the steering is the thinking
    code += bytes.fromhex("A5 43 29 C7 85 05")  # lda $43, and #$C7, sta $05
    code += bytes([0xA2, turns]) + bytes.fromhex("A0 00 88 D0 FD CA D0 F8")  # ldx #turns; X times 1286 cycles
    code += bytes([0xA0, (BUDGET - 100) % 1286 // 5]) + bytes.fromhex("88 D0 FD 60")  # the rest
    rom = bytearray(antidote().read_bytes())
    rom[16 + 0x6000 : 16 + 0x6000 + len(code)] = code
    return bytes(rom)


def test_that_player_does_need_its_budget() -> None:
    bench = Bench(rom_with_a_player_that_needs_its_whole_budget())
    for action in (0, 3):
        assert BUDGET * 0.98 < bench.ask(1, action) <= BUDGET


@pytest.mark.parametrize("players", [1, 2])
def test_with_the_whole_budget_used_no_frame_is_late(players: int) -> None:
    rng = random.Random(players)
    session = Session(rom_with_a_player_that_needs_its_whole_budget())
    if players == 1:
        attract(session)
    else:
        session.step(frames=12)
        session.ram[0x727], session.ram[0x04] = 2, 1
        session.step(0x10)
        session.step(frames=3)
        session.step(0x10)
    session.until_mode(PLAY)
    hand = Hand(rng, may_pause=False)
    for frame in range(24000):
        session.step(hand.pad(False) if players == 2 else 0)
        if frame % 80 == 0 and session.mode == PLAY and session.ram[PHASE] == 0:
            for seat in range(players):
                board = crowded_board(rng, rng.choice((0.3, 0.7, 0.9)), rng.choice((1, 2, 3)))
                session.field(seat)[:] = np.frombuffer(board, np.uint8).reshape(16, 8)
                block = SEATS[seat]
                session.ram[VIRUSES + block] = viruses_on(board) or 1
                session.ram[0x309 + block] = 0
                session.ram[ACTION + block], session.ram[SETTLE_STEP + block], session.ram[REDRAW + block] = 1, 0, 0xFF
        elif session.mode != PLAY or session.ram[PHASE]:  # a round was decided: play on
            session.ram[MODE], session.ram[PHASE] = PLAY, 0
            session.ram[0x309], session.ram[0x389], session.ram[0x31E], session.ram[0x39E] = 0, 0, 0, 0
            session.ram[VIRUSES], session.ram[VIRUSES + SEATS[1]] = 0x20, 0x20
    assert session.ram[LATE_FRAMES] == 0


def test_loading_is_never_late() -> None:
    for players in (1, 2):
        session = load(players, level=20)
        session.until_mode(PLAY)
        assert session.ram[LATE_FRAMES] == 0
