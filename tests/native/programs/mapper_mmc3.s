; cartridge: mapper=4, prg_size=0x20000, chr_size=0x20000, code_size=0x2000, battery=True
; MMC3: both PRG and CHR modes, all eight bank registers, mirroring, cartridge RAM.
.include "console.inc"
.macro bank register, value
        lda #(register)
        ora $10
        sta $8000
        store value, $8001
.endmacro
prg:    lda $8000
        jsr record
        lda $A000
        jsr record
        lda $C000
        jmp record
chr:    store 0, $11
@page:  bit PPUSTATUS
        lda $11
        sta PPUADDR
        store 0, PPUADDR
        lda PPUDATA
        lda PPUDATA
        jsr record
        lda $11
        clc
        adc #4
        sta $11
        cmp #$20
        bne @page
        rts
main:
        store 0, $10
@mode:  bank 0, 10
        bank 1, 21
        bank 2, 32
        bank 3, 43
        bank 4, 54
        bank 5, 65
        bank 6, 3
        bank 7, 9
        jsr prg
        jsr chr
        bank 6, $0C
        bank 7, $01
        bank 0, $7F
        jsr prg
        jsr chr
        lda $10
        clc
        adc #$40
        sta $10
        beq @mirrors
        jmp @mode
@mirrors:
        ldx #0
@mirror:
        stx $A000
        vram $2000
        store $10, PPUDATA
        vram $2400
        store $24, PPUDATA
        vram $2800
        store $28, PPUDATA
        vram $2C00
        store $2C, PPUDATA
        vram $2000
        lda PPUDATA
        lda PPUDATA
        jsr record
        vram $2400
        lda PPUDATA
        lda PPUDATA
        jsr record
        vram $2800
        lda PPUDATA
        lda PPUDATA
        jsr record
        inx
        cpx #2
        beq @ram
        jmp @mirror
@ram:
        store $80, $A001
        store $5A, $6000
        lda $6000
        jsr record
        store $A5, $7FFF
        lda $7FFF
        jsr record
        jmp finished
