"""Hypothesis strategies for 6502 programs that run for ever: a body of random instructions, repeated, with handlers."""

from dataclasses import dataclass

from hypothesis import strategies as st

from .assembler import machine_code
from .instructions import MODES, OFFICIAL, ORDINARY, UNSTABLE, writes_memory

ROUTINE = 0xC000
NMI_HANDLER, IRQ_HANDLER = 0xE000, 0xE100

ALL_STABLE = [opcode for opcode in ORDINARY if opcode not in UNSTABLE]
# SED is left out for py65, whose decimal mode works
OFFICIAL_BINARY = [opcode for opcode in ORDINARY if opcode in OFFICIAL and opcode != 0xF8]

zero_page = st.integers(0x30, 0xFF)
ram = st.integers(0x0200, 0x06FF)
rom = st.integers(0x8000, 0xFE00)


@dataclass(frozen=True)
class Program:
    """The body's instructions, as bytes each."""

    body: tuple[bytes, ...]
    with_interrupts: bool = False

    def code(self) -> bytes:
        """Set-up, the body, INC of a turn counter, back to the set-up."""
        code = bytearray(b"\x78\xd8\xa2\xfd\x9a")  # SEI, CLD, LDX #$FD, TXS
        for at in range(0x20, 0x30, 2):  # eight pointers into RAM for the indirect modes
            code += bytes([0xA9, (at * 29) & 255, 0x85, at, 0xA9, 2 + (at & 3), 0x85, at + 1])
        if self.with_interrupts:
            code += bytes([0xA9, 0x00, 0x8D, 0x13, 0x40])  # a DMC length: cynes and the hardware power on differently
            code += bytes([0xA9, 0x80, 0x8D, 0x00, 0x20, 0x58])  # NMI on, CLI
        code += b"".join(self.body)
        code += bytes([0xEE, 0xF0, 0x07, 0xD0, 3, 0xEE, 0xF1, 0x07, 0x4C, 0x00, 0x80])  # INC $07F0/1, JMP $8000
        return bytes(code)

    def rom(self) -> bytes:
        image = bytearray(machine_code(self.code(), nmi=NMI_HANDLER, irq=IRQ_HANDLER))
        for at, code in (
            (ROUTINE, bytes.fromhex("48e6f0eaea6860")),  # PHA, INC $F0, NOP, NOP, PLA, RTS
            (NMI_HANDLER, bytes.fromhex("eef207 40")),  # INC $07F2, RTI
            (IRQ_HANDLER, bytes.fromhex("48eef307 2c1540 a90f 8d1040 6840")),  # INC $07F3, BIT $4015, STA $4010, RTI
        ):
            image[16 + at - 0x8000 : 16 + at - 0x8000 + len(code)] = code
        return bytes(image)


@st.composite
def instruction(draw: st.DrawFn, opcodes: list[int]) -> bytes:
    opcode = draw(st.sampled_from(opcodes))
    match MODES[opcode]:
        case "implied":
            return bytes([opcode])
        case "immediate":
            return bytes([opcode, draw(st.integers(0, 255))])
        case "zero_page" | "zero_page_x" | "zero_page_y":
            return bytes([opcode, draw(zero_page)])
        case "indexed_indirect" | "indirect_indexed":
            return bytes([opcode, draw(st.sampled_from(range(0x20, 0x30, 2)))])
        case _:
            address = draw(ram if writes_memory(opcode) else ram | rom)
            return bytes([opcode, address & 255, address >> 8])


@st.composite
def branch(draw: st.DrawFn, opcodes: list[int]) -> bytes:
    """A branch over one instruction."""
    skipped = draw(instruction(opcodes))
    return bytes([draw(st.sampled_from(range(0x10, 0x100, 0x20))), len(skipped)]) + skipped


@st.composite
def counted_loop(draw: st.DrawFn, opcodes: list[int]) -> bytes:
    """LDY #n, PHA, TYA, PHA, some instructions, PLA, TAY, PLA, DEY, BNE: loops a few times whatever is inside."""
    counter = 0x07E0
    inside = b"".join(draw(st.lists(instruction(opcodes), min_size=1, max_size=4)))
    turns = draw(st.integers(1, 9))
    head = bytes([0xA9, turns, 0x8D, counter & 255, counter >> 8])
    tail = bytes([0xCE, counter & 255, counter >> 8])
    return head + inside + tail + bytes([0xD0, (-len(inside) - len(tail) - 2) & 255])


call = st.just(bytes([0x20, ROUTINE & 255, ROUTINE >> 8]))
pushed_and_pulled = st.sampled_from([b"\x48\x68", b"\x08\x28", b"\x48\x08\x68\x68"])

# fmt: off
REGISTERS = [
    0x2000, 0x2001, 0x2002, 0x2003, 0x2005, 0x2006, 0x2007,
    0x4000, 0x4003, 0x4004, 0x4007, 0x4008, 0x400B, 0x400C, 0x400F,
    0x4010, 0x4011, 0x4012, 0x4013, 0x4015, 0x4016, 0x4017,
]
# fmt: on


@st.composite
def register_access(draw: st.DrawFn) -> bytes:
    """A read or a write of a PPU, APU or pad register, sometimes OAM DMA; what was read is kept."""
    if draw(st.integers(0, 9)) == 0:
        return bytes([0xA9, draw(st.integers(0, 7)), 0x8D, 0x14, 0x40])
    address = draw(st.sampled_from(REGISTERS))
    low, high = address & 255, address >> 8
    if draw(st.booleans()):
        return bytes([0xA9, draw(st.integers(0, 255)), 0x8D, low, high])
    # Pads are strobed before a read: after the eighth, cynes differs from the hardware
    strobe = bytes.fromhex("a9018d1640a9008d1640") if address in (0x4016, 0x4017) else b""
    read = draw(st.sampled_from((0xAD, 0xAD, 0x2C, 0x0D)))
    kept = draw(zero_page)
    return strobe + bytes([read, low, high, 0x08, 0x85, kept, 0x68, 0x85, kept ^ 1])


def cpu_programs(opcodes: list[int]) -> st.SearchStrategy[Program]:
    """Programs that stay in RAM and ROM."""
    step = instruction(opcodes) | branch(opcodes) | counted_loop(opcodes) | call | pushed_and_pulled
    return st.lists(step, min_size=1, max_size=40).map(lambda body: Program(tuple(body)))


def console_programs() -> st.SearchStrategy[Program]:
    """Programs that also use the PPU, the APU and the pads, under interrupts."""
    step = instruction(ALL_STABLE) | branch(ALL_STABLE) | counted_loop(ALL_STABLE) | register_access()
    body = st.lists(step | register_access(), min_size=1, max_size=30)
    return body.map(lambda body: Program(tuple(body), with_interrupts=True))
