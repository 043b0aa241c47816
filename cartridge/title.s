; Mode 0, the title: one player, two, or one against the cartridge.
.include "memory.inc"
.export title_frame, enter_title
.import load_screen, use_palette, go_dark, light_up, enter_options, begin_attract, play_music, play_effect

TITLE_LISTENS   = 6     ; screen_step from which the title takes buttons: frame 11 after power-on
ATTRACT_WRAPS   = 8     ; times the frame counter wraps before the attract mode begins

.segment "CODE"
enter_title:
        lda #MODE_TITLE         ; 0, like everything else here
        sta mode
        sta wait_counter
        sta phase
        sta paused
        sta player_pad
        jmp go_dark

title_frame:
        ldx screen_step
        cpx #TITLE_LISTENS
        bcs @listen
        inc screen_step
        ldy #SCREEN_TITLE
        dex
        bmi @load               ; step 0
        bne @light              ; steps 2 and on
        jmp use_palette
@load:
        jmp load_screen
@light:
        lda #TUNE_TITLE
        jsr play_music
        jmp light_up

@listen:
        lda frame_counter
        bne @buttons
        inc wait_counter
        lda wait_counter
        cmp #ATTRACT_WRAPS
        bcc @buttons
        jmp begin_attract
@buttons:
        lda pad_pressed
        beq @done
        ldx #0
        stx wait_counter
        and #PAD_START
        bne @start
        lda pad_pressed
        and #PAD_SELECT
        bne @next
        lda pad_held            ; UP and DOWN only alone
        cmp #PAD_DOWN
        beq @down
        cmp #PAD_UP
        bne @done
        lda vs_cpu
        bne @two
        lda #1
        sta players
        bne @step
@two:
        lda #0
        sta vs_cpu
        beq @step
@down:
        lda vs_cpu
        bne @done
@next:
        ; 1 player, 2 players, against the cartridge, and round again
        lda vs_cpu
        bne @one
        lda players
        cmp #2
        beq @versus
        inc players
        bne @step
@one:
        lda #1
        sta players
        lda #0
        sta vs_cpu
        beq @step
@versus:
        lda #1
        sta vs_cpu
@step:
        lda #EFFECT_STEP
        jmp play_effect
@start:
        lda #EFFECT_CONFIRM
        jsr play_effect
        jmp enter_options
@done:
        rts
