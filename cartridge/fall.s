; Action 0, the falling capsule: down, then sideways, then rotation. X = seat, kept throughout.
.include "memory.inc"
.export fall, capsule_halves
.import play_effect

REPEAT_AT       = 16    ; frames a direction is held until it repeats,
REPEAT_FROM     = 10    ; and where the counter goes on
REPEAT_BLOCKED  = 15    ; so that a blocked capsule tries again in every frame

.segment "CODE"
fall:
        lda #0
        sta cells_matched,x
        jsr fall_down
        jsr move_sideways
        jmp rotate

; ---- down -------------------------------------------------------------------------------------------------------
fall_down:
        lda frame_counter
        lsr a
        bcc @gravity
        lda held
        and #15
        cmp #PAD_DOWN           ; DOWN alone, in odd frames
        beq drop
@gravity:
        lda speed_ups,x
        sta speed_index,x
        ldy speed,x
        clc
        adc speed_base,y
        tay
        inc gravity,x
        lda gravity_table,y
        cmp gravity,x
        bcs fallen
drop:
        lda #0
        sta gravity,x
        dec capsule_y,x
        jsr is_free
        bcs fallen
        inc capsule_y,x

; No lock delay: a capsule that cannot drop is part of the field at once.
        jsr capsule_halves
        jsr base_cell
        lda half_base
        sta (field),y
        lda half_other
        jsr write_other
        lda capsule_y,x
        eor #15
        sta redraw_row,x
        lda #ACTION_SETTLE
        sta action,x
        lda #0
        sta settle_step,x
        lda #EFFECT_LOCK
        jmp play_effect

; A = the second half, Y = the base cell: to the right of it, or above (outside the bottle it vanishes).
write_other:
        pha
        lda rotation,x
        lsr a
        bcs @above
        iny
        pla
        sta (field),y
        rts
@above:
        tya
        sbc #8                  ; carry is set
        tay
        pla
        bcc fallen              ; above the top row
        sta (field),y
fallen:
        rts

; ---- sideways ---------------------------------------------------------------------------------------------------
move_sideways:
        lda pressed
        and #PAD_LEFT | PAD_RIGHT
        bne @pressed
        lda held
        and #PAD_LEFT | PAD_RIGHT
        beq @done
        inc repeat_delay,x
        lda repeat_delay,x
        cmp #REPEAT_AT
        bcc @done
        lda #REPEAT_FROM
        bne @try
@pressed:
        lda #0
@try:
        sta repeat_delay,x
        lda held
        lsr a
        bcc @left
        lda rotation,x
        lsr a                   ; carry: vertical
        lda #6
        adc #0
        cmp capsule_x,x
        beq @left               ; at the wall
        inc capsule_x,x
        jsr is_free
        bcs @moved_right
        dec capsule_x,x
        lda #REPEAT_BLOCKED
        sta repeat_delay,x
        bne @left
@moved_right:
        lda #EFFECT_MOVE
        jsr play_effect
@left:
        lda held
        and #PAD_LEFT
        beq @done
        lda capsule_x,x
        beq @done
        dec capsule_x,x
        jsr is_free
        bcs @moved_left
        inc capsule_x,x
        lda #REPEAT_BLOCKED
        sta repeat_delay,x
@done:
        rts
@moved_left:
        lda #EFFECT_MOVE
        jmp play_effect

; ---- rotation: A clockwise, then B counter-clockwise ------------------------------------------------------------
rotate:
        lda pressed
        bpl @other_way
        lda #$FF
        jsr turn
@other_way:
        bit pressed
        bvs :+                  ; bit 6: B
        rts
:       lda #1

; Turns by A (+1 or -1), if there is room.
turn:
        ldy rotation,x
        sty saved_rotation
        ldy capsule_x,x
        sty saved_x
        clc
        adc rotation,x
        and #3
        sta rotation,x
        jsr is_free
        lda rotation,x
        and #1
        bne @to_vertical
        bcc @kick
        ; To horizontal, and LEFT held: one further left, if that is free.
        lda held
        and #PAD_LEFT
        beq @turned
        dec capsule_x,x
        jsr is_free
        bcs @turned
        inc capsule_x,x
        jmp @turned
@kick:
        dec capsule_x,x
        jsr is_free
        bcs @turned
        bcc @back
@to_vertical:
        bcs @turned
@back:
        lda saved_rotation
        sta rotation,x
        lda saved_x
        sta capsule_x,x
        rts
@turned:
        lda #EFFECT_ROTATE
        jmp play_effect

; ---- positions --------------------------------------------------------------------------------------------------
; Y = the base cell of the capsule.
base_cell:
        lda capsule_y,x
        eor #15
        asl a
        asl a
        asl a
        clc
        adc capsule_x,x
        tay
        rts

; Carry: both cells of the capsule are empty and inside the bottle. Cells above the bottle read as empty (the index
; wraps into the upper half of the field's page, which is all $FF).
is_free:
        lda capsule_y,x
        bmi @no
        lda rotation,x
        lsr a
        bcs @vertical
        lda capsule_x,x
        cmp #7
        bcs @no
        jsr base_cell
        lda (field),y
        iny
        and (field),y
        cmp #EMPTY
        bne @no
        rts                     ; carry is set
@vertical:
        jsr base_cell
        lda (field),y
        cmp #EMPTY
        bne @no
        tya
        sbc #8                  ; carry is set
        tay
        lda (field),y
        cmp #EMPTY
        bne @no
        rts
@no:
        clc
        rts

; half_base, half_other = the two halves as field cells.
capsule_halves:
        ldy rotation,x
        lda first_colour,x
        cpy #2
        bcs @swapped
        sta half_base
        lda second_colour,x
        jmp @types
@swapped:
        sta half_other
        lda second_colour,x
        sta half_base
        lda half_other
@types:
        ora other_types,y
        sta half_other
        lda half_base
        ora base_types,y
        sta half_base
        rts

base_types:
        .byte LEFT_HALF, BOTTOM_HALF, LEFT_HALF, BOTTOM_HALF
other_types:
        .byte RIGHT_HALF, TOP_HALF, RIGHT_HALF, TOP_HALF

; ---- gravity: a row takes the table's value plus one frames ------------------------------------------------------
speed_base:
        .byte 15, 25, 31        ; LOW, MED, HI
gravity_table:
        .repeat 26, i
        .byte 69 - 2 * i
        .endrepeat
        .byte 18, 17, 16, 15, 14, 13, 12, 11, 10, 9
        .byte 9, 8, 8, 7, 7, 6, 6
        .byte 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5
        .byte 4, 4, 4, 4, 4
        .byte 3, 3, 3, 3, 3
        .byte 2, 2, 2, 2, 2
        .byte 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
        .byte 0
.assert * - gravity_table = 81, error
