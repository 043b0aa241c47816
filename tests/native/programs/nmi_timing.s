; Which instruction the NMI interrupts: the handler logs the return address, flags and stack pointer, five dots later
; each turn. Instructions of 2 to 7 cycles lie around the edge, and a taken branch.
CUSTOM_NMI = 1
.include "console.inc"
nmi:    pha                              ; the handler takes a fixed number of cycles
        txa
        pha
        tsx
        ldy $10
        lda $0103,x                      ; flags
        sta LOG,y
        lda $0104,x                      ; return address, low
        sta LOG+$100,y
        txa
        sta LOG+$200,y
        inc nmi_count
        pla
        tax
        pla
        rti
main:
        store 0, $10
@turn:  lda $10                          ; 5 dots a turn: 80 cycles in all three phases
        asl a
        asl a
        adc $10
        jsr sync_vbl_dots
        delay FRAME - 200
        bit PPUSTATUS
        store $80, PPUCTRL
        ldx #0
        ldy #0
        delay 40
        nop
        lda $20
        lda $0120
        lda ($30),y
        inc $20
        inc $0120
        inc $0120,x
        lda ($30,x)
        clc
        bcc @near
        nop
@near:  pha
        pla
        php
        plp
        jsr @sub
        nop
        jmp @over
@sub:   rts
@over:  .byte $03,$32                    ; SLO ($32,x): 8 cycles
        nop
        nop
        nop
        nop
        nop
        store 0, PPUCTRL
        ldx $10
        lda nmi_count
        sta LOG+$300,x
        inc $10
        lda $10
        cmp #48
        beq @end
        jmp @turn
@end:   jmp finished
