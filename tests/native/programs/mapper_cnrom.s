; cartridge: mapper=3, chr_size=0x8000
; CNROM: 8 KB CHR banks.
.include "console.inc"
values: .byte 0, 1, 2, 3, 4, 7
main:
        ldx #0
@bank:  lda values,x
        sta values,x
        vram $0400
        lda PPUDATA
        lda PPUDATA
        jsr record
        lda PPUDATA
        jsr record
        vram $1C00
        lda PPUDATA
        lda PPUDATA
        jsr record
        inx
        cpx #6
        bne @bank
        jmp finished
