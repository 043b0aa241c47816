"""The game itself, in cynes and in our core: all RAM every frame, sampled pictures, several levels, both idle skips."""

import random

import pytest

from mario_rl.emulators.rom import RomNotFound, find_rom

from .consoles import Comparison
from .test_pictures import assert_same_picture

START, RIGHT, LEFT, DOWN, A, B = 0x10, 0x01, 0x02, 0x04, 0x80, 0x40
WORLD, STAGE, AREA = 0x075F, 0x075C, 0x0760
TITLE_FRAMES = 45  # the title screen is up, Start is not yet taken

LEVELS = {"1-1": (0, 0, 0), "1-2": (0, 1, 2), "2-2": (1, 1, 2), "4-4": (3, 3, 4), "8-1": (7, 0, 0)}


def buttons(level: str, frame: int) -> int:
    """Nothing, then Start for a moment, then a player that holds a random choice for 12 frames, mostly to the right."""
    if frame < TITLE_FRAMES + 5:
        return 0
    if frame < TITLE_FRAMES + 15:
        return START
    chance = random.Random(f"{level} {frame // 12}")
    return chance.choice([RIGHT | B, RIGHT | B | A, RIGHT | B | A, RIGHT, RIGHT | A, LEFT | A, DOWN, A, B])


@pytest.fixture(scope="module")
def rom() -> bytes:
    try:
        return find_rom("smb").read_bytes()
    except RomNotFound as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("level", LEVELS)
def test_plays_like_the_oracle(rom: bytes, level: str) -> None:
    comparison = Comparison(rom, lambda frame: (buttons(level, frame), 0), draw=True)
    seen = set()
    for frame in comparison.frames(700):
        if frame == TITLE_FRAMES:
            for console in comparison.consoles:
                for address, value in zip((WORLD, STAGE, AREA), LEVELS[level], strict=True):
                    console.poke(address, value)
        if frame % 7 == 0:
            assert_same_picture(comparison, frame)
        seen.add(int(comparison.oracle.ram[0x6D]) * 256 + int(comparison.oracle.ram[0x86]))
    assert comparison.oracle.ram[WORLD] == LEVELS[level][0]
    assert len(seen) > 60, "Mario did not move"
