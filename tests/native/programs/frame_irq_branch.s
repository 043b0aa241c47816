; A taken branch that stays in its page looks for interrupts before its last cycle only: the next instruction runs
; first.
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
.macro sweep name
        store 0, $10
:       sei
        store $40, APUFRAME
        store 0, APUFRAME
        delay 29829 - 60
        lda $10
        jsr delay_a
        ldx #0
        clc
        cli
        jmp name
.ident(.concat(.string(name), "_back")):
        sei
        lda $21
        jsr record
        lda irq_count
        jsr record
        store 0, irq_count
        store $40, APUFRAME
        inc $10
        lda $10
        cmp #24
        bne :-
.endmacro
main:
        sweep near
        sweep far
        sweep not_taken
        sweep jumps
        jmp finished
.align 256
near:   nop
        bcc :+
:       nop
        bcc :+
:       lda $0100
        nop
        nop
        jmp near_back
not_taken:
        nop
        bcs :+
:       nop
        bcs :+
:       lda $0100
        nop
        nop
        jmp not_taken_back
jumps:  jsr :+
        nop
        nop
        jmp jumps_back
:       rts
.align 256
        .res 253
far:    nop
        bcc :+                           ; its target lies in the next page
:       nop
        nop
        bcc :+
:       nop
        nop
        jmp far_back
