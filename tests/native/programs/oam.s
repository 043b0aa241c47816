; OAM through $2003/$2004 and DMA: write and read back (attribute bits 2-4 do not exist), increments, DMA from an odd
; start address and from odd pages, reads with the picture on, and what rendering does to OAMADDR.
.include "console.inc"
.macro dump first, count
        .local @byte
        ldx #first
@byte:  stx OAMADDR
        lda OAMDATA
        jsr record
        inx
        cpx #<(first + count)
        bne @byte
.endmacro
main:
        store 0, OAMADDR
        ldx #0
@fill:  txa
        eor #$FF
        sta OAMDATA
        inx
        bne @fill
        dump 0, 24
        store $0A, OAMADDR               ; reads do not increment
        lda OAMDATA
        jsr record
        lda OAMDATA
        jsr record
        ldx #0
@page:  txa
        sta $0200,x
        inx
        bne @page
        store 5, OAMADDR                 ; DMA starts at OAMADDR and wraps
        store 2, OAMDMA
        lda OAMDATA
        jsr record
        dump $FC, 4
        dump 0, 12
        store 0, OAMADDR
        store $C0, OAMDMA                ; from ROM
        dump 0, 8
        store $20, OAMDMA                ; from the PPU registers: open bus, and $2002/$2004/$2007 are really read
        dump 0, 16
        store $40, OAMDMA                ; from the APU page
        dump 0, 16
        store 0, OAMADDR
        store 2, OAMDMA
        bit PPUSTATUS
@vblank:
        bit PPUSTATUS
        bpl @vblank
        store $30, OAMADDR
        store $18, PPUMASK
        delay 2273 + 114 * 20            ; on line 20, sprites are being looked at
        ldx #0
@during:
        lda OAMDATA
        sta LOG+$100,x
        inx
        bne @during
        ldx #0
@again: lda OAMDATA
        sta LOG+$200,x
        inx
        cpx #100
        bne @again
@next_vblank:
        bit PPUSTATUS
        bpl @next_vblank
        lda OAMDATA                      ; OAMADDR is 0 after dots 257-320 of a rendered line
        sta LOG+$2F1
        store 0, PPUMASK
        ldx #0
@after: stx OAMADDR
        lda OAMDATA
        sta LOG+$300,x
        inx
        bne @after
        jmp finished
