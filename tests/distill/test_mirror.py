"""A compiled player in Antidote against its mirror on the rules engine: every byte of play, in every frame."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from mario_rl.distill.burn import burn
from mario_rl.distill.form import Form
from mario_rl.distill.mirror import CartridgeMirror
from mario_rl.distill.player_file import DistilledPlayer
from mario_rl.emulators.base import SELECT, START
from mario_rl.emulators.embedded import EmbeddedBatch
from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.environment.drmario.rules import RulesBatch
from mario_rl.roms import antidote
from tests.distill.example_forms import FORMS
from tests.environment.drmario.boards import Hand

GAMES = 6
VS_CPU, PHASE, LATE_FRAMES, DEMO = 0x04, 0x59, 0x35, 0x741


@pytest.fixture(scope="module", params=FORMS, ids=lambda form: f"{form.kind} {form.thinks}")
def form(request: pytest.FixtureRequest) -> Form:
    return request.param  # type: ignore[no-any-return]


def console(form: Form, folder: Path) -> EmbeddedBatch:
    file = folder / "vs.nes"
    file.write_bytes(burn(DistilledPlayer(form), antidote().read_bytes()).rom)
    return EmbeddedBatch(file, GAMES)


def follow(batch: EmbeddedBatch, form: Form, seat: int, frames: int) -> int:
    """Play on both from the console's state on, and compare; the frames compared."""
    games = RulesBatch(GAMES)
    for game in range(GAMES):
        ram = batch.ram[game].copy()
        ram[[DEMO, PHASE]] = 0
        games.load_ram(game, ram.tobytes())
    memory, mirror = GameMemory(games.ram), CartridgeMirror(form, "mirror")
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


def test_alone(form: Form, tmp_path: Path) -> None:
    """In the attract mode, where it plays the first seat."""
    batch, nothing = console(form, tmp_path), np.zeros((GAMES, 2), np.uint8)
    batch.step(nothing, 20)
    batch.ram[:, [0x738, 0x739]] = 10, 1  # level and speed
    batch.ram[:, [0x51, 0x43]] = 7, 0xFF  # as if it had waited on the title
    batch.step(nothing, 1)
    batch.ram[:, 0x18] = range(16, 16 + 2 * GAMES, 2)
    while not (batch.ram[:, 0x46] == 4).all():
        batch.step(nothing, 1)
    assert follow(batch, form, 0, 2500) > 3_000


def test_against_somebody(form: Form, tmp_path: Path) -> None:
    """VS CPU: it plays the second seat, and somebody who presses anything the first one."""
    batch, pads = console(form, tmp_path), np.zeros((GAMES, 2), np.uint8)
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
    assert follow(batch, form, 1, 2500) > 1_500
