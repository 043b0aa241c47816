; Loading screens, and the queue of tiles the NMI writes.
.include "memory.inc"
.include "art/layout.inc"
.export load_screen, load_interlude, use_palette, go_dark, light_up, show_interlude, leave_interlude
.export queue_begin, queue_bcd, queue_number
.import unpack_screen, play_music
.import title_screen, options_screen, play1_screen, play2_screen, interlude_screen
.import palette_title, palette_options, palette_play1, palette_play2, palette_interlude

.segment "CODE"
; The next NMI switches the picture off: screens can be loaded in the frames after this one.
go_dark:
        lda #0
        sta screen_mask
        sta screen_step
        sta queue_end
        sta sprites_on
        lda #$FF
        sta sweep_row
        rts

light_up:
        lda #MASK_ALL
        sta screen_mask
        rts

; Screen Y, into $2000; the picture must be dark. Its palette follows with use_palette.
load_screen:
        lda #$20
        jsr unpack
        lda #CONTROL_SCREEN
        sta screen_control
        lda banks,y
        sta background_bank
        lda #0
        ldx #31
@art:
        sta art_variables,x
        dex
        bpl @art
        rts

; The interlude waits in $2400 until it is shown.
load_interlude:
        ldy #SCREEN_INTERLUDE
        lda #$24

unpack:
        bit PPUSTATUS
        sta PPUADDR
        lda #0
        sta PPUADDR
        tya
        pha
        lda screens_low,y
        ldx screens_high,y
        jsr unpack_screen
        pla
        tay
        rts

use_palette:
        lda palettes_low,y
        sta palette_pointer
        lda palettes_high,y
        sta palette_pointer + 1
        lda #1
        sta new_palette
        rts

show_interlude:
        lda #CONTROL_INTERLUDE
        sta screen_control
        ldy #SCREEN_INTERLUDE
        jsr show_other
        lda #TUNE_INTERLUDE
        jmp play_music

leave_interlude:
        lda #CONTROL_SCREEN
        sta screen_control
        ldy #SCREEN_PLAY1
show_other:
        lda banks,y
        sta background_bank
        jmp use_palette

.define SCREENS title_screen, options_screen, play1_screen, play2_screen, interlude_screen
screens_low:
        .lobytes SCREENS
screens_high:
        .hibytes SCREENS
.define PALETTES palette_title, palette_options, palette_play1, palette_play2, palette_interlude
palettes_low:
        .lobytes PALETTES
palettes_high:
        .hibytes PALETTES
banks:
        .byte 2, 2, 0, 0, 3

; ---- the queue --------------------------------------------------------------------------------------------------
; Begins an entry of X tiles at PPU address A (high), Y (low). X = where the tiles go in the queue; afterwards the
; caller stores X behind them in queue_end.
queue_begin:
        stx scratch
        ldx queue_end
        sta queue,x
        tya
        sta queue + 1,x
        lda scratch
        sta queue + 2,x
        inx
        inx
        inx
        rts

; Two digits: A is binary, below 100.
queue_number:
        ldy #0
@ten:
        cmp #10
        bcc @ones
        sbc #10
        iny
        bne @ten
@ones:
        sta scratch
        tya
        asl a
        asl a
        asl a
        asl a
        ora scratch
; Two digits: A is BCD.
queue_bcd:
        pha
        lsr a
        lsr a
        lsr a
        lsr a
        sta queue,x
        inx
        pla
        and #15
        sta queue,x
        inx
        stx queue_end
        rts
