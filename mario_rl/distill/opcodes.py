"""The 6502's instructions: opcode and cycles by mnemonic and way of addressing.

A `+` behind the cycles: one more if an indexed address crosses a page. Branches take one more cycle if they are taken,
and another one if that crosses a page.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Mode(Enum):
    """A way of addressing; the value is the instruction's length in bytes, and ca65's way to write it."""

    IMPLIED = (1, "")
    ACCUMULATOR = (1, "a")
    IMMEDIATE = (2, "#{}")
    ZERO_PAGE = (2, "{}")
    ZERO_PAGE_X = (2, "{},x")
    ZERO_PAGE_Y = (2, "{},y")
    INDIRECT_X = (2, "({},x)")
    INDIRECT_Y = (2, "({}),y")
    RELATIVE = (2, " {}")  # the blank tells it from ZERO_PAGE: members of an Enum have values of their own
    ABSOLUTE = (3, "{}")
    ABSOLUTE_X = (3, "{},x")
    ABSOLUTE_Y = (3, "{},y")
    INDIRECT = (3, "({})")

    @property
    def size(self) -> int:
        """Bytes of an instruction."""
        return int(self.value[0])

    def written(self, operand: str) -> str:
        """The operand in ca65's syntax."""
        return str(self.value[1]).format(operand).strip()


class Operation(NamedTuple):
    """An instruction of one mnemonic and mode."""

    opcode: int
    cycles: int
    page_crossing: bool
    """One cycle more if the indexed address lies on another page."""


_NAMES = {
    "imp": Mode.IMPLIED,
    "acc": Mode.ACCUMULATOR,
    "imm": Mode.IMMEDIATE,
    "zp": Mode.ZERO_PAGE,
    "zpx": Mode.ZERO_PAGE_X,
    "zpy": Mode.ZERO_PAGE_Y,
    "inx": Mode.INDIRECT_X,
    "iny": Mode.INDIRECT_Y,
    "rel": Mode.RELATIVE,
    "abs": Mode.ABSOLUTE,
    "abx": Mode.ABSOLUTE_X,
    "aby": Mode.ABSOLUTE_Y,
    "ind": Mode.INDIRECT,
}

# mnemonic, then triples: mode, opcode, cycles
_TABLE = """
adc imm 69 2  zp 65 3  zpx 75 4  abs 6D 4  abx 7D 4+  aby 79 4+  inx 61 6  iny 71 5+
and imm 29 2  zp 25 3  zpx 35 4  abs 2D 4  abx 3D 4+  aby 39 4+  inx 21 6  iny 31 5+
asl acc 0A 2  zp 06 5  zpx 16 6  abs 0E 6  abx 1E 7
bcc rel 90 2
bcs rel B0 2
beq rel F0 2
bit zp 24 3  abs 2C 4
bmi rel 30 2
bne rel D0 2
bpl rel 10 2
brk imp 00 7
bvc rel 50 2
bvs rel 70 2
clc imp 18 2
cld imp D8 2
cli imp 58 2
clv imp B8 2
cmp imm C9 2  zp C5 3  zpx D5 4  abs CD 4  abx DD 4+  aby D9 4+  inx C1 6  iny D1 5+
cpx imm E0 2  zp E4 3  abs EC 4
cpy imm C0 2  zp C4 3  abs CC 4
dec zp C6 5  zpx D6 6  abs CE 6  abx DE 7
dex imp CA 2
dey imp 88 2
eor imm 49 2  zp 45 3  zpx 55 4  abs 4D 4  abx 5D 4+  aby 59 4+  inx 41 6  iny 51 5+
inc zp E6 5  zpx F6 6  abs EE 6  abx FE 7
inx imp E8 2
iny imp C8 2
jmp abs 4C 3  ind 6C 5
jsr abs 20 6
lda imm A9 2  zp A5 3  zpx B5 4  abs AD 4  abx BD 4+  aby B9 4+  inx A1 6  iny B1 5+
ldx imm A2 2  zp A6 3  zpy B6 4  abs AE 4  aby BE 4+
ldy imm A0 2  zp A4 3  zpx B4 4  abs AC 4  abx BC 4+
lsr acc 4A 2  zp 46 5  zpx 56 6  abs 4E 6  abx 5E 7
nop imp EA 2
ora imm 09 2  zp 05 3  zpx 15 4  abs 0D 4  abx 1D 4+  aby 19 4+  inx 01 6  iny 11 5+
pha imp 48 3
php imp 08 3
pla imp 68 4
plp imp 28 4
rol acc 2A 2  zp 26 5  zpx 36 6  abs 2E 6  abx 3E 7
ror acc 6A 2  zp 66 5  zpx 76 6  abs 6E 6  abx 7E 7
rti imp 40 6
rts imp 60 6
sbc imm E9 2  zp E5 3  zpx F5 4  abs ED 4  abx FD 4+  aby F9 4+  inx E1 6  iny F1 5+
sec imp 38 2
sed imp F8 2
sei imp 78 2
sta zp 85 3  zpx 95 4  abs 8D 4  abx 9D 5  aby 99 5  inx 81 6  iny 91 6
stx zp 86 3  zpy 96 4  abs 8E 4
sty zp 84 3  zpx 94 4  abs 8C 4
tax imp AA 2
tay imp A8 2
tsx imp BA 2
txa imp 8A 2
txs imp 9A 2
tya imp 98 2
"""


def _parsed() -> dict[str, dict[Mode, Operation]]:
    found: dict[str, dict[Mode, Operation]] = {}
    for line in _TABLE.strip().splitlines():
        mnemonic, *words = line.split()
        ways = zip(words[0::3], words[1::3], words[2::3], strict=True)
        found[mnemonic] = {
            _NAMES[mode]: Operation(int(opcode, 16), int(cycles.rstrip("+")), cycles.endswith("+"))
            for mode, opcode, cycles in ways
        }
    return found


OPERATIONS = _parsed()
"""By mnemonic and mode: all 151 documented instructions."""

OPPOSITES = {"bcc": "bcs", "beq": "bne", "bmi": "bpl", "bvc": "bvs"}
OPPOSITES |= {other: one for one, other in OPPOSITES.items()}
"""The branch that is taken when this one is not."""
