; The scenes beside play: the pause and the night after every fifth level. See sprites.s.

.export decorate_pause, decorate_interlude
.import cat_blinks, arm_hangs

.include "figures.inc"

level = $0316

.segment "ART"

word_pause: .byte LETTER 'P', LETTER 'A', LETTER 'U', LETTER 'S', LETTER 'E', $FF

; Pause: the background is off. The cat takes a nap, the germs do not.
.proc decorate_pause
        word_at word_pause, 108, 72
        lda frame_counter
        and #$3F
        lsr
        lsr
        sta look
        eor #$FF
        sec
        adc #96                 ; a Z drifts up and away
        sta at_y
        lda look
        clc
        adc #148
        sta at_x
        lda #LETTER 'Z'
        ldy #0
        jsr draw_tile
        figure_at cat_blinks, 112, 96
        germ_at 0, 80, 126
        germ_at 2, 152, 126
        rts
.endproc

; Interlude: after level 5 Fizz sits in a jar, after 10 Grim as well, after 15 Peep, and after 20 there are fireworks.
; The level has been counted up already when this is shown.

.proc decorate_interlude
        figure_at arm_hangs, 200, 168
        lda level
        cmp #6
        bcs fizz
        rts
fizz:   germ_at 0, 24, 182
        lda level
        cmp #11
        bcs grim
        rts
grim:   germ_at 1, 72, 182
        lda level
        cmp #16
        bcs peep
        rts
peep:   germ_at 2, 120, 150
        lda level
        cmp #21
        bcs fireworks
        rts

fireworks:                      ; three rockets, each a ring of four sparks that grows, then waits for its turn again
        ldy #2
rocket:
        sty each
        lda frame_counter
        clc
        adc moment,y
        and #$3F
        lsr
        sta look                ; 0-31: radius
        cmp #20
        bcs burnt_out
        lda centre_y,y
        sta at_y
        lda centre_x,y
        sec
        sbc look
        sta at_x
        jsr spark               ; left
        lda at_x
        clc
        adc look
        adc look
        sta at_x
        jsr spark               ; right
        lda at_x
        sec
        sbc look
        sta at_x
        lda at_y
        sec
        sbc look
        sta at_y
        jsr spark               ; up
        lda at_y
        clc
        adc look
        adc look
        sta at_y
        jsr spark               ; down
burnt_out:
        ldy each
        dey
        bpl rocket
        rts

spark:
        ldy each
        iny                     ; palettes 1-3: every rocket is white at heart
        lda #SPARK
        jmp draw_tile
centre_x: .byte 40, 120, 150
centre_y: .byte 84, 72, 40
moment:   .byte 0, 22, 43
.endproc
