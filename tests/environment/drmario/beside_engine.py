"""A console and the rules engine play the same game: every byte of Dr. Mario's state is equal after every frame."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from mario_rl.emulators.base import Emulator
from mario_rl.environment.drmario.rules import IMAGE, RulesBatch
from tests.environment.drmario.boards import Hand

PLACES = np.flatnonzero(IMAGE)


def play_beside_engine(console: Emulator, rng: random.Random, frames: int) -> Iterator[tuple[int, RulesBatch, bool]]:
    """From the start of a round, with hands that press what hands press, until the match is over.

    After every frame that agreed: its number, the engine, and whether capsules fell in it.
    """
    engine = RulesBatch(1)
    engine.load_ram(0, console.ram.tobytes())
    hands = [Hand(rng), Hand(rng)]
    for frame in range(frames):
        mode, phase, paused = console.ram[0x46], console.ram[0x59], console.ram[0x68D]
        waits = mode == 7 or paused != 0 or (mode == 4 and phase != 0)
        pads = (hands[0].pad(waits), hands[1].pad(waits))
        console.step(pads)
        engine.step(np.array([pads], np.uint8))
        wrong = PLACES[engine.ram[0, PLACES] != console.ram[PLACES]]
        assert not wrong.size, f"frame {frame}: " + ", ".join(
            f"${at:04X} is {engine.ram[0, at]:02X}, the console has {console.ram[at]:02X}" for at in wrong[:6]
        )
        if console.ram[0x46] == 1:
            return
        yield frame, engine, mode == 4 and not waits
