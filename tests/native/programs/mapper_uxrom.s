; cartridge: mapper=2, prg_size=0x20000, chr_size=0, code_size=0x4000, mirroring="vertical"
; UxROM: 16 KB banks at $8000, the last one fixed at $C000, CHR RAM. Written where ROM holds the same value.
.include "console.inc"
values: .byte 0, 1, 2, 3, 4, 5, 6, 7
main:
        lda $8000
        jsr record
        ldx #0
@bank:  lda values,x
        sta values,x
        lda $8000
        jsr record
        lda $A123
        jsr record
        lda $BFFF
        jsr record
        inx
        cpx #8
        bne @bank
        vram $0123
        store $77, PPUDATA
        store $88, PPUDATA
        vram $0123
        lda PPUDATA
        lda PPUDATA
        jsr record
        lda PPUDATA
        jsr record
        ldx values+2                     ; switching from inside a loop that reads
        stx values+2
        ldy #0
@sum:   clc
        adc $8000,y
        iny
        bne @sum
        jsr record
        jmp finished
