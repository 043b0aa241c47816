"""Antidote in the embedded core, and what its RAM says. Addresses and timings are those of docs/drmario.md."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mario_rl.emulators.embedded import EmbeddedEmulator
from mario_rl.roms import antidote

A, B, SELECT, START, UP, DOWN, LEFT, RIGHT = (0x80 >> bit for bit in range(8))
TITLE, OPTIONS, LOAD, INIT, PLAY, TOPPED_OUT, END, VIRUSES_APPEAR = 0, 1, 2, 3, 4, 5, 7, 8
EMPTY, SINGLE, VIRUS = 0xFF, 0x80, 0xD0
SEATS = (0x00, 0x80)  # of $0300

VS_CPU, PLAYER_PAD, RANDOM, LATE_FRAMES, FRAME_COUNTER, MODE, WAIT = 0x04, 0x05, 0x17, 0x35, 0x43, 0x46, 0x51
WINNER, PHASE, FAILED, OPTION_ROW = 0x55, 0x59, 0x61, 0x65
REDRAW, SETTLE_STEP, SPEED, LEVEL, ACTION, WINS, VIRUSES, TO_PLACE = (
    0x300 + offset for offset in (0x00, 0x07, 0x0B, 0x16, 0x17, 0x1E, 0x24, 0x28)
)
FIELDS = (0x400, 0x500)
PAUSED, TOP_SCORE, PLAYERS, SCORE, MUSIC = 0x68D, 0x700, 0x727, 0x729, 0x731
ATTRACT_LEVEL, ATTRACT_SPEED, ATTRACT, RESERVE = 0x738, 0x739, 0x741, 0x780


class Session:
    """One console with the cartridge, counting frames from power-on."""

    def __init__(self, rom: bytes | None = None) -> None:
        self.emulator = EmbeddedEmulator(antidote() if rom is None else rom)
        self.ram = self.emulator.ram
        self.frame = 0

    def step(self, pad: int = 0, pad_2: int = 0, frames: int = 1) -> None:
        """Frames with both pads held."""
        self.emulator.step((pad, pad_2), frames)
        self.frame += frames

    def until(self, reached: Callable[[], bool], pad: int = 0, limit: int = 2500) -> int:
        """Steps until it holds after a frame; how many frames that took."""
        for count in range(1, limit + 1):
            self.step(pad)
            if reached():
                return count
        raise AssertionError(f"not reached in {limit} frames: mode {self.mode}, phase {self.ram[PHASE]}")

    def until_mode(self, mode: int, pad: int = 0) -> int:
        """How many frames it takes until the mode is seen."""
        return self.until(lambda: self.mode == mode, pad)

    @property
    def mode(self) -> int:
        return int(self.ram[MODE])

    @property
    def random(self) -> int:
        """The generator's state."""
        return int(self.ram[RANDOM]) << 8 | int(self.ram[RANDOM + 1])

    @random.setter
    def random(self, state: int) -> None:
        self.ram[RANDOM], self.ram[RANDOM + 1] = state >> 8, state & 0xFF

    def field(self, seat: int = 0) -> np.ndarray:
        """uint8[16, 8], row 0 on top; writing changes the game."""
        return self.ram[FIELDS[seat] : FIELDS[seat] + 128].reshape(16, 8)


def options(players: int = 1, vs_cpu: bool = False) -> Session:
    """At the options screen, in the first frame that takes buttons."""
    session = Session()
    session.step(frames=12)
    session.ram[PLAYERS], session.ram[VS_CPU] = players, vs_cpu
    session.step(START)
    session.step(frames=3)
    assert session.mode == OPTIONS
    return session


def load(players: int = 1, level: int = 0, speed: int = 1, vs_cpu: bool = False) -> Session:
    """Options chosen, the dark moment before the round."""
    session = options(players, vs_cpu)
    for seat in SEATS:
        session.ram[LEVEL + seat], session.ram[SPEED + seat] = level, speed
    session.step(START)
    assert session.mode == LOAD
    return session


def play(players: int = 1, level: int = 0, speed: int = 1, vs_cpu: bool = False) -> Session:
    """In play, the first capsule of seat 1 under control."""
    session = load(players, level, speed, vs_cpu)
    session.until_mode(PLAY)
    session.until(lambda: session.ram[ACTION] == 0)
    return session


def one_virus_from_clear(session: Session, seat: int = 0) -> None:
    """The bottle holds one virus, under three of its colour: it goes with the next settling, which begins now."""
    field = session.field(seat)
    field[:] = EMPTY
    field[15, 7] = VIRUS
    field[12:15, 7] = SINGLE
    block = SEATS[seat]
    session.ram[VIRUSES + block] = 1
    session.ram[ACTION + block], session.ram[SETTLE_STEP + block], session.ram[REDRAW + block] = 1, 4, 0xFF


def no_room(session: Session, seat: int = 0) -> None:
    """The next capsule of the seat finds its place taken; it comes at once."""
    session.field(seat)[0, 3:5] = SINGLE, SINGLE + 1
    session.ram[ACTION + SEATS[seat]] = 5
