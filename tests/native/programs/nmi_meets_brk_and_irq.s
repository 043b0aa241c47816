; An NMI that arrives while BRK or an IRQ is being taken hijacks its vector: the B flag stays on the stack, the other
; handler is lost (BRK) or comes later (IRQ). One cycle at a time over both sequences.
CUSTOM_NMI = 1
CUSTOM_IRQ = 1
.include "console.inc"
nmi:    pha
        txa
        pha
        tsx
        lda $0103,x
        sta $20
        lda $0104,x
        sta $21
        inc nmi_count
        lda irq_count                    ; who came first
        sta $22
        pla
        tax
        pla
        rti
irq:    pha
        txa
        pha
        tsx
        lda $0103,x
        sta $23
        lda $0104,x
        sta $24
        inc irq_count
        bit APUSTATUS
        pla
        tax
        pla
        rti
.macro log_both
        ldx #0
:       lda $20,x
        jsr record
        inx
        cpx #5
        bne :-
        lda nmi_count
        jsr record
        lda irq_count
        jsr record
        ldx #4
        lda #0
        sta nmi_count
        sta irq_count
:       sta $20,x
        dex
        bpl :-
.endmacro
main:
        store 0, $10
@brk:   jsr sync_vbl
        delay FRAME - 76
        store $80, PPUCTRL
        lda $10
        jsr delay_a
        sec
        nop
        brk
        .byte 0
        nop
        nop
        lda #0
        sta PPUCTRL
        log_both
        inc $10
        lda $10
        cmp #20
        beq @irq_part
        jmp @brk
@irq_part:
        store 0, $10
@irq:   jsr sync_vbl
        store $40, APUFRAME
        store 0, APUFRAME
        delay 2000
        jsr sync_vbl                     ; an interrupt is pending by now
        delay FRAME - 82
        store $80, PPUCTRL
        lda $10
        jsr delay_a
        sec
        cli
        nop
        nop
        nop
        nop
        nop
        sei
        lda #0
        sta PPUCTRL
        log_both
        inc $10
        lda $10
        cmp #20
        beq @end
        jmp @irq
@end:   jmp finished
