"""Where cynes differs from the hardware, the documentation is the oracle (nesdev.org wiki; the pages are named)."""

import numpy as np
import pytest

from .assembler import NROM, Cartridge, assemble, machine_code
from .consoles import OurConsole

SELF = "        jmp finished\n"


def log_of(source: str, pads: tuple[int, int] = (0, 0), cartridge: Cartridge = NROM, frames: int = 12) -> list[int]:
    """What a program logged."""
    console = OurConsole(assemble('.include "console.inc"\nmain:\n' + source + SELF, cartridge))
    for _ in range(frames):
        console.step(pads)
    assert console.ram[4] == 0xA5, "the program did not finish"
    end = int(console.ram[2]) + 256 * int(console.ram[3])
    return console.ram[0x300:end].tolist()


READ_PAD_1 = "        lda PAD1\n        and #1\n        jsr record\n"


def test_pads_read_ones_after_eight_buttons() -> None:
    """Standard controller: all later reads return 1."""
    source = "        store 1, PAD1\n        store 0, PAD1\n" + 12 * READ_PAD_1
    assert log_of(source, (0b10100010, 0)) == [1, 0, 1, 0, 0, 0, 1, 0, 1, 1, 1, 1]


@pytest.mark.parametrize(("buttons", "bit"), [(0x80, 1), (0x7F, 0)])
def test_pads_repeat_button_a_while_the_strobe_is_high(buttons: int, bit: int) -> None:
    """Standard controller: while S is high the shift register is reloaded, so A is returned again and again."""
    assert log_of("        store 1, PAD1\n" + 10 * READ_PAD_1, (buttons, 0)) == [bit] * 10


def test_grey_bit_masks_palette_reads() -> None:
    """PPU registers, PPUMASK bit 0: palette entries are ANDed with $30, when read as well."""
    source = """
        vram $3F00
        store $2B, PPUDATA
        store $1C, PPUDATA
        store 1, PPUMASK
        vram $3F00
        lda PPUDATA
        and #$3F
        jsr record
        lda PPUDATA
        and #$3F
        jsr record
    """
    assert log_of(source) == [0x20, 0x10]


def test_grey_picture() -> None:
    source = '.include "console.inc"\nmain:\n        vram $3F00\n        store $2B, PPUDATA\n        vram $3F00\n'
    for mask, colour in ((0x00, 0x2B), (0x01, 0x20)):
        console = OurConsole(assemble(source + f"        store {mask}, PPUMASK\n" + SELF), draw=True)
        for _ in range(6):
            console.step()
        assert np.unique(console.colours).tolist() == [colour]


@pytest.mark.parametrize("mask", [0x20, 0x40, 0x80, 0xE0])
def test_emphasis_darkens_the_other_colours(mask: int) -> None:
    """PPUMASK bits 5-7 emphasise red, green, blue on NTSC: the emphasised channel loses less than the others."""
    source = '.include "console.inc"\nmain:\n        vram $3F00\n        store $20, PPUDATA\n        vram $3F00\n'
    console = OurConsole(assemble(source + f"        store {mask}, PPUMASK\n" + SELF), draw=True)
    for _ in range(6):
        console.step()
    red, green, blue = (int(value) for value in console.batch.frame(0)[120, 128])
    if mask == 0xE0:
        assert max(red, green, blue) < 235, "all three: everything is darker"
    else:
        assert max(zip((0x20, 0x40, 0x80), (red, green, blue), strict=True), key=lambda pair: pair[1])[0] == mask


@pytest.mark.parametrize("opcode", [0x9C, 0x9E])  # SHY $nnnn,X and SHX $nnnn,Y
@pytest.mark.parametrize(
    ("base", "index", "register", "address", "value"),
    [
        (0x0310, 0x10, 0xFF, 0x0320, 0x04),  # the register AND the high byte of the address plus one
        (0x0310, 0x10, 0x03, 0x0320, 0x00),
        (0x0500, 0x21, 0x0F, 0x0521, 0x06),
        (0x02F0, 0x20, 0xFF, 0x0310, 0x03),  # over a page end the value replaces the high byte
        (0x06F0, 0x20, 0x02, 0x0210, 0x02),
    ],
)
def test_shy_and_shx(opcode: int, base: int, index: int, register: int, address: int, value: int) -> None:
    """CPU unofficial opcodes: SHY and SHX."""
    x, y = (index, register) if opcode == 0x9C else (register, index)
    preset = bytes([0xA9, 0x77, 0x8D, address & 255, address >> 8])  # so that a stored 0 shows
    code = preset + bytes([0xA2, x, 0xA0, y, opcode, base & 255, base >> 8])
    code += bytes([0x4C, (0x8000 + len(code)) & 255, 0x80])
    console = OurConsole(machine_code(code))
    console.step()
    assert {at: int(console.ram[at]) for at in np.flatnonzero(console.ram)} == ({address: value} if value else {})


@pytest.mark.parametrize(("mapper", "size"), [(2, 0x20000), (4, 0x20000)])
def test_bank_numbers_wrap(mapper: int, size: int) -> None:
    """A bank number beyond the ROM ignores the bits the board does not have."""
    code_size = 0x4000 if mapper == 2 else 0x2000
    select = "        store {0}, high\n" if mapper == 2 else "        store 6, $8000\n        store {0}, $8001\n"
    body = "".join(
        select.format(bank) + "        lda $8000\n        jsr record\n" for bank in (2, 2 + 16, 2 + 64 + 128)
    )
    cartridge = Cartridge(mapper=mapper, prg_size=size, code_size=code_size, chr_size=0 if mapper == 2 else 0x2000)
    pages = log_of("high = $FF00\n" + body, cartridge=cartridge)
    assert pages == [4, 4, 4] if mapper == 2 else pages == [2, 2, 2]


def test_power_on_registers() -> None:
    """CPU power up state: S = $FD, I set, RAM as we define it: zero."""
    console = OurConsole(machine_code(bytes.fromhex("0885108611 8412 ba8613 68 8514 4c0b80".replace(" ", ""))))
    console.step()
    assert console.ram[0x10:0x14].tolist() == [0, 0, 0, 0xFC]
    assert console.ram[0x14] & 0xCF == 0x04
    assert not console.ram[0x20:0x1F0].any()
