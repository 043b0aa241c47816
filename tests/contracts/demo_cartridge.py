"""A small game for contract tests: what it does depends on both pads and on everything that happened before.

Each frame it mixes the pads into a 16-bit state, scrolls, moves 64 sprites, writes to cartridge RAM and (where the
cartridge has it) CHR RAM, so that a state that misses any of them is found out.
"""

from ..native.assembler import Cartridge, assemble

SOURCE = """
CUSTOM_NMI = 1
.include "console.inc"
mix     = $20                            ; 16 bits, and its history at $0300
steps   = $22
nmi:    pha
        txa
        pha
        store 0, OAMADDR
        store 2, OAMDMA
        bit PPUSTATUS
        lda mix                          ; some VRAM: a tile of the pattern table, a name table cell
        and #$0F
        sta PPUADDR
        lda mix+1
        sta PPUADDR
        lda mix
        sta PPUDATA
        lda mix
        and #$03
        ora #$20
        sta PPUADDR
        lda mix+1
        sta PPUADDR
        lda steps
        sta PPUDATA
        store 0, PPUADDR
        sta PPUADDR
        lda mix
        sta PPUSCROLL
        lda #0
        sta PPUSCROLL
        store $90, PPUCTRL
        inc $23
        pla
        tax
        pla
        rti
read_pads:
        store 1, PAD1
        store 0, PAD1
        ldx #8
@bit:   lda PAD1
        lsr a
        rol $24
        lda PAD2
        lsr a
        rol $25
        dex
        bne @bit
        rts
main:
        lda #<some_palette
        ldx #>some_palette
        jsr load_palette
        store $35, mix
        store $A1, mix+1
        vram $0000                       ; CHR RAM, if it is RAM
        ldx #0
        ldy #32
@tiles: txa
        eor $30
        sta PPUDATA
        inx
        bne @tiles
        inc $30
        dey
        bne @tiles
        lda #$20
        ldx #5
        jsr fill_name_table
        lda #$28
        ldx #9
        jsr fill_name_table
        store $90, PPUCTRL
        store $1E, PPUMASK
@frame: store 0, $23
@wait:  lda $23
        beq @wait
        jsr read_pads
        lda mix
        asl a
        rol mix+1
        bcc @plain
        eor #$2D
@plain: eor $24
        sta mix
        lda mix+1
        adc $25
        sta mix+1
        ldx steps
        lda mix
        sta $0300,x
        sta $6000,x
        lda mix+1
        sta $0400,x
        ldx #0
@sprites:
        lda $0200,x
        clc
        adc mix
        sta $0200,x
        inx
        bne @sprites
        inc steps
        jmp @frame
"""

NROM = assemble(SOURCE)
MMC1_WITH_RAM = assemble(
    SOURCE,
    Cartridge(mapper=1, prg_size=0x20000, chr_size=0, code_size=0x4000, program_in_every_bank=True, battery=True),
)
CARTRIDGES = {"nrom": NROM, "mmc1-ram": MMC1_WITH_RAM}
