; OAM DMA takes 513 or 514 cycles; a DMC read inside it costs 2 more, 1 or 3 at its very end. For each delay between the
; two the sequence runs 24 times without resynchronising, so that one wrong cycle grows; then polls until vblank.
.include "console.inc"
.segment "SAMPLES"
sample: .res 64, $AA
.segment "CODE"
main:
        store <((sample - $C000) / 64), $4012
        store $4F, $4010                 ; looped: a read every 432 cycles
        store 0, $4013
        store 0, $10
@turn:  bit PPUSTATUS
@wait:  bit PPUSTATUS
        bpl @wait
        store 24, $11
@again: store $10, APUSTATUS
        lda $10
        jsr delay_a
        store 7, OAMDMA
        delay 300
        dec $11
        bne @again
        ldx #0
@poll:  inx
        bne @same
        inc $12
@same:  bit PPUSTATUS
        bpl @poll
        txa
        jsr record
        lda $12
        jsr record
        store 0, $12
        inc $10
        inc $10
        inc $10
        lda $10
        cmp #216
        bcc @turn
        ; back to back
        store 0, $10
@free:  store 7, OAMDMA
        inc $13
        lda $13
        and #1
        beq @even
        nop
@even:  inc $14
        bit PPUSTATUS
        bpl @free
        lda $14
        jsr record
        inc $10
        lda $10
        cmp #20
        bne @free
        jmp finished
