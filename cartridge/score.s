; Points (one player): 100 x (speed + 1) for the first virus of a capsule, twice as much for each further one, up to
; 32 times as much. The six digits at `score` count tens.
.include "memory.inc"
.export add_virus_score, keep_top_score

DIGITS = 6

.segment "CODE"
; X = seat 1, kept.
add_virus_score:
        ldy virus_streak,x
        cpy #5
        bcc :+
        ldy #5
:       tya
        ldy speed,x
        clc
        adc streak_row,y
        tay
        lda virus_streak,x
        cmp #255
        beq :+
        inc virus_streak,x
:       lda points_ones,y       ; they count from the second digit on
        clc
        adc score + 1
        jsr decimal
        sta score + 1
        lda points_tens,y
        adc score + 2
        jsr decimal
        sta score + 2
        ldy #3
@carry:
        bcc @done
        lda score,y
        adc #0
        jsr decimal
        sta score,y
        bcc @done
        iny
        cpy #DIGITS
        sec
        bne @carry
        lda #9                  ; 999999 is the end
        ldy #DIGITS - 1
@full:
        sta score,y
        dey
        bpl @full
@done:
        rts

; A to one digit, with carry.
decimal:
        cmp #10
        bcc :+
        sbc #10
        sec
:       rts

; (speed + 1) x 1, 2, 4, 8, 16, 32
streak_row:
        .byte 0, 6, 12
points_ones:
        .byte 1, 2, 4, 8, 6, 2
        .byte 2, 4, 8, 6, 2, 4
        .byte 3, 6, 2, 4, 8, 6
points_tens:
        .byte 0, 0, 0, 0, 1, 3
        .byte 0, 0, 0, 1, 3, 6
        .byte 0, 0, 1, 2, 4, 9

; The high score follows at the end of a game.
keep_top_score:
        lda attract
        bne @done
        ldy #DIGITS - 1
@compare:
        lda score,y
        cmp top_score,y
        bcc @done
        bne @better
        dey
        bpl @compare
@done:
        rts
@better:
        ldy #DIGITS - 1
@copy:
        lda score,y
        sta top_score,y
        dey
        bpl @copy
        rts
