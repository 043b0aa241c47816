; Lines of four or more cells of one colour: rows from top to bottom, columns from left to right. X = seat.
.include "memory.inc"
.export match_rows, match_columns
.import add_virus_score, play_effect

.segment "CODE"
match_rows:
        lda #1
        sta line_stride
        ldy #0
@row:
        sty line_start
        tya
        ora #7
        sta row_end             ; the row's last cell
@start:
        lda (field),y           ; Y = line_start
        cmp #GONE
        bcs @skip
        and #3
        sta line_colour
@extend:
        cpy row_end
        beq @run_to_wall
        iny
        lda (field),y
        cmp #GONE
        bcs @run_ended
        and #3
        cmp line_colour
        beq @extend
@run_ended:
        tya                     ; Y = the first cell behind the run
        sec
        sbc line_start
        cmp #4
        bcc :+
        jsr take_line
:       sty line_start
        jmp @start
@skip:
        cpy row_end
        beq @next_row
        iny
        sty line_start
        bne @start
@run_to_wall:
        iny
        tya
        sec
        sbc line_start
        cmp #4
        bcc :+
        jsr take_line
:       dey
@next_row:
        iny
        bpl @row
        rts

match_columns:
        lda #8
        sta line_stride
        ldy #0
@column:
        sty line_start
@start:
        lda (field),y
        cmp #GONE
        bcs @skip
        and #3
        sta line_colour
        lda #0
        sta line_length
@extend:
        inc line_length
        tya
        clc
        adc #8
        tay
        bmi @run_ended          ; below the floor
        lda (field),y
        cmp #GONE
        bcs @run_ended
        and #3
        cmp line_colour
        beq @extend
@run_ended:
        lda line_length
        cmp #4
        bcc :+
        jsr take_line
:       sty line_start
        tya
        bpl @start
        bmi @next_column
@skip:
        tya
        clc
        adc #8
        tay
        sty line_start
        bpl @start
@next_column:
        iny                     ; 128 + column
        tya
        and #7
        tay
        bne @column
        rts

; A line of A cells of line_colour from line_start on: the books, then its cells become matched ones. Keeps X and Y.
take_line:
        sta line_length
        tya
        pha
        inc lines_matched,x
        inc combo,x
        lda combo,x
        beq @colour_kept
        cmp #5
        bcs @colour_kept
        stx scratch             ; the first four lines of a combo give their colours to the attack
        clc
        adc scratch
        tay
        lda line_colour
        sta attack_colours - 1,y
@colour_kept:
        lda line_length
        sec
        sbc #1
        sta last_length,x
        lda cells_matched,x
        clc
        adc line_length
        sta cells_matched,x
        lda line_start
        tay
        lsr a
        lsr a
        lsr a
        sta last_match_row,x
        lda #EFFECT_MATCH
        sta line_effect
@cell:
        lda (field),y
        cmp #VIRUS
        bcc @matched
        sty line_cell
        jsr take_virus
        ldy line_cell
@matched:
        lda line_colour
        ora #MATCHED
        sta (field),y
        tya
        clc
        adc line_stride
        tay
        dec line_length
        bne @cell
        lda line_effect
        jsr play_effect
        pla
        tay
        rts

take_virus:
        lda #15
        sta redraw_row,x
        lda viruses,x           ; BCD - 1
        sec
        sbc #1
        sta viruses,x
        and #15
        cmp #10
        bcc :+
        lda viruses,x
        sbc #6
        sta viruses,x
:       lda viruses,x
        bne :+
        inc wins,x
:       cpx #SEAT_1
        bne @score
        ldy line_colour         ; the big germ suffers
        lda #0
        sta germ_hurt,y
        lda germ_counts,y
        beq @score
        sec
        sbc #1
        sta germ_counts,y
@score:
        lda #EFFECT_VIRUS
        sta line_effect
        lda players
        lsr a
        bcc @done               ; scores count only alone
        jmp add_virus_score
@done:
        rts
