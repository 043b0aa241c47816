; What a frame shows besides the fields: sprites, and the numbers that change.
.include "memory.inc"
.include "art/layout.inc"
.include "letters.inc"
.export show_frame
.import queue_begin, queue_bcd, queue_number, queue_end_boxes
.import decorate_title, decorate_options, decorate_play1, decorate_play2, decorate_pause, decorate_interlude
.import throw_x, throw_y

OFF_SCREEN      = $F8   ; sprite line below the picture

.segment "CODE"
show_frame:
        jsr age_germs
        ldx #0                  ; the next free sprite
        lda mode
        cmp #MODE_INIT
        bcs @level
        lda screen_mask
        beq hide_rest
        lda mode
        beq show_title
        jmp show_options
@level:
        lda paused
        bne @paused
        lda #MASK_ALL
        sta screen_mask
        sta sprites_on
        lda phase
        cmp #6
        beq @interlude
        lda queue_end           ; full while a palette went first
        bne @sprites
        jsr queue_level
        ldx #0
@sprites:
        lda players
        lsr a
        bcs @alone
        jsr draw_capsules_2
        jsr decorate_play2
        jmp @dance
@alone:
        jsr draw_capsules_1
        jsr decorate_play1
@dance:
        lda art_play_bank       ; the viruses in the bottles have two poses
        sta background_bank
        jmp hide_rest
@paused:
        lda #MASK_SPRITES       ; nobody studies the bottle in a pause
        sta screen_mask
        lda #0
        sta sprites_on
        jsr decorate_pause
        jmp hide_rest
@interlude:
        jsr decorate_interlude

; All sprites from X on leave the picture.
hide_rest:
        lda #OFF_SCREEN
        cpx #0
        bne @hide
        sta sprites
        ldx #4
@hide:
        sta sprites,x
        inx
        inx
        inx
        inx
        bne @hide
        rts

; Frames since each big germ was hit, up to 255.
age_germs:
        ldx #2
@germ:
        inc germ_hurt,x
        bne :+
        dec germ_hurt,x
:       dex
        bpl @germ
        rts

; ---- menus ------------------------------------------------------------------------------------------------------
show_title:
        ldy players
        dey
        lda vs_cpu
        beq :+
        iny
:       lda title_lines,y
        tay
        lda #TITLE_CURSOR_X
        jsr put_cursor
        jsr decorate_title
        jmp hide_rest

title_lines:
        .byte TITLE_CURSOR_Y - 1, TITLE_CURSOR_Y + TITLE_CURSOR_STEP - 1, TITLE_CURSOR_Y + 2 * TITLE_CURSOR_STEP - 1

show_options:
        jsr queue_levels
        ldx #0
        ldy option_row
        lda option_lines,y
        tay
        lda #OPTIONS_CURSOR_X
        jsr put_cursor
        ldy speed + SEAT_1
        lda speed_marks,y
        ldy #SPEED_MARK1_Y - 1
        jsr put_mark_1
        ldy music
        lda music_marks,y
        ldy #MUSIC_MARK_Y - 1
        jsr put_music_mark
        lda players
        lsr a
        bcs @decorate
        ldy speed + SEAT_2
        lda speed_marks,y
        ldy #SPEED_MARK2_Y - 1
        jsr put_mark_2
@decorate:
        jsr decorate_options
        jmp hide_rest

option_lines:
        .byte OPTIONS_LEVEL_Y - 1, OPTIONS_SPEED_Y - 1, OPTIONS_MUSIC_Y - 1
speed_marks:
        .byte SPEED_MARK_X, SPEED_MARK_X + SPEED_MARK_STEP, SPEED_MARK_X + 2 * SPEED_MARK_STEP
music_marks:
        .byte MUSIC_MARK_X, MUSIC_MARK_X + MUSIC_MARK_STEP, MUSIC_MARK_X + 2 * MUSIC_MARK_STEP

; One sprite at A (x), Y (line).
put_mark_1:
        sta sprites + 3,x
        lda #MARK1_TILE
        bne put_sprite
