; Mode 2: three frames in the dark, in which the level's screen is loaded.
.include "memory.inc"
.include "art/layout.inc"
.export load_frame, begin_level
.import load_screen, load_interlude, use_palette, go_dark, light_up

.segment "CODE"
begin_level:
        lda #MODE_LOAD
        sta mode
        jmp go_dark

load_frame:
        ldy #SCREEN_PLAY1
        lda players
        lsr a
        bcs :+
        ldy #SCREEN_PLAY2
:       ldx screen_step
        inc screen_step
        dex
        bmi @level              ; step 0
        beq @interlude          ; step 1
        jsr use_palette
        jsr light_up
        ldx #5
        lda #0
@score:
        sta score,x
        dex
        bpl @score
        lda #MODE_INIT
        sta mode
        rts
@level:
        lda #FIELD1_COLUMN
        cpy #SCREEN_PLAY1
        beq :+
        lda #FIELD2A_COLUMN
:       sta field_columns
        lda #FIELD2B_COLUMN
        sta field_columns + 1
        jmp load_screen
@interlude:
        jmp load_interlude
