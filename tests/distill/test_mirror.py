"""A compiled player in Antidote against its mirror on the rules engine: every byte of play, in every frame."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from mario_rl.distill.antidote_slot import with_player
from mario_rl.distill.chooser import compile_player
from mario_rl.distill.layout import ANTIDOTE_ORIGIN, ANTIDOTE_SIZE
from mario_rl.distill.mirror import CartridgeMirror
from mario_rl.distill.tables import Tables
from mario_rl.emulators.base import SELECT, START
from mario_rl.emulators.embedded import EmbeddedBatch
from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.environment.drmario.rules import RulesBatch
from mario_rl.roms import antidote
from tests.environment.drmario.boards import Hand

GAMES = 6
FORM = Tables(
    {
        "contact": (8, 11, 4, 0, 20), "run": (0, 2, 5, 9), "run_viruses": (0, 3, 5, 6), "beside": (0, 1, 3, 10),
        "top_row": tuple(34 - 2 * row for row in range(17)), "clears": (0, 15), "upright": (0, 4),
        "gap": tuple(max(0, 10 - 2 * cells) for cells in range(16)),
    },
    bias=1,
)  # fmt: skip
VS_CPU, PHASE, LATE_FRAMES, DEMO = 0x04, 0x59, 0x35, 0x741


@pytest.fixture(scope="module", params=[1, 2])
def columns_a_frame(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def console(columns_a_frame: int, folder: Path) -> EmbeddedBatch:
    made = compile_player(ANTIDOTE_ORIGIN, FORM, columns_a_frame)
    file = folder / "vs.nes"
    file.write_bytes(with_player(antidote().read_bytes(), made.code))
    return EmbeddedBatch(file, GAMES)


def follow(batch: EmbeddedBatch, columns_a_frame: int, seat: int, frames: int) -> int:
    """Play on both from the console's state on, and compare; the frames compared."""
    games = RulesBatch(GAMES)
    for game in range(GAMES):
        ram = batch.ram[game].copy()
        ram[[DEMO, PHASE]] = 0
        games.load_ram(game, ram.tobytes())
    memory, mirror = GameMemory(games.ram), CartridgeMirror(FORM, columns_a_frame, "mirror")
    hands = [Hand(random.Random(game), may_pause=False) for game in range(GAMES)]
    playing, compared = np.ones(GAMES, np.bool_), 0
    pads = np.zeros((GAMES, 2), np.uint8)
    for _ in range(frames):
        if seat == 1:
            pads[:, 0] = [hand.pad(False) for hand in hands]
        batch.step(pads, 1)
        pads[:, seat] = mirror.hold(memory, seat)
        games.step(pads)
        pads[:, seat] = 0
        playing &= (batch.ram[:, 0x46] == 4) & (batch.ram[:, PHASE] == 0) & (memory.mode == 4)
        if not playing.any():
            break
        for own in range(seat + 1):  # alone, the second seat's bytes mean nothing
            for start, size in ((0x300 + 0x80 * own, 0x30), (0x400 + 0x100 * own, 0x80)):
                there = playing, slice(start, start + size)
                assert np.array_equal(batch.ram[there], games.ram[there])
        compared += int(playing.sum())
    assert not batch.ram[:, LATE_FRAMES].any()
    return compared


def test_alone(columns_a_frame: int, tmp_path: Path) -> None:
    """In the attract mode, where it plays the first seat."""
    batch, nothing = console(columns_a_frame, tmp_path), np.zeros((GAMES, 2), np.uint8)
    batch.step(nothing, 20)
    batch.ram[:, [0x738, 0x739]] = 10, 1  # level and speed
    batch.ram[:, [0x51, 0x43]] = 7, 0xFF  # as if it had waited on the title
    batch.step(nothing, 1)
    batch.ram[:, 0x18] = range(16, 16 + 2 * GAMES, 2)
    while not (batch.ram[:, 0x46] == 4).all():
        batch.step(nothing, 1)
    assert follow(batch, columns_a_frame, 0, 2500) > 10_000


def test_against_somebody(columns_a_frame: int, tmp_path: Path) -> None:
    """VS CPU: it plays the second seat, and somebody who presses anything the first one."""
    batch, pads = console(columns_a_frame, tmp_path), np.zeros((GAMES, 2), np.uint8)
    batch.step(pads, 11)
    for button in (SELECT, SELECT, START):
        pads[:, 0] = button
        batch.step(pads, 1)
        pads[:, 0] = 0
        batch.step(pads, 1)
    batch.step(pads, 4)
    batch.ram[:, 0x18] = range(16, 16 + 2 * GAMES, 2)
    batch.ram[:, [0x316, 0x396]] = 5
    pads[:, 0] = START
    batch.step(pads, 1)
    pads[:, 0] = 0
    while not (batch.ram[:, 0x46] == 4).all():
        batch.step(pads, 1)
    assert (batch.ram[:, VS_CPU] == 1).all()
    assert follow(batch, columns_a_frame, 1, 2500) > 2_000


def test_there_is_room_for_seven_kilobytes() -> None:
    rom = antidote().read_bytes()
    made = with_player(rom, b"\x60" * ANTIDOTE_SIZE)
    assert len(made) == len(rom)
    assert made[: 16 + 0x6000] == rom[: 16 + 0x6000] and made[16 + 0x7C00 :] == rom[16 + 0x7C00 :]
    with pytest.raises(ValueError, match="room"):
        with_player(rom, b"\x60" * (ANTIDOTE_SIZE + 1))
