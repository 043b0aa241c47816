; Pictures: scrolling over four name tables, attributes, 64 sprites of every flip, priority and palette, more than
; eight on a line, 8x16, clipped left columns, a split by sprite 0 with $2005/$2006 writes inside the line, palette
; changes. The frame number in $10 chooses what is shown.
.include "console.inc"
main:
        lda #<some_palette
        ldx #>some_palette
        jsr load_palette
        vram $2000
        ldx #0
        ldy #8                           ; two name tables of 1 KB each, some attributes
@names: txa
        sta PPUDATA
        clc
        adc #3
        eor $11
        inc $11
        inx
        bne @names
        dey
        bne @names
        vram $2800
        ldy #4
@lower: txa
        eor #$A7
        sta PPUDATA
        inx
        bne @lower
        dey
        bne @lower
        store 0, $10
@frame: jsr place_sprites
        bit PPUSTATUS
@vblank:
        bit PPUSTATUS
        bpl @vblank
        store 0, OAMADDR
        store 2, OAMDMA
        lda $10
        lsr a
        lsr a
        and #$3B
        sta PPUCTRL
        ldx $10
        lda masks,x
        sta PPUMASK
        lda $10                          ; scroll
        asl a
        asl a
        asl a
        adc $10
        sta PPUSCROLL
        lda $10
        asl a
        asl a
        sta PPUSCROLL
        ; writes inside the picture, at times that move with the frame
        delay 2273 + 114 * 60
        lda $10
        jsr delay_a
        lda $10
        and #3
        beq @scroll
        cmp #1
        beq @address
        cmp #2
        beq @mask
        store $3F, $2006                 ; a palette write needs rendering off for a while
        lda $10
        ldx #0
        stx PPUMASK
        store $05, PPUADDR
        lda $10
        sta PPUDATA
        store $20, PPUADDR
        store $00, PPUADDR
        ldx $10
        lda masks,x
        sta PPUMASK
        jmp @shown
@scroll:
        lda $10
        eor #$5A
        sta PPUSCROLL
        store $33, PPUSCROLL
        delay 114 * 30
        store 1, PPUCTRL
        jmp @shown
@address:
        store $25, PPUADDR
        lda $10
        asl a
        sta PPUADDR
        jmp @shown
@mask:  lda $10
        asl a
        and #$18
        ora #$06
        sta PPUMASK
        delay 114 * 40
        store $1E, PPUMASK
@shown: lda PPUSTATUS
        jsr record
        inc $10
        lda $10
        cmp #60
        beq @end
        jmp @frame
@end:   jmp finished
; 64 sprites from a simple generator seeded with the frame number
place_sprites:
        lda $10
        sta $12
        ldx #0
@byte:  lda $12
        asl a
        bcc @even
        eor #$1D
@even:  adc #$47
        sta $12
        sta $0200,x
        inx
        bne @byte
        lda $10
        and #1
        beq @done
        ldx #0                           ; odd frames: ten on one line
@row:   lda #120
        sta $0200,x
        inx
        inx
        inx
        inx
        cpx #40
        bne @row
@done:  rts
masks:  .repeat 64, i
        .byte $18 | ((i & 3) << 1)
        .endrepeat
