; Mode 8: one virus per seat and frame appears, then a breath of 129 frames.
.include "memory.inc"
.export virus_frame
.import random_step, select_field

BREATH = 129

.segment "CODE"
virus_frame:
        lda viruses_to_place + SEAT_1
        bne @place
        lda players
        lsr a
        bcs @breathe            ; one player: only seat 1 counts
        lda viruses_to_place + SEAT_2
        bne @place
@breathe:
        lda wait_counter
        bne @count
        lda #BREATH
        sta wait_counter
        rts
@count:
        dec wait_counter
        bne @done
        lda #MODE_PLAY
        sta mode
@done:
        rts

@place:
        ldx #SEAT_1
        lda viruses_to_place,x
        beq @same_for_second
        jsr place_virus
        bcc @same_for_second    ; no place found in this frame
        ldx candidate_colour
        inc germ_counts,x
        lda level + SEAT_1
        cmp level + SEAT_2
        bne @second
        ldy candidate
        lda field_1,y
        sta field_2,y
@same_for_second:
        ; Equal levels: seat 2 gets the same virus, and the same numbers.
        lda level + SEAT_1
        cmp level + SEAT_2
        bne @second
        lda viruses + SEAT_1
        sta viruses + SEAT_2
        lda viruses_to_place + SEAT_1
        sta viruses_to_place + SEAT_2
        lda redraw_row + SEAT_1
        sta redraw_row + SEAT_2
        rts
@second:
        lda players
        lsr a
        bcs @done
        ldx #SEAT_2
        lda viruses_to_place,x
        beq @done
        ; falls through: an attempt for seat 2

; One attempt to place a virus for seat X. Carry: placed (candidate, candidate_colour), or not in this frame.
place_virus:
        stx attempt_seat
        jsr select_field
        jsr virus_height_limit
@draw:
        jsr random_step
        lda random_high
        and #15
        cmp height_limit
        beq :+
        bcs @draw
:       eor #15                 ; row from the top
        asl a
        asl a
        asl a
        sta candidate
        lda random_low
        and #7
        ora candidate
        sta candidate
        lda viruses_to_place,x
        and #3
        cmp #3
        bne @wanted
        jsr random_step
        lda random_low
        and #15
        tay
        lda any_colour,y
@wanted:
        sta candidate_colour
@cell:
        ldy candidate
        lda (field),y
        cmp #EMPTY
        bne @next_cell
        jsr look_around
        lda near_colours
        cmp #7
        bne @choose
@next_cell:
        inc candidate
        bpl @cell
        clc                     ; past the last cell
        rts

@choose:
        ldy candidate_colour
@colour:
        lda colour_bits,y
        and near_colours
        beq @put
        dey
        bpl @colour
        ldy #2
        bne @colour
@put:
        sty candidate_colour
        tya
        ora #VIRUS
        ldy candidate
        sta (field),y
        ldx attempt_seat
        dec viruses_to_place,x
        tya
        lsr a
        lsr a
        lsr a
        sta redraw_row,x
        lda viruses,x           ; BCD + 1
        clc
        adc #1
        sta viruses,x
        and #15
        cmp #10
        bcc @placed
        lda viruses,x
        adc #5                  ; and the carry: 6
        sta viruses,x
@placed:
        sec
        rts

; The colours exactly two cells above, below, left and right of the candidate, as bits.
look_around:
        lda #0
        sta near_colours
        lda candidate
        sec
        sbc #16
        jsr @note               ; above the bottle all cells read as empty
        lda candidate
        clc
        adc #16
        jsr @note
        lda candidate
        and #7
        cmp #2
        bcc @right
        lda candidate
        sbc #2
        jsr @note
@right:
        lda candidate
        and #7
        cmp #6
        bcs @seen
        lda candidate
        adc #2
        jsr @note
@seen:
        rts
@note:
        tay
        lda (field),y
        cmp #EMPTY
        beq @seen
        and #3
        tay
        lda colour_bits,y
        ora near_colours
        sta near_colours
        rts

; Viruses stand no higher than row 9, at high levels 10 to 12 (0 = bottom).
virus_height_limit:
        lda #9
        sta height_limit
        lda level,x
        cmp #15
        bcc @done
        inc height_limit
        cmp #17
        bcc @done
        inc height_limit
        cmp #19
        bcc @done
        inc height_limit
@done:
        rts

colour_bits:
        .byte 1, 2, 4, 0
any_colour:
        .byte 0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 1
