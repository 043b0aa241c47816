"""Every opcode but JAM, one at a time: results, flags, memory and cycles, against cynes.

A ROM repeats the instruction under several register, flag and operand settings for two frames; a turn takes well under
a thousand cycles, so one wrong cycle shifts what the last frame caught by hundreds.
"""

import random

import pytest

from .assembler import machine_code
from .consoles import Comparison
from .instructions import MODES, ORDINARY, UNSTABLE, operand_bytes

RESULTS = 0x0500  # five bytes for each setting
TURNS = 0x04F0
POINTERS = {0x20: 0x0300, 0x22: 0x03F0, 0x24: 0x0380, 0x26: 0x80F0}  # zero page words
SETTINGS = 12


def set_up() -> bytes:
    """Pointers in zero page and a pattern in the pages the instruction works on."""
    code = bytes.fromhex("78d8")  # SEI, CLD
    for at, target in POINTERS.items():
        code += bytes([0xA9, target & 255, 0x85, at, 0xA9, target >> 8, 0x85, at + 1])
    # LDX #0; loop: TXA, EOR #$5A, STA $0300,X, STA $0400,X, INX, BNE loop
    code += bytes.fromhex("a2008a495a9d00039d0004e8d0f4")
    return code


def operands(opcode: int, chance: random.Random) -> bytes:
    match MODES[opcode]:
        case "implied":
            return b""
        case "immediate":
            return bytes([chance.randrange(256)])
        case "zero_page" | "zero_page_x" | "zero_page_y":
            return bytes([chance.randrange(0x40, 0xE0)])
        case "indexed_indirect":
            return bytes([chance.choice((0x20, 0x22, 0x24, 0xF0))])
        case "indirect_indexed":
            return bytes([chance.choice((0x20, 0x22, 0x24, 0x26))])
        case _:
            return bytes([chance.randrange(256), chance.choice((0x03, 0x03, 0x0B, 0x80))])


def program(opcode: int) -> bytes:
    chance = random.Random(opcode)
    code = bytearray(set_up())
    turn = 0x8000 + len(code)
    for setting in range(SETTINGS):
        a, y, flags = chance.randrange(256), chance.randrange(256), chance.randrange(256) & ~0x0C | 4
        x = chance.choice((0, 2, 4, chance.randrange(256)))
        code += bytes([0xA2, 0xFD, 0x9A])  # LDX #$FD, TXS
        code += bytes([0xA2, x, 0xA0, y, 0xA9, flags, 0x48, 0xA9, a, 0x28])  # LDX, LDY, LDA, PHA, LDA, PLP
        code += bytes([opcode, *operands(opcode, chance)])
        at = RESULTS + 5 * setting
        code += bytes([0x08])  # PHP
        for store in (0x8D, 0x8E, 0x8C):  # STA, STX, STY
            code += bytes([store, at & 255, at >> 8])
            at += 1
        code += bytes([0xBA, 0x8E, at & 255, at >> 8])  # TSX, STX
        code += bytes([0x68, 0x8D, (at + 1) & 255, (at + 1) >> 8])  # PLA, STA: the flags
    code += bytes([0xEE, TURNS & 255, TURNS >> 8, 0xD0, 3, 0xEE, (TURNS + 1) & 255, (TURNS + 1) >> 8])
    code += bytes([0x4C, turn & 255, turn >> 8])
    return machine_code(bytes(code))


@pytest.mark.parametrize("row", range(16))
def test_opcodes(row: int) -> None:
    for opcode in ORDINARY:
        if opcode >> 4 == row and opcode not in UNSTABLE:
            try:
                for _ in Comparison(program(opcode)).frames(2):
                    pass
            except AssertionError as error:
                raise AssertionError(f"opcode {opcode:02X} ({operand_bytes(opcode)} operand bytes): {error}") from None
