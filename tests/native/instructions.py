"""The 6502's 256 opcodes by addressing mode, which the opcode's low five bits decide but for a few."""

from py65.devices.mpu6502 import MPU

# fmt: off
MODE_OF_COLUMN = [
    "immediate", "indexed_indirect", "immediate", "indexed_indirect", *["zero_page"] * 4,
    "implied", "immediate", "implied", "immediate", *["absolute"] * 4,
    "branch", "indirect_indexed", "jam", "indirect_indexed", *["zero_page_x"] * 4,
    "implied", "absolute_y", "implied", "absolute_y", *["absolute_x"] * 4,
]
# fmt: on
EXCEPTIONS = {
    **dict.fromkeys((0x00, 0x20, 0x40, 0x60, 0x4C, 0x6C), "flow"),
    **dict.fromkeys((0x02, 0x22, 0x42, 0x62), "jam"),
    **dict.fromkeys((0x96, 0x97, 0xB6, 0xB7), "zero_page_y"),
    **dict.fromkeys((0x9E, 0x9F, 0xBE, 0xBF), "absolute_y"),
}
MODES = [EXCEPTIONS.get(opcode, MODE_OF_COLUMN[opcode & 0x1F]) for opcode in range(256)]

OPERAND_BYTES = {"implied": 0, "absolute": 2, "absolute_x": 2, "absolute_y": 2}  # all others: 1

OFFICIAL = [opcode for opcode, (name, _) in enumerate(MPU.disassemble) if name != "???"]

# Not compared with cynes. The results of XAA, SHA (two), TAS and LAS differ between chips and with temperature; cynes
# stores SHY and SHX into the wrong page when no page is crossed (test_documented_behaviour.py has those two).
UNSTABLE = (0x8B, 0x93, 0x9F, 0x9B, 0xBB, 0x9C, 0x9E)

ORDINARY = [opcode for opcode in range(256) if MODES[opcode] not in ("flow", "jam", "branch")]


def operand_bytes(opcode: int) -> int:
    return OPERAND_BYTES.get(MODES[opcode], 1)


def writes_memory(opcode: int) -> bool:
    """Stores, and read-modify-write instructions: columns 6, 7, E, F, and 3, B of the unofficial ones."""
    if MODES[opcode] in ("implied", "immediate", "branch", "flow", "jam"):
        return False
    if 0x80 <= opcode < 0xA0:
        return True
    if 0xA0 <= opcode < 0xC0:
        return False
    return opcode & 7 in (6, 7) or opcode & 3 == 3