put_mark_2:
        sta sprites + 3,x
        lda #MARK2_TILE
        bne put_sprite
put_music_mark:
        sta sprites + 3,x
        lda #MUSIC_MARK_TILE
        bne put_sprite
put_cursor:
        sta sprites + 3,x
        lda #CURSOR_TILE
put_sprite:
        sta sprites + 1,x
        tya
        sta sprites,x
        lda #CURSOR_PALETTE
        sta sprites + 2,x
        inx
        inx
        inx
        inx
        rts

; Adds an entry to the queue: count tiles at a column and row.
.macro queue_at column, row, count
        lda #>($2000 + (row) * 32 + (column))
        ldy #<($2000 + (row) * 32 + (column))
        ldx #count
        jsr queue_begin
.endmacro

queue_levels:
        lda queue_end
        bne @done
        queue_at LEVEL1_COLUMN, LEVEL1_ROW, 2
        lda level + SEAT_1
        jsr queue_number
        lda players
        lsr a
        bcs @done
        queue_at LEVEL2_COLUMN, LEVEL2_ROW, 2
        lda level + SEAT_2
        jmp queue_number
@done:
        rts

; ---- the level: numbers, a few in each frame --------------------------------------------------------------------
queue_level:
        lda mode
        cmp #MODE_END
        bne @numbers
        jsr queue_end_boxes
        lda queue_end
        bne @done
@numbers:
        lda players
        lsr a
        lda frame_counter
        and #3
        rol a                   ; bit 0: one player
        tay
        lda numbers_high,y
        pha
        lda numbers_low,y
        pha
@done:
        rts

.define NUMBERS viruses_2 - 1, score_1 - 1, levels_2 - 1, top_1 - 1, speeds_2 - 1, counts_1 - 1, wins_2 - 1, speed_1 - 1
numbers_low:
        .lobytes NUMBERS
numbers_high:
        .hibytes NUMBERS

score_1:
        queue_at SCORE_COLUMN, SCORE_ROW, 7
        ldy #5
@digit:
        lda score,y
        sta queue,x
        inx
        dey
        bpl @digit
        bmi last_zero
top_1:
        queue_at TOP_COLUMN, TOP_ROW, 7
        ldy #5
@digit:
        lda top_score,y
        sta queue,x
        inx
        dey
        bpl @digit
last_zero:
        lda #0                  ; scores count tens
        sta queue,x
        inx
        stx queue_end
        rts
counts_1:
        queue_at P1_LEVEL_COLUMN, P1_LEVEL_ROW, 2
        lda level + SEAT_1
        jsr queue_number
        queue_at P1_VIRUS_COLUMN, P1_VIRUS_ROW, 2
        lda viruses + SEAT_1
        jmp queue_bcd
speed_1:
        queue_at P1_SPEED_COLUMN, P1_SPEED_ROW, 3
        ldy speed + SEAT_1
        jmp queue_speed

viruses_2:
        queue_at A_VIRUS_COLUMN, A_VIRUS_ROW, 2
        lda viruses + SEAT_1
        jsr queue_bcd
        queue_at B_VIRUS_COLUMN, B_VIRUS_ROW, 2
        lda viruses + SEAT_2
        jmp queue_bcd
levels_2:
        queue_at A_LEVEL_COLUMN, A_LEVEL_ROW, 2
        lda level + SEAT_1
        jsr queue_number
        queue_at B_LEVEL_COLUMN, B_LEVEL_ROW, 2
        lda level + SEAT_2
        jmp queue_number
speeds_2:
        queue_at A_SPEED_COLUMN, A_SPEED_ROW, 3
        ldy speed + SEAT_1
        jsr queue_speed
        queue_at B_SPEED_COLUMN, B_SPEED_ROW, 3
        ldy speed + SEAT_2
queue_speed:
        lda speed_first,y
        sta queue,x
        lda speed_second,y
        sta queue + 1,x
        lda speed_third,y
        sta queue + 2,x
        inx
        inx
        inx
        stx queue_end
        rts
