; Action 1: after a lock (or an attack) everything loose falls, lines of four vanish, and so on until nothing changes.
; One step per frame. X = seat.
.include "memory.inc"
.export settle
.import match_rows, match_columns

.segment "CODE"
settle:
        ldy settle_step,x
        cpy #STEP_COUNT
        bcs @nothing
        lda steps_high,y
        pha
        lda steps_low,y
        pha
@nothing:
        rts

.define STEPS_0_TO_3 begin - 1, next_step - 1, next_step - 1, drop_pass - 1
.define STEPS_4_TO_8 begin_matching - 1, rows - 1, columns - 1, update - 1, finish - 1
steps_low:
        .lobytes STEPS_0_TO_3
        .lobytes STEPS_4_TO_8
STEP_COUNT = * - steps_low
steps_high:
        .hibytes STEPS_0_TO_3
        .hibytes STEPS_4_TO_8

begin:
        lda #0
        sta virus_streak,x
next_step:
        inc settle_step,x
        rts

begin_matching:
        lda #0
        sta lines_matched,x
        beq next_step

rows:
        inc settle_step,x
        jmp match_rows
columns:
        inc settle_step,x
        jmp match_columns

finish:
        lda #0
        sta settle_step,x
        lda #ACTION_ATTACK
        sta action,x
waiting:
        rts

; ---- step 3: one row down for everything that can fall, once the screen has caught up ----------------------------
drop_pass:
        lda redraw_row,x
        cmp #$FF
        bne waiting
        lda #15
        sta redraw_row,x
        lda #0
        sta moved
        ; Pointers to the cells above, left, and above left of an index.
        ldy field + 1
        dey
        sty above + 1
        sty left + 1
        sty above_left + 1
        lda #$F8
        sta above
        lda #$FF
        sta left
        lda #$F7
        sta above_left
        ldy #127
@cell:
        lda (field),y
        cmp #GONE
        bcc @next
        lda (above),y
        cmp #SINGLE + 3
        bcs @empty              ; a virus or nothing
        cmp #SINGLE
        bcs @fall
        cmp #RIGHT_HALF
        bcs @pair
        cmp #LEFT_HALF
        bcs @empty              ; moves together with its right half
@fall:
        sta (field),y
        lda #EMPTY
        sta (above),y
        inc moved
@next:
        dey
        cpy #8
        bcs @cell
        bcc @top_row
@pair:
        lda (left),y
        cmp #GONE
        bcc @empty
        lda (above_left),y
        sta (left),y
        lda (above),y
        sta (field),y
        lda #EMPTY
        sta (above),y
        sta (above_left),y
        inc moved
        dey                     ; the left cell is done, too
        jmp @next
@empty:
        lda #EMPTY
        sta (field),y
        dey
        cpy #8
        bcs @cell
        ; The top row has nothing above it.
@top_row:
        lda (field),y
        cmp #GONE
        bcc :+
        lda #EMPTY
        sta (field),y
:       dey
        bpl @top_row
        ldy #4
        lda moved
        beq :+
        ldy #2
:       tya
        sta settle_step,x
        rts

; ---- step 7: matched cells pop, halves that lost their partner become singles ------------------------------------
update:
        lda #15
        sta redraw_row,x
        ldy #127
@cell:
        lda (field),y
        cmp #SINGLE
        bcc @half
        and #$F0
        cmp #MATCHED
        beq @pop
@next:
        dey
        bpl @cell
        ldy #8
        lda lines_matched,x
        beq :+
        ldy #1
:       tya
        sta settle_step,x
        rts

@pop:
        lda (field),y
        ora #GONE
        sta (field),y
        bne @next

@half:
        sty saved_x             ; the cell
        lsr a
        lsr a
        lsr a
        lsr a
        stx saved_rotation      ; the seat
        tax
        tya
        clc
        adc partner_offset - 4,x
        tay
        lda (field),y
        and #$F0
        cmp partner_type - 4,x
        php
        ldx saved_rotation
        ldy saved_x
        plp
        beq @next
        lda (field),y
        and #3
        ora #SINGLE
        sta (field),y
        bne @next

; By type: top, bottom, left, right half
partner_offset:
        .byte 8, <-8, 1, <-1
partner_type:
        .byte BOTTOM_HALF, TOP_HALF, RIGHT_HALF, LEFT_HALF
