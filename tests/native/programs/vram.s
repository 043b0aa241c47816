; cartridge: chr_size=0, mirroring="vertical"
; VRAM through $2006/$2007: the read buffer, increments of 1 and 32, palette mirrors and their 6 bits, wrap-around at
; $3FFF, name table mirrors, the shared write toggle, CHR RAM, $2007 used while the picture is drawn.
KEEP_POWER_ON_STATE = 1
.include "console.inc"
.macro read_vram address, count
        .local @byte
        vram address
        ldx #count
@byte:  lda PPUDATA
        jsr record
        dex
        bne @byte
.endmacro
main:
        bit PPUSTATUS
:       bit PPUSTATUS
        bpl :-
:       bit PPUSTATUS
        bpl :-
        read_vram $3F00, 32              ; palette at power-on
        lda #$20
        ldx #$61
        jsr fill_name_table
        lda #$24
        ldx #$62
        jsr fill_name_table
        vram $3F00
        ldx #0
@palette:
        txa
        ora #$C0
        sta PPUDATA
        inx
        cpx #32
        bne @palette
        read_vram $3F00, 36
        vram $23F0
        ldx #0
@names: txa
        sta PPUDATA
        inx
        cpx #32
        bne @names
        read_vram $23F0, 20
        read_vram $2BF0, 4
        read_vram $27F0, 4
        read_vram $2FF0, 4
        read_vram $33F0, 4
        read_vram $3F10, 3               ; the buffer fills with the name table under the palette
        lda PPUDATA
        read_vram $2FFF, 3
        vram $1FFE
        ldx #5
@chr:   txa
        sta PPUDATA
        dex
        bne @chr
        read_vram $1FFD, 7
        vram $3FFE
        store $11, PPUDATA
        store $22, PPUDATA
        store $33, PPUDATA               ; wraps to $0000
        read_vram $0000, 3
        store 4, PPUCTRL
        vram $2000
        store $44, PPUDATA
        store $55, PPUDATA
        store $66, PPUDATA
        read_vram $2000, 4
        store 0, PPUCTRL
        read_vram $2000, 3
        read_vram $2020, 3
        bit PPUSTATUS
        store $21, PPUADDR               ; one write, then $2002 resets the toggle
        bit PPUSTATUS
        store $20, PPUADDR
        store $40, PPUADDR
        lda PPUDATA
        lda PPUDATA
        jsr record
        bit PPUSTATUS
        store $23, PPUSCROLL             ; the toggle is shared with $2005
        store $F8, PPUADDR
        lda PPUDATA
        lda PPUDATA
        jsr record
        bit PPUSTATUS
        store $20, PPUADDR
        store $00, PPUADDR
        store $7D, PPUSCROLL
        store $5E, PPUSCROLL
        store $03, PPUCTRL
        lda PPUDATA                      ; v was not changed by all that
        lda PPUDATA
        jsr record
        store $F1, PPUADDR               ; bits 6 and 7 of the first write go away
        store $F4, PPUADDR
        lda PPUDATA
        lda PPUDATA
        jsr record
        store 0, PPUCTRL
        ; during rendering a $2007 access bumps v both ways; afterwards v shows up in what is read
@vblank:
        bit PPUSTATUS
        bpl @vblank
        store 0, PPUADDR
        sta PPUADDR
        store $18, PPUMASK
        store 0, $10
        delay 2273 + 114 * 30
        lda PPUDATA
        lda PPUDATA
        lda PPUDATA
        delay 114 * 10 + 31
        store 0, PPUMASK
        lda PPUDATA                      ; where v points now, as a name table address with fine y as its top bits
        lda PPUDATA
        jsr record
        jmp finished
