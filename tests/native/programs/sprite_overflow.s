; The overflow flag: 8 and 9 sprites on a line, the diagonal scan after the eighth (which reads tiles, attributes and
; x as if they were y), 8x16, off-screen lines, rendering off; for each case whether and when the flag rises.
.include "console.inc"
.macro case first_y, count, then_offset, then_value, mask, control
        .byte first_y, count, then_offset, then_value, mask, control, 0, 0
.endmacro
main:
        store 0, $10
@next:  jsr hide_sprites
        ldy $10
        lda cases+1,y
        asl a
        asl a
        sta $11
        ldx #0
@sprite:
        cpx $11
        beq @built
        lda cases,y
        sta $0200,x
        lda #0
        sta $0201,x
        sta $0202,x
        sta $0203,x
        inx
        inx
        inx
        inx
        bne @sprite
@built: ldx cases+2,y
        lda cases+3,y
        sta $0200,x
        bit PPUSTATUS
@vblank:
        bit PPUSTATUS
        bpl @vblank
        store 0, OAMADDR
        store 2, OAMDMA
        ldy $10
        lda cases+5,y
        sta PPUCTRL
        lda cases+4,y
        sta PPUMASK
        ldx #0
        ldy #0
@clear: lda PPUSTATUS
        and #$20
        bne @clear
@poll:  inx
        bne @same
        iny
        cpy #9
        beq @none
@same:  lda PPUSTATUS
        and #$20
        beq @poll
@none:  sty $11
        txa
        jsr record
        lda $11
        jsr record
        store 0, PPUMASK
        lda $10
        clc
        adc #8
        sta $10
        cmp #<(cases_end - cases)
        beq @end
        jmp @next
@end:   jmp finished
cases:
        case 100, 8, $FC, 255, $18, 0
        case 100, 9, $FC, 255, $18, 0
        case 100, 9, $FC, 255, $08, 0            ; background alone does it too
        case 100, 9, $FC, 255, $10, 0
        case 100, 9, $FC, 255, $00, 0            ; rendering off
        case 100, 8, $24, 100, $18, 0            ; the ninth later: the scan has moved on to the tile byte
        case 100, 8, $25, 100, $18, 0            ; tile of sprite 9 as y: overflow
        case 100, 8, $2A, 100, $18, 0            ; attributes of sprite 10
        case 100, 8, $2F, 100, $18, 0            ; x of sprite 11
        case 100, 8, $30, 100, $18, 0            ; y of sprite 12
        case 100, 8, $31, 100, $18, 0
        case 100, 8, $FF, 100, $18, 0
        case 100, 8, $20, 107, $18, 0
        case 100, 8, $20, 108, $18, 0            ; just below: no 9th on any line
        case 100, 8, $20, 93, $18, 0
        case 100, 8, $20, 92, $18, 0
        case 100, 8, $20, 115, $18, $20          ; 8x16
        case 100, 8, $20, 116, $18, $20
        case 239, 9, $FC, 255, $18, 0            ; line 240 is not drawn
        case 238, 9, $FC, 255, $18, 0
        case 255, 9, $FC, 255, $18, 0
        case 0,   9, $FC, 255, $18, 0
        case 100, 64, $80, 100, $18, 0
        case 100, 10, $00, 50, $18, 0            ; the first of ten elsewhere
        case 100, 12, $10, 60, $18, 0
cases_end:
