; The random generator, and the reserve of capsules drawn from it.
.include "memory.inc"
.export random_step, fill_reserve, reserve_first, reserve_second

.segment "CODE"
; A 16-bit shift register: bit 9 XOR bit 1 enters at the top. Changes A only.
random_step:
        lda random_high
        eor random_low
        and #2
        cmp #2                  ; carry = the new bit
        ror random_high
        ror random_low
        rts

; 128 capsules, from the last to the first: each number is the one before plus a random 0..15, modulo 9.
fill_reserve:
        ldx #127
        ldy #0
@capsule:
        sty scratch
        jsr random_step
        lda random_high
        and #15
        clc
        adc scratch
@modulo:
        cmp #9
        bcc @found
        sbc #9
        bcs @modulo
@found:
        sta reserve,x
        tay
        dex
        bpl @capsule
        rts

; The colours of capsule number 0-8: its first and second digit in base 3.
reserve_first:
        .byte 0, 0, 0, 1, 1, 1, 2, 2, 2
reserve_second:
        .byte 0, 1, 2, 0, 1, 2, 0, 1, 2
