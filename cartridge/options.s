; Mode 1, the options: virus level, speed and music. The choices are kept where the rules read them.
.include "memory.inc"
.export options_frame, enter_options
.import load_screen, use_palette, go_dark, light_up, enter_title, begin_level, random_step, start_music
.import play_music, play_effect

OPTIONS_LISTEN  = 2     ; screen_step from which buttons count: 3 frames after the options were entered
LEVEL_REPEAT    = 7     ; frames per step while a direction is held
HIGHEST_CHOICE  = 20

.segment "CODE"
enter_options:
        lda #MODE_OPTIONS
        sta mode
        lda #0
        sta option_row
        jmp go_dark

options_frame:
        lda attract
        bne @begin              ; no choice to make
        ldx screen_step
        cpx #OPTIONS_LISTEN
        bcs @listen
        inc screen_step
        ldy #SCREEN_OPTIONS
        txa
        beq @load
        lda #0
        sta wins + SEAT_1
        sta wins + SEAT_2
        lda #TUNE_TITLE
        jsr play_music
        jsr light_up
        jmp use_palette
@load:
        jmp load_screen

@listen:
        jsr random_step         ; the time spent here is the seed of the match
        lda pad_pressed
        and #PAD_START
        bne @start
        lda pad_pressed
        and #PAD_B
        bne @back
        jsr choose_row
        jmp change_row
@start:
        lda #EFFECT_CONFIRM
        jsr play_effect
@begin:
        jmp begin_level
@back:
        jmp enter_title

choose_row:
        lda pad_pressed
        and #PAD_UP
        beq @down
        lda option_row
        beq @done
        dec option_row
        jmp menu_step
@down:
        lda pad_pressed
        and #PAD_DOWN
        beq @done
        lda option_row
        cmp #2
        bcs @done
        inc option_row
        jmp menu_step
@done:
        rts

; Each pad changes its own seat's level and speed. Against the cartridge pad 1 changes both seats.
change_row:
        ldx #SEAT_1
        ldy #0
        jsr change_seat
        lda players
        cmp #2
        bne @done
        ldx #SEAT_2
        ldy #1
        lda vs_cpu
        beq :+
        jsr change_by_first
:       ldy #1
        jsr change_seat
@done:
        rts

; Pad 1 moves seat 2: its level and speed, not the music a second time.
change_by_first:
        lda option_row
        cmp #2
        bne :+
        rts
:       dey
change_seat:
        lda option_row
        beq change_level
        cmp #1
        beq change_speed
        tya
        bne @done               ; the music is pad 1's
        lda pad_pressed
        lsr a
        bcs @later
        lsr a
        bcc @done
        lda music
        beq @done
        dec music
        jmp @play
@later:
        lda music
        cmp #2
        bcs @done
        inc music
@play:
        jsr start_music
        jmp menu_step
@done:
        rts

; X = seat, Y = pad.
change_level:
        lda pad_pressed,y
        and #PAD_LEFT | PAD_RIGHT
        bne @now
        lda pad_held,y
        and #PAD_LEFT | PAD_RIGHT
        beq no_change
        inc repeat_delay,x
        lda repeat_delay,x
        cmp #LEVEL_REPEAT
        bcc no_change
@now:
        lda #0
        sta repeat_delay,x
        lda pad_held,y
        lsr a
        bcs @higher
        lda level,x
        beq no_change
        dec level,x
        jmp menu_step
@higher:
        lda level,x
        cmp #HIGHEST_CHOICE
        bcs no_change
        inc level,x
        jmp menu_step

change_speed:
        lda pad_pressed,y
        lsr a
        bcs @faster
        lsr a
        bcc no_change
        lda speed,x
        beq no_change
        dec speed,x
        jmp menu_step
@faster:
        lda speed,x
        cmp #2
        bcs no_change
        inc speed,x
menu_step:
        lda #EFFECT_STEP
        jmp play_effect
no_change:
        rts
