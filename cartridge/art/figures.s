; Drawing with sprites: figures from metasprites.s, the germs, single tiles and words. The sprite list may be full: drawing
; stops there, X never wraps. Costs: 78 cycles a sprite of a figure, 300 a germ (unrolled, since three dance in every frame).

.include "figures.inc"
.import fizz_dances, grim_dances, peep_dances, fizz_hurts, grim_hurts, peep_hurts

sprite_y      = $0200
sprite_tile   = $0201
sprite_attr   = $0202
sprite_x      = $0203
LAST_SPRITE   = 252
FLIP          = $40

.segment "ART"

; The germs' nine tiles: dancing, then hurt.
germ_tiles_low:  .lobytes fizz_dances, grim_dances, peep_dances, fizz_hurts, grim_hurts, peep_hurts
germ_tiles_high: .hibytes fizz_dances, grim_dances, peep_dances, fizz_hurts, grim_hurts, peep_hurts

; Draws the figure at A (low), Y (high) with its corner at at_x, at_y.
.proc draw_figure
        sta figure
        sty figure + 1
        ldy #0
        lda (figure),y
        sta count
next:
        cpx #LAST_SPRITE
        bcs full
        iny
        lda (figure),y
        clc
        adc at_y
        sta sprite_y,x
        iny
        lda (figure),y
        sta sprite_tile,x
        iny
        lda (figure),y
        sta sprite_attr,x
        iny
        lda (figure),y
        clc
        adc at_x
        sta sprite_x,x
        inx
        inx
        inx
        inx
        dec count
        bne next
full:
        rts
.endproc

; Draws germ A (0 yellow, 1 red, 2 blue; +3 hurt) at at_x, at_y, mirrored on every other beat: 24x24 pixels.
.proc draw_germ
        cpx #LAST_SPRITE - 9 * 4
        bcc room
        rts
room:
        tay
        lda germ_tiles_low,y
        sta figure
        lda germ_tiles_high,y
        sta figure + 1

        lda germ_palette,y
        sta look
        lda frame_counter
        and #$20
        beq facing_left
        lda look
        ora #FLIP
        .repeat 9, i
        sta sprite_attr + 4 * i,x
        .endrepeat
        lda at_x
        .repeat 3, i
        sta sprite_x + 4 * (2 + 3 * i),x
        .endrepeat
        clc
        adc #8
        .repeat 3, i
        sta sprite_x + 4 * (1 + 3 * i),x
        .endrepeat
        adc #8
        .repeat 3, i
        sta sprite_x + 4 * (3 * i),x
        .endrepeat
        jmp rows

facing_left:
        lda look
        .repeat 9, i
        sta sprite_attr + 4 * i,x
        .endrepeat
        lda at_x
        .repeat 3, i
        sta sprite_x + 4 * (3 * i),x
        .endrepeat
        clc
        adc #8
        .repeat 3, i
        sta sprite_x + 4 * (1 + 3 * i),x
        .endrepeat
        adc #8
        .repeat 3, i
        sta sprite_x + 4 * (2 + 3 * i),x
        .endrepeat

rows:
        ldy #0
        .repeat 9, i
        lda (figure),y
        sta sprite_tile + 4 * i,x
        iny
        .endrepeat
        lda at_y
        .repeat 3, i
        sta sprite_y + 4 * i,x
        .endrepeat
        clc
        adc #8
        .repeat 3, i
        sta sprite_y + 4 * (3 + i),x
        .endrepeat
        adc #8
        .repeat 3, i
        sta sprite_y + 4 * (6 + i),x
        .endrepeat
        txa
        clc
        adc #9 * 4
        tax
        rts
germ_palette:
        .byte 1, 2, 3, 1, 2, 3
.endproc

; Draws germ A at at_x, at_y with a little hop twice a beat.
.proc draw_dancing_germ
        sta germ
        lda frame_counter
        lsr
        lsr
        and #7
        tay
        lda at_y
        clc
        adc hop,y
        sta at_y
        lda germ
        jmp draw_germ
hop:    .byte 0, 255, 254, 254, 255, 0, 0, 0
.endproc

; One sprite: tile A, palette Y, at at_x, at_y.
.proc draw_tile
        cpx #LAST_SPRITE
        bcs full
        sta sprite_tile,x
        tya
        sta sprite_attr,x
        lda at_x
        sta sprite_x,x
        lda at_y
        sta sprite_y,x
        inx
        inx
        inx
        inx
full:
        rts
.endproc

; Words in sprite letters: tiles up to $FF, from at_x on. A, Y = the word.
.proc draw_word
        sta figure
        sty figure + 1
        ldy #0
next:
        lda (figure),y
        bmi done
        sty count
        ldy #0
        jsr draw_tile
        lda at_x
        clc
        adc #8
        sta at_x
        ldy count
        iny
        bne next
done:
        rts
.endproc
