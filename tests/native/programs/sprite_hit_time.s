; The dot of a sprite 0 hit: $2002 read twice, one dot later each turn, for sprites at several places; then the dots at
; which the pre-render line clears the flag.
.include "console.inc"
.macro sweep x_, y_, late
        store y_, $0200
        store x_, $0203
        wait_until 2501 + (late) + (341 * (y_) + (x_)) / 3
.endmacro
.macro wait_until cycles                 ; after the rise of the vblank flag; 2054 pass elsewhere
        store <((cycles) - 2054), $12
        store >((cycles) - 2054), $14
        jsr sweep_
.endmacro
; Each turn: sync, show the picture, wait for the place, read.
sweep_: store 0, $10
@turn:  lda $14
        sta $13
        lda $10
        jsr sync_vbl_dots
        store 0, PPUADDR
        sta PPUADDR
        sta PPUSCROLL
        sta PPUSCROLL
        store $1E, PPUMASK
        ldx #0
        stx OAMADDR
        store 2, OAMDMA
        delay 1400
        lda $12
        jsr delay_a
        lda $13
        beq @now
@line:  lda #154                         ; 256 cycles a turn
        jsr delay_a
        delay 50
        nop
        dec $13
        bne @line
@now:   lda PPUSTATUS
        ldy PPUSTATUS
        ldx #0
        stx PPUMASK
        and #$40
        lsr a
        sta $11
        tya
        and #$40
        ora $11
        jsr record
        inc $10
        lda $10
        cmp #12
        bne @turn
        rts
main:
        lda #<some_palette
        ldx #>some_palette
        jsr load_palette
        lda #$20
        ldx #1
        jsr fill_name_table
        jsr hide_sprites
        store 1, $0201
        store 0, $0202
        sweep 0, 0, -3
        sweep 30, 1, -4
        sweep 254, 3, -4
        store $40, $0202
        sweep 101, 20, -4
        wait_until 29780 + 2272          ; the flag falls with vblank
        jmp finished
.segment "CHARS"
        .res 16, 0
        .res 16, $FF
