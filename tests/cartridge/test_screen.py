"""What is in RAM is what is to be seen; and two emulators agree on both."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest

from mario_rl._native import Batch, Rom
from mario_rl.roms import antidote
from tests.environment.drmario.boards import Hand, crowded_board
from tests.native.consoles import Comparison
from tests.native.test_pictures import assert_same_picture

from .session import ACTION, EMPTY, FIELDS, PLAY, SEATS, SINGLE, START, VS_CPU, Session, load, play

LAYOUT = Path(__file__).parents[2] / "cartridge" / "art" / "layout.inc"
BACKGROUND_BANK, SWEEP_ROW, MODE, PLAYERS = 0x0A, 0x0F, 0x46, 0x727
CAPSULE_X, ROTATION = 0x305, 0x325
IDLE = 4  # an action that does nothing


def layout(name: str) -> int:
    """A number of art/layout.inc."""
    found = re.search(rf"^{name}\s*=\s*(\d+)", LAYOUT.read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


def tile(bank: int, number: int) -> np.ndarray:
    """uint8[8, 8]: a tile's colour numbers 0-3."""
    start = 16 + 0x8000 + 0x1000 * bank + 16 * number
    planes = np.frombuffer(antidote().read_bytes()[start : start + 16], np.uint8).reshape(2, 8)
    bits = np.unpackbits(planes[:, :, None], axis=2)
    return bits[0] + 2 * bits[1]


@pytest.mark.parametrize("players", [1, 2])
def test_every_cell_of_every_bottle_is_drawn(players: int) -> None:
    """One palette for all cells: if each colour number always shows the same colour, the right tiles are shown."""
    session = load(players)
    session.until_mode(PLAY)
    rng = random.Random(players)
    columns = [layout("FIELD1_COLUMN")] if players == 1 else [layout("FIELD2A_COLUMN"), layout("FIELD2B_COLUMN")]
    for seat in range(players):
        session.field(seat)[:] = np.frombuffer(crowded_board(rng, 0.9), np.uint8).reshape(16, 8)
        session.ram[ACTION + SEATS[seat]] = IDLE
    session.ram[SWEEP_ROW] = 15
    session.step(frames=20)
    bank = int(session.ram[BACKGROUND_BANK])
    console = Batch(Rom(antidote().read_bytes()), 1)
    console.load(0, session.emulator.save())
    console.step(np.zeros((1, 2), np.uint8), 1, None, "draw")
    picture = console.pixels(0)
    shown: dict[int, set[int]] = {number: set() for number in range(4)}
    for seat, column in enumerate(columns):
        for row in range(16):
            for x in range(8):
                top, left = 8 * (layout("FIELD_ROW") + row), 8 * (column + x)
                colours = picture[top : top + 8, left : left + 8]
                numbers = tile(bank, int(session.field(seat)[row, x]))
                for number in range(4):
                    shown[number] |= set(colours[numbers == number].tolist())
    assert all(len(colours) == 1 for colours in shown.values()), shown
    assert len(set.union(*shown.values())) == 4


@pytest.mark.parametrize("vs_cpu", [False, True])
def test_embedded_and_cynes_show_and_do_the_same(vs_cpu: bool) -> None:
    hand = Hand(random.Random(vs_cpu), may_pause=False)
    script = {20: START, 40: START, 400: START, 430: START}  # title, options, pause, play
    played = [hand.pad(False) for _ in range(560)]

    def pads(frame: int) -> tuple[int, int]:
        return script.get(frame, played[frame] if 180 < frame < 400 or frame > 430 else 0), 0

    comparison = Comparison(antidote().read_bytes(), pads, draw=True)
    modes = set()
    for frame in comparison.frames(len(played)):
        if frame == 15 and vs_cpu:
            for console in comparison.consoles:
                console.poke(PLAYERS, 2)
                console.poke(VS_CPU, 1)
        if frame % 15 == 0:
            assert_same_picture(comparison, frame)
        modes.add(int(comparison.oracle.ram[MODE]))
    assert modes >= {0, 1, 2, 3, 4, 8}
    fields = [comparison.oracle.ram[start : start + 128] for start in FIELDS[: 1 + vs_cpu]]
    assert all(((field >= 0x40) & (field < 0x80)).any() for field in fields), "no capsule was placed"


@pytest.mark.parametrize("seat", [0, 1])
def test_a_half_that_sticks_out_of_the_bottle_vanishes(seat: int) -> None:
    session = play(players=2)
    session.field(seat)[1:, 2] = SINGLE
    block = SEATS[seat]
    session.ram[CAPSULE_X + block], session.ram[ROTATION + block] = 2, 1
    session.until(lambda: session.ram[ACTION + block] == 1)
    assert session.field(seat)[0, 2] & 0xF0 == 0x50
    for start in FIELDS:
        assert (session.ram[start + 128 : start + 256] == EMPTY).all(), "cells around the bottle read as empty"


def test_the_title_is_lit_and_not_a_blank() -> None:
    session = Session()
    session.step(frames=30)
    session.emulator.step(render=True)
    colours = np.unique(session.emulator.frame().reshape(-1, 3), axis=0)
    assert len(colours) > 4