speed_first:
        .byte "LMH"
speed_second:
        .byte "OEI"
speed_third:
        .byte "WD "

; A mark for each round won, from the bottom up.
wins_2:
        .repeat 3, i
        lda wins + SEAT_1
        cmp #i + 1
        bcc :+
        queue_at A_WINS_COLUMN, WINS_ROW - i, 1
        jsr queue_win
:       lda wins + SEAT_2
        cmp #i + 1
        bcc :+
        queue_at B_WINS_COLUMN, WINS_ROW - i, 1
        jsr queue_win
:
        .endrepeat
        rts
queue_win:
        lda #WIN_TILE
        sta queue,x
        inx
        stx queue_end
        rts

; ---- capsules ---------------------------------------------------------------------------------------------------
draw_capsules_1:
        ldy #SEAT_1
        lda field_columns
        jsr draw_falling
        lda throw_rotation + SEAT_1
        sta sprite_rotation
        ldy throw_index
        cpy #22
        bcs @done
        lda throw_x,y
        sta sprite_x
        lda throw_y,y
        ldy #SEAT_1
        jmp draw_next
@done:
        rts

draw_capsules_2:
        lda #0
        sta sprite_rotation
        lda #NEXT1_X
        sta sprite_x
        lda #NEXT1_Y
        ldy #SEAT_1
        jsr draw_next
        lda #NEXT2_X
        sta sprite_x
        lda #NEXT2_Y
        ldy #SEAT_2
        jsr draw_next
        ldy #SEAT_1
        lda field_columns
        jsr draw_falling
        ldy #SEAT_2
        lda field_columns + 1

; The falling capsule of seat Y, in the bottle at tile column A.
draw_falling:
        asl a
        asl a
        asl a
        sta sprite_x
        lda mode
        cmp #MODE_PLAY
        bne @done
        lda phase
        bne @done
        lda action,y
        beq @draw
        cmp #ACTION_SPAWNED
        bne @done
@draw:
        lda capsule_x,y
        asl a
        asl a
        asl a
        clc
        adc sprite_x
        sta sprite_x
        lda capsule_y,y
        eor #15
        clc
        adc #FIELD_ROW
        asl a
        asl a
        asl a
        sta sprite_y
        lda first_colour,y
        sta sprite_first
        lda second_colour,y
        sta sprite_second
        lda rotation,y
        sta sprite_rotation
        jmp draw_capsule
@done:
        rts

; The next capsule of seat Y, at sprite_x and line A.
draw_next:
        sta sprite_y
        lda next_first,y
        sta sprite_first
        lda next_second,y
        sta sprite_second

; Two sprites: the base half at sprite_x, sprite_y, the other one right of it or above.
draw_capsule:
        ldy sprite_rotation
        dec sprite_y            ; sprites appear one line low
        lda sprite_y
        sta sprites,x
        clc
        adc other_down,y
        sta sprites + 4,x
        lda sprite_x
        sta sprites + 3,x
        clc
        adc other_right,y
        sta sprites + 7,x
        lda #0
        sta sprites + 2,x
        sta sprites + 6,x
        lda sprite_first
        cpy #2
        bcs @swapped
        ora base_tiles,y
        sta sprites + 1,x
        lda sprite_second
        ora other_tiles,y
        sta sprites + 5,x
        bne @next
@swapped:
        ora other_tiles,y
        sta sprites + 5,x
        lda sprite_second
        ora base_tiles,y
        sta sprites + 1,x
@next:
        txa
        clc
        adc #8
        tax
        rts

other_down:
        .byte 0, <-8, 0, <-8
other_right:
        .byte 8, 0, 8, 0
base_tiles:
        .byte LEFT_HALF, BOTTOM_HALF, LEFT_HALF, BOTTOM_HALF
other_tiles:
        .byte RIGHT_HALF, TOP_HALF, RIGHT_HALF, TOP_HALF
