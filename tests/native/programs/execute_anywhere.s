; Code that runs in RAM mirrors, PPU registers and open bus. In $4000-$5FFF the CPU reads back the high byte of its own
; address ($40 is RTI); in $2000-$3FFF the PPU's latch; $2007 delivers what VRAM holds.
.include "console.inc"
main:
        ; RAM and its mirrors
        store $E8, $0200                 ; INX
        store $60, $0201                 ; RTS
        ldx #0
        jsr $0200
        jsr $0A00
        jsr $1A00
        txa
        jsr record
        ; RTI at $4000: pushed state first
.macro enter address
        .local @back
        lda #>@back
        pha
        lda #<@back
        pha
        php
        jmp address
@back:  inx
        txa
        jsr record
        php
        pla
        jsr record
.endmacro
        enter $4000
        enter $4001
        enter $4014
        enter $4018
        enter $40FF
        ; the PPU latch holds RTS
        ldx #5
        store $60, PPUSTATUS
        jsr $2001
        txa
        jsr record
        store $60, PPUSTATUS
        jsr $3FF9
        store $60, PPUSTATUS
        jsr $2003
        store $60, PPUSTATUS
        jsr $2005
        store $60, PPUSTATUS
        jsr $2006
        inx
        vram $2000
        store $60, PPUDATA
        vram $2000
        lda PPUDATA
        jsr $2007                        ; RTS from the read buffer
        jsr $0200
        txa
        jsr record
        store 0, OAMADDR
        store $60, OAMDATA
        store 0, OAMADDR
        jsr $2004
        txa
        jsr record
        jmp finished
