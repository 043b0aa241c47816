"""Each program in programs/ observes one part of the hardware and logs it in RAM; cynes must log the same, always.

The programs repeat an event one CPU cycle or one PPU dot later each time, so that a fault of one dot shows.
"""

import ast

import pytest

from .assembler import PROGRAMS, Cartridge, assemble
from .consoles import Comparison

DONE_FLAG, DONE = 0x0004, 0xA5  # console.inc
MOST_FRAMES = 1500

NAMES = sorted(path.stem for path in PROGRAMS.glob("*.s"))


def load(name: str) -> bytes:
    """The ROM of a program, whose first line may describe its cartridge."""
    source = (PROGRAMS / f"{name}.s").read_text()
    first_line = source.partition("\n")[0]
    if not first_line.startswith("; cartridge:"):
        return assemble(source)
    call = ast.parse(f"dict({first_line.removeprefix('; cartridge:')})", mode="eval").body
    assert isinstance(call, ast.Call)
    return assemble(source, Cartridge(**{word.arg: ast.literal_eval(word.value) for word in call.keywords}))


def moving_pads(frame: int) -> tuple[int, int]:
    """Every bit of both pads takes both values within a few frames."""
    return (frame * 37 + 11) & 255, (frame * 91 + 5) & 255


@pytest.mark.parametrize("name", NAMES)
def test_program(name: str) -> None:
    comparison = Comparison(load(name), moving_pads if name == "pads" else lambda _: (0, 0))
    for _ in comparison.frames(MOST_FRAMES):
        if comparison.oracle.ram[DONE_FLAG] == DONE:
            break
    assert comparison.oracle.ram[DONE_FLAG] == DONE, "the program did not finish"
    assert comparison.oracle.ram[0x300:].any(), "the program observed nothing"
    for _ in comparison.frames(2):  # it now sits in an idle loop
        pass


def test_programs_are_deterministic_in_the_oracle() -> None:
    """A sample: two cynes instances agree, so a difference is never the oracle's own."""
    first, second = (Comparison(load("open_bus")).oracle for _ in range(2))
    for _ in range(60):
        first.step()
        second.step()
    assert (first.ram == second.ram).all()
