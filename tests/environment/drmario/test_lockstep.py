"""The C++ engine and the plain reference play the same games, and every byte of state is equal after every frame."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mario_rl.environment.drmario.rules import IMAGE, RulesBatch
from tests.environment.drmario.boards import Hand, crowded_board, viruses_on
from tests.environment.drmario.reference import (
    ACTION,
    ATTACK,
    EMPTY,
    LEFT_HALF,
    RIGHT_HALF,
    ROTATION,
    SPEED_UPS,
    START,
    VIRUSES,
    WINS,
    Reference,
    X,
    Y,
)

FRAMES = 2500
GAMES = 12
PLACES = np.flatnonzero(IMAGE)


class Pair:
    """One game in both."""

    def __init__(self, number: int, players: int, crowded: bool) -> None:
        self.rng = random.Random(f"{number} {players} {crowded}")
        levels, speeds = self._two(21), self._two(3)
        if players == 1:  # the second block is a copy in one-player games
            levels, speeds = (levels[0],) * 2, (speeds[0],) * 2
        self.begin = (self.rng.randrange(2, 65536), levels, speeds, players)
        self.reference = Reference.begin(*self.begin)
        self.crowded = crowded
        self.hands = [Hand(self.rng), Hand(self.rng)]

    def _two(self, below: int) -> tuple[int, int]:
        first = self.rng.randrange(below)
        return first, self.rng.choice((first, self.rng.randrange(below)))

    def pads(self) -> tuple[int, int]:
        """What is pressed in the next frame."""
        ram = self.reference.ram
        waits = ram[0x46] == 7 or ram[0x68D] != 0 or (ram[0x46] == 4 and ram[0x59] != 0)
        return self.hands[0].pad(waits), self.hands[1].pad(waits)

    def meddle(self, frame: int) -> bool:
        """Now and then a crowded bottle, and nearly everything a game can come to; was it so?"""
        ram, playing = self.reference.ram, self.reference.playing
        if not self.crowded or frame % 200 != 199 or ram[0x46] != 4 or ram[0x59] or ram[0x68D]:
            return False
        for seat in playing:
            board = crowded_board(self.rng, self.rng.choice((0.3, 0.7, 0.9)), self.rng.choice((1, 2, 3)))
            ram[0x400 + 0x100 * seat.number : 0x480 + 0x100 * seat.number] = board
            seat[VIRUSES] = viruses_on(board) or 1
            seat[SPEED_UPS] = self.rng.choice((0, 10, 30, 48, 49))
            seat[ATTACK] = self.rng.choice((0, 0, 1, 2, 3, 4, 9))
            seat[WINS] = self.rng.choice((0, 1, 2))
        return True


@pytest.mark.parametrize("players", [1, 2])
@pytest.mark.parametrize("crowded", [False, True])
def test_engine_and_reference_agree_on_every_byte_of_every_frame(players: int, crowded: bool) -> None:
    pairs = [Pair(number, players, crowded) for number in range(GAMES)]
    engine = RulesBatch(GAMES)
    seeds, levels, speeds, players_of = (np.array(column) for column in zip(*(p.begin for p in pairs), strict=True))
    engine.reset(seeds, levels, speeds, players_of)
    modes = set()
    for frame in range(FRAMES):
        pads = np.array([pair.pads() for pair in pairs], np.uint8)
        engine.step(pads)
        for game, pair in enumerate(pairs):
            pair.reference.step(*pads[game].tolist())
            compare(engine, game, pair, frame)
            modes.add((pair.reference.ram[0x46], pair.reference.ram[0x59]))
            if pair.meddle(frame):
                engine.ram[game, PLACES] = np.frombuffer(bytes(pair.reference.ram), np.uint8)[PLACES]
    assert {mode for mode, _ in modes} >= {4, 5, 7, 8}
    if players == 2 or crowded:
        assert 3 in {mode for mode, _ in modes}, "nobody came to a second round"
    if crowded:
        assert {phase for mode, phase in modes if mode == 4} >= {0, 1, 2, 3, 4, 5}


CELLS = st.sampled_from(
    [0xFF] * 6 + [kind + colour for kind in range(0x40, 0x90, 0x10) for colour in range(3)] + [0xD0, 0xD1]
)


@settings(max_examples=60, deadline=None)
@given(
    field=st.lists(CELLS, min_size=128, max_size=128),
    place=st.tuples(st.integers(0, 7), st.integers(0, 15), st.integers(0, 3)),
    players=st.integers(1, 2),
    pads=st.lists(st.integers(0, 255).map(lambda pad: pad & ~START), min_size=1, max_size=12),
)
def test_engine_and_reference_agree_on_any_board(
    field: list[int], place: tuple[int, int, int], players: int, pads: list[int]
) -> None:
    """Halves without partners, and a capsule anywhere: no game gets there, and yet there is one right answer.

    Only halves that reach beyond a wall are left out: the rules do not say whom they would belong to.
    """
    for row in range(0, 128, 8):
        field[row] = EMPTY if field[row] & 0xF0 == RIGHT_HALF else field[row]
        field[row + 7] = EMPTY if field[row + 7] & 0xF0 == LEFT_HALF else field[row + 7]
    pair = Pair(0, players, crowded=False)
    ram = pair.reference.ram
    while ram[0x46] != 4 or pair.reference.seats[0][ACTION] != 0:
        pair.reference.step(0)
    ram[0x400:0x480] = bytes(field)
    x, y, rotation = place
    seat = pair.reference.seats[0]
    seat[X], seat[Y], seat[ROTATION] = x if rotation & 1 else min(x, 6), y, rotation
    engine = RulesBatch(1)
    engine.ram[0] = np.frombuffer(bytes(ram), np.uint8)
    for frame in range(150):
        pad = pads[frame % len(pads)]
        pair.reference.step(pad)
        engine.step(np.array([[pad, 0]], np.uint8))
        compare(engine, 0, pair, frame)


def compare(engine: RulesBatch, game: int, pair: Pair, frame: int) -> None:
    """Say which byte differs."""
    theirs = np.frombuffer(bytes(pair.reference.ram), np.uint8)
    wrong = PLACES[engine.ram[game, PLACES] != theirs[PLACES]]
    if wrong.size:
        bytes_ = ", ".join(f"${at:04X} is {engine.ram[game, at]:02X}, not {theirs[at]:02X}" for at in wrong[:6])
        pytest.fail(f"game {game} {pair.begin} after frame {frame}: {bytes_}")
