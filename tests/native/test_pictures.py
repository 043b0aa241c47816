"""Pictures dot by dot: our palette indices, shown in cynes's colours, are cynes's frame."""

import functools

import numpy as np
import pytest

from .assembler import PROGRAMS, Cartridge, assemble
from .consoles import Comparison, CynesConsole
from .test_programs import DONE, DONE_FLAG, load

# Each frame shows the next of the 64 colours all over: with rendering off the backdrop fills the screen
ALL_COLOURS = """
.include "console.inc"
main:   ldx #$F0
@frame: bit PPUSTATUS
@wait:  bit PPUSTATUS
        bpl @wait
        store $3F, PPUADDR
        store $00, PPUADDR
        stx PPUDATA
        store $3F, PPUADDR
        store $00, PPUADDR
        stx $20
        inx
        jmp @frame
"""


@functools.cache
def oracle_palette() -> np.ndarray:
    """cynes's RGB for each of the 64 colours."""
    console = CynesConsole(assemble(ALL_COLOURS))
    colours = np.zeros((64, 3), np.uint8)
    for _ in range(200):
        console.step()
        shown = int(console.ram[0x20])  # written at the start of this frame's vblank
        if shown:  # the program has begun
            assert (console.picture == console.picture[0, 0]).all()
            colours[shown & 63] = console.picture[0, 0]
    return colours


def assert_same_picture(comparison: Comparison, frame: int, tolerance: int = 0) -> None:
    ours = oracle_palette()[comparison.ours[0].colours]
    differing = np.argwhere((ours != comparison.oracle.picture).any(axis=-1))
    first = "" if not len(differing) else f"the first at line {differing[0][0]}, dot {differing[0][1]}"
    assert len(differing) <= tolerance, f"frame {frame}: {len(differing)} dots differ, {first}"


def test_oracle_palette_is_useful() -> None:
    """Nearly all colours are distinct (the ones in columns E and F are black), so equality of RGB means something."""
    assert len(np.unique(oracle_palette(), axis=0)) >= 50


# A write in the middle of a line reaches the screen after the tiles already fetched; we do not model that pipeline.
# The program makes at most two such writes in a frame.
MID_LINE_TOLERANCE = 24


@pytest.mark.parametrize("mirroring", ["horizontal", "vertical"])
def test_picture_program(mirroring: str) -> None:
    source = (PROGRAMS / "picture.s").read_text()
    comparison = Comparison(assemble(source, Cartridge(mirroring=mirroring)), draw=True)
    for frame in comparison.frames(200):
        assert_same_picture(comparison, frame, MID_LINE_TOLERANCE)
        if comparison.oracle.ram[DONE_FLAG] == DONE:
            break


def test_sprite_pictures() -> None:
    """A sprite at all the edges of the screen, nothing written in the middle of a line."""
    comparison = Comparison(load("sprite_hit"), draw=True)
    for frame in comparison.frames(60):
        assert_same_picture(comparison, frame)
