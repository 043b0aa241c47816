; When the frame interrupt reaches the CPU: which instruction it interrupts, the I flag's delay in CLI, SEI and PLP (one
; instruction) but not RTI, and taken branches that hide it for one more.
CUSTOM_IRQ = 1
.include "console.inc"
irq:    pha
        txa
        pha
        tsx
        lda $0103,x
        sta $20                          ; flags
        lda $0104,x
        sta $21                          ; return address
        inc irq_count
        bit APUSTATUS
        pla
        tax
        pla
        rti
.macro log_irq
        lda $20
        jsr record
        lda $21
        jsr record
        lda irq_count
        jsr record
        store 0, $20
        sta $21
        sta irq_count
.endmacro
pending:                                 ; leaves a frame interrupt pending
        sei
        store 0, APUFRAME
        delay 29850
        rts
.macro sweep code
        store 0, $10
:       sei
        store $40, APUFRAME
        store 0, APUFRAME
        delay 29829 - 64
        lda $10
        jsr delay_a
        ldx #0
        clc
        cli
        nop
        nop
        code
        nop
        nop
        nop
        nop
        nop
        nop
        sei
        log_irq
        store $40, APUFRAME
        inc $10
        lda $10
        cmp #26
        bne :-
.endmacro
main:
        jsr pending
        cli
        nop
        nop
        log_irq
        jsr pending
        cli
        sei                              ; the interrupt comes after this one, with I set on the stack
        nop
        log_irq
        jsr pending
        lda #0
        pha
        plp
        nop
        nop
        log_irq
        sei
        jsr pending
        lda #>@after_rti
        pha
        lda #<@after_rti
        pha
        lda #0
        pha
        rti                              ; at once
@after_rti:
        nop
        nop
        log_irq
        jsr pending
        lda #$04
        pha
        lda #0
        pha
        plp
        plp
        nop
        log_irq
        sei
        sweep {inc $30,x}
        sweep {bcc *+2}
        sweep {bcs *+2}
        sweep {lda $30FF,x}
        jmp finished
