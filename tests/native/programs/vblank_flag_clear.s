; When the vblank flag falls on the pre-render line: one read of $2002, one dot later each turn; then the same with NMI
; switched on for a moment, which must not interrupt once the flag is gone.
.include "console.inc"
main:
        jsr sync_vbl
        delay FRAME + 2273 - 35
        lda #0
        sta $10
@turn:  ldx $10
        lda PPUSTATUS
        sta LOG,x
        inc $10
        delay FRAME - 3 - 4 - 5 - 5 - 3 - 2 - 3
        lda $10
        cmp #60
        bne @turn

        store 0, $10
@enable:
        lda $10
        jsr sync_vbl_dots
        delay FRAME + 2273 - 65
        store $80, PPUCTRL
        nop
        nop
        store 0, PPUCTRL
        ldx $10
        lda nmi_count
        sta LOG+$80,x
        inc $10
        lda $10
        cmp #24
        bne @enable
        jmp finished
