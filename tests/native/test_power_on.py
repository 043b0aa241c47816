"""The first frame after power-on, cycle by cycle: when the frame counter and the PPU first raise their flags."""

import pytest

from .assembler import assemble
from .consoles import Comparison

READ_TWICE = """
KEEP_POWER_ON_STATE = 1
.include "console.inc"
main:   delay WAIT
        lda {register}
        ldx {register}
        sta LOG
        stx LOG+1
        jmp finished
"""


@pytest.mark.parametrize(("register", "first", "last"), [("$4015", 29788, 29800), ("$2002", 27355, 27365)])
def test_flags_rise_in_the_same_cycle(register: str, first: int, last: int) -> None:
    seen = set()
    for wait in range(first, last):
        comparison = Comparison(assemble(READ_TWICE.format(register=register), defines=(f"WAIT={wait}",)))
        for _ in comparison.frames(2):
            pass
        seen.add(tuple(comparison.oracle.ram[0x300:0x302].tolist()))
    assert len(seen) >= 2, "the edge lies within the sweep"
