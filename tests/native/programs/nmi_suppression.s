; A $2002 read near the start of vblank with NMI on: flag seen, interrupts taken; then writes that switch NMI off
; around the same dots.
.include "console.inc"
main:
        store 0, $10
@read:  lda $10
        and #31
        jsr sync_vbl_dots
        delay FRAME - 96
        store 0, nmi_count
        bit PPUSTATUS
        store $80, PPUCTRL
        delay 20
        lda PPUSTATUS
        nop
        nop
        nop
        ldx #0
        stx PPUCTRL
        ldx $10
        sta LOG,x
        lda nmi_count
        sta LOG+$40,x
        inc $10
        lda $10
        cmp #18
        bne @read

        store 0, $10
@off:   lda $10
        jsr sync_vbl_dots                ; NMI goes off around the rising flag
        delay FRAME - 92
        store 0, nmi_count
        store $80, PPUCTRL
        delay 18
        store 0, PPUCTRL
        nop
        nop
        nop
        ldx $10
        lda nmi_count
        sta LOG+$80,x
        lda PPUSTATUS
        sta LOG+$A0,x
        inc $10
        lda $10
        cmp #18
        bne @off

        jmp finished
