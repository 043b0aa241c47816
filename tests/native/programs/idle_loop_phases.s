; A waiting loop entered at every phase relative to the interrupt that ends it: the interrupt must find the flags and
; the place that turn after turn would have given, also between the load and the comparison.
CUSTOM_NMI = 1
.include "console.inc"
flag = $40
nmi:    pha
        txa
        pha
        tsx
        lda $0103,x
        sta $48
        lda $0104,x
        sta $49
        inc flag
        pla
        tax
        pla
        rti
.macro phases loop_
        store 0, $10
:       bit PPUSTATUS
        store $80, PPUCTRL
        store 0, flag
:       lda flag
        beq :-
        delay 4000                       ; the vblank flag has fallen: nothing else happens before the next
        lda $10
        jsr delay_a
        store 0, flag
        clc
        jsr loop_
        store 0, PPUCTRL
        lda $48
        jsr record
        lda $49
        jsr record
        inc $10
        lda $10
        cmp #26
        bne :--
.endmacro
with_compare:
        lda flag
        cmp #0
        beq with_compare
        rts
with_zero_page:
        lda flag
        cmp $42
        beq with_zero_page
        rts
with_x: ldx flag
        cpx #0
        beq with_x
        rts
with_absolute:
        lda $0040
        beq with_absolute
        rts
with_mask:
        lda flag
        and #$0F
        beq with_mask
        rts
main:
        phases with_compare
        phases with_zero_page
        phases with_x
        phases with_absolute
        phases with_mask
        jmp finished
