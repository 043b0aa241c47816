; Length counters: the table of 32 entries on each channel (clocked by hand through mode 1), halt, disable, reload while
; disabled; and a halt or a reload written in the very cycles of a clock.
.include "console.inc"
clock_half:
        store $C0, APUFRAME
        rts
main:
        store $0F, APUSTATUS
        store $10, $4000
        sta $4004
        sta $400C
        store $00, $4008
        store 0, $10
@entry: store $40, APUFRAME
        lda $10
        sta $4003
        sta $4007
        sta $400B
        sta $400F
        ldx #0
        stx $12
@clock: jsr clock_half
        inc $12
        lda APUSTATUS
        and #$0F
        beq @gone
        cmp #$0F
        bne @uneven
        lda $12
        bne @clock
@uneven:
        store $EE, $12
@gone:  lda $12
        jsr record
        lda $10
        clc
        adc #8
        sta $10
        bne @entry

.macro channel register, bit, halt
        store $18, register+3
        store halt, register
        jsr clock_half
        jsr clock_half
        jsr clock_half
        lda APUSTATUS                    ; halted: still there
        jsr record
        store $00, register
        jsr clock_half
        jsr clock_half
        jsr clock_half
        lda APUSTATUS
        jsr record
        store $18, register+3
        store $0F ^ bit, APUSTATUS
        lda APUSTATUS
        jsr record
        store $18, register+3            ; ignored while disabled
        store $0F, APUSTATUS
        lda APUSTATUS
        jsr record
.endmacro
        channel $4000, 1, $30
        channel $4004, 2, $30
        channel $4008, 4, $80
        channel $400C, 8, $30

        ; halt written around the clock at 14913
.macro at_the_clock value, register
        store 0, $10
:       store $40, APUFRAME
        store $10, $4000
        store $18, $4003                 ; length 2
        store $C0, APUFRAME              ; 1
        lda #$00
        sta APUFRAME
        delay 14913 - 60
        lda $10
        jsr delay_a
        store value, register
        delay 40
        lda APUSTATUS
        jsr record
        store $C0, APUFRAME
        lda APUSTATUS
        jsr record
        inc $10
        lda $10
        cmp #24
        bne :-
.endmacro
        at_the_clock $30, $4000
        at_the_clock $28, $4003          ; reload in the clock's own cycle is ignored when the counter is not 0
        jmp finished
