; The attract mode: left alone, the title lets the on-cartridge player play.
.include "memory.inc"
.export begin_attract, leave_attract
.import go_dark, enter_title

.segment "CODE"
; One player, at the level and speed of attract_level and attract_speed; the menu's choices are kept meanwhile.
begin_attract:
        ldx #1
@keep:
        ldy seats,x
        lda level,y
        sta kept_levels,x
        lda speed,y
        sta kept_speeds,x
        lda attract_level
        sta level,y
        lda attract_speed
        sta speed,y
        dex
        bpl @keep
        lda players
        sta kept_players
        lda vs_cpu
        sta kept_vs_cpu
        lda #0
        sta vs_cpu
        lda #1
        sta players
        lda #ATTRACT
        sta attract
        lda #MODE_OPTIONS
        sta mode
        jmp go_dark

; Back to the title; after the attract mode with the menu's choices as they were.
leave_attract:
        lda attract
        beq @title
        ldx #1
@restore:
        ldy seats,x
        lda kept_levels,x
        sta level,y
        lda kept_speeds,x
        sta speed,y
        dex
        bpl @restore
        lda kept_players
        sta players
        lda kept_vs_cpu
        sta vs_cpu
        lda #0
        sta attract
@title:
        jmp enter_title

seats:
        .byte SEAT_1, SEAT_2
