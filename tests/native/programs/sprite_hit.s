; Sprite 0 hit at places where it is special: for each entry of the table the screen runs for one frame and the log
; takes whether and when (in turns of a polling loop) the flag rose. Tile 1 is solid, 2 the top left dot, 3 the bottom
; right dot.
.include "console.inc"
.macro case y_, tile, attributes, x_, mask, control, scroll
        .byte y_, tile, attributes, x_, mask, control, scroll, 0
.endmacro
main:
        lda #<some_palette
        ldx #>some_palette
        jsr load_palette
        lda #$20
        ldx #1
        jsr fill_name_table
        lda #$28
        ldx #1
        jsr fill_name_table
        jsr hide_sprites
        store 0, $10
@next:  ldx $10
        lda cases,x
        sta $0200
        lda cases+1,x
        sta $0201
        lda cases+2,x
        sta $0202
        lda cases+3,x
        sta $0203
@vblank:
        bit PPUSTATUS
        bpl @vblank
        store 0, OAMADDR
        store 2, OAMDMA
        store 0, PPUADDR
        sta PPUADDR
        lda cases+6,x
        sta PPUSCROLL
        store 0, PPUSCROLL
        lda cases+5,x
        sta PPUCTRL
        lda cases+4,x
        sta PPUMASK
        lda PPUSTATUS                    ; the flag of the frame before is still there
        jsr record
        ldx #0
        ldy #0
@clear: bit PPUSTATUS
        bvs @clear
@poll:  inx
        bne @same
        iny
        cpy #12                          ; the frame is over
        beq @none
@same:  bit PPUSTATUS
        bvc @poll
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
        case 99, 1, $00, 128, $1E, $00, 0        ; in the middle
        case 99, 1, $20, 128, $1E, $00, 0        ; behind the background: still a hit
        case 99, 0, $00, 128, $1E, $00, 0        ; transparent
        case 99, 2, $00, 128, $1E, $00, 0
        case 99, 3, $00, 128, $1E, $00, 0
        case 99, 2, $C0, 128, $1E, $00, 0        ; flipped both ways
        case 99, 2, $40, 128, $1E, $00, 3        ; flipped, fine scroll
        case 99, 1, $00, 128, $16, $00, 0        ; background off
        case 99, 1, $00, 128, $0E, $00, 0        ; sprites off
        case 99, 1, $00, 255, $1E, $00, 0        ; never at x = 255
        case 99, 1, $00, 254, $1E, $00, 0
        case 99, 3, $00, 248, $1E, $00, 0        ; its only dot at 255
        case 99, 1, $00,   0, $18, $00, 0        ; left clip
        case 99, 1, $00,   1, $18, $00, 0        ; last dot at 8
        case 99, 1, $00,   0, $1A, $00, 0
        case 99, 1, $00,   4, $1C, $00, 0
        case 238, 1, $00, 20, $1E, $00, 0        ; last line
        case 239, 1, $00, 20, $1E, $00, 0        ; one below
        case 231, 3, $00, 20, $1E, $00, 0
        case 232, 3, $00, 20, $1E, $00, 0
        case   0, 1, $00, 20, $1E, $00, 0        ; first line a sprite can be on
        case 255, 1, $00, 20, $1E, $00, 0
        case 99, 1, $00, 128, $1E, $20, 0        ; 8x16: tiles 0 and 1 of table $1000
        case 99, 0, $00, 128, $1E, $20, 0        ; 8x16: transparent top, solid below
        case 99, 0, $80, 128, $1E, $20, 0        ; 8x16 flipped
        case 231, 0, $00, 128, $1E, $20, 0       ; its lower half just below the screen
        case 99, 1, $00, 128, $1E, $08, 0        ; sprites from $1000
        case 99, 1, $00, 128, $1E, $10, 0        ; background from $1000
        case 99, 1, $00, 255, $1E, $00, 7
        case 99, 3, $00, 247, $1E, $00, 1        ; x = 254
        case   0, 2, $00,   0, $1E, $00, 0
cases_end:

.segment "CHARS"
        .res 16, 0
        .res 16, $FF
        .byte $80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        .byte 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0
        .res $1000 - 64, 0
        .res 16, 0
        .byte 0, 0, $3C, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
