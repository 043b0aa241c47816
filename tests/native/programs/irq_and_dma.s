; A frame interrupt that arrives before, during and after OAM DMA: which instruction it interrupts.
CUSTOM_IRQ = 1
.include "console.inc"
irq:    pha
        txa
        pha
        tsx
        lda $0104,x
        sta $21
        inc irq_count
        bit APUSTATUS
        pla
        tax
        pla
        rti
main:
        store 0, $10
@turn:  sei
        store $40, APUFRAME
        store 0, APUFRAME
        delay 29829 - 530 - 70
        lda $10
        cmp #20
        bcc @early
        delay 505
        lda $10
        bne @go
@early: delay 40
@go:    lda $10
        jsr delay_a
        lda #7
        cli
        nop
        nop
        sta OAMDMA
        nop
        nop
        nop
        nop
        nop
        nop
        sei
        lda $21
        jsr record
        lda irq_count
        jsr record
        store 0, irq_count
        inc $10
        lda $10
        cmp #50
        bne @turn
        jmp finished
