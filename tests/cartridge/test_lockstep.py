"""The rules engine and Antidote play the same games: every byte of state is equal after every frame.

`mario-rl bench drmario` does the same over ten times as many frames.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from mario_rl.emulators.base import SELECT, START
from mario_rl.emulators.embedded import EmbeddedEmulator
from mario_rl.roms import antidote
from tests.environment.drmario.beside_engine import play_beside_engine
from tests.environment.drmario.boards import crowded_board, viruses_on

FRAMES_OF_A_GAME = 2000
GAMES = 4  # of each kind: 32,000 frames in all
LATE_FRAMES = 0x35


def console_at_round_start(rng: random.Random, players: int) -> EmbeddedEmulator:
    """Antidote at the end of the options, with levels, speeds and randomness of its own."""
    console = EmbeddedEmulator(antidote())
    console.step(frames=11)
    for pad in [SELECT, 0] * (players - 1) + [START]:
        console.step((pad, 0))
    console.step(frames=5 + rng.randrange(50))
    assert console.ram[0x46] == 1
    level = rng.randrange(21)
    console.ram[0x316] = level
    console.ram[0x396] = level if players == 1 else rng.choice((level, rng.randrange(21)))
    console.ram[[0x30B, 0x38B]] = rng.randrange(3)
    console.step((START, 0))
    while console.ram[0x46] != 3:
        console.step()
    return console


@pytest.mark.parametrize("players", [1, 2])
@pytest.mark.parametrize("crowded", [False, True])
@pytest.mark.parametrize("game", range(GAMES))
def test_engine_and_cartridge_agree_on_every_byte_of_every_frame(players: int, crowded: bool, game: int) -> None:
    rng = random.Random(f"{players} {crowded} {game}")
    console = console_at_round_start(rng, players)
    for frame, engine, falling in play_beside_engine(console, rng, FRAMES_OF_A_GAME):
        if crowded and frame % 200 == 199 and falling:
            for seat in range(players):
                board = crowded_board(rng, rng.choice((0.3, 0.7, 0.9)), rng.choice((1, 2, 3)))
                for ram in (console.ram, engine.ram[0]):
                    ram[0x400 + 0x100 * seat : 0x480 + 0x100 * seat] = np.frombuffer(board, np.uint8)
                    ram[0x324 + 0x80 * seat] = viruses_on(board) or 1
    assert console.ram[LATE_FRAMES] == 0
