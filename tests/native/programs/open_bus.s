; Open bus: the PPU's latch (any write to $2000-$2007 fills it, reads of write-only registers show it, bits decay after
; most of a second), its mix into $2002, $2004 and palette reads, the CPU bus at $4000-$40FF and above, pads.
.include "console.inc"
main:
        store $5A, PPUCTRL - $2000 + $2003
        lda $2000
        jsr record
        lda $2001
        jsr record
        lda $2003
        jsr record
        lda $2005
        jsr record
        lda $2006
        jsr record
        store $FF, $2002                 ; writing the read-only register fills the latch
        lda $2005
        jsr record
        lda $2002                        ; low five bits are the latch
        jsr record
        store $3C, $3FFE                 ; mirrors: $2006
        lda $2FF1
        jsr record
        store $00, OAMADDR
        store $A5, OAMDATA
        store $00, OAMADDR
        lda OAMDATA
        jsr record
        lda $2001
        jsr record
        vram $3F05
        store $2A, PPUDATA
        vram $3F05
        store $FF, $2002
        lda PPUDATA                      ; top two bits from the latch
        jsr record
        lda $2000
        jsr record
        ; decay: 1 second is enough, a frame is not
        store $FF, $2002
        delay 29781 * 3
        lda $2000
        jsr record
        store 50, $10
@wait:  delay 29781
        dec $10
        bne @wait
        lda $2000
        jsr record
        lda $2002
        jsr record
        ; the CPU's own bus keeps the last byte it carried
        lda $4000
        jsr record
        lda $4014
        jsr record
        lda $4018
        jsr record
        lda $40FF
        jsr record
        lda $5000
        jsr record
        lda $5FFF
        jsr record
        ldx #1
        lda $50FF,x
        jsr record
        ldx #0
        lda $4100,x
        jsr record
        store $50, $20
        store $41, $21
        ldy #3
        lda ($20),y
        jsr record
        lda $4016                        ; upper bits of the pads are open bus
        jsr record
        lda $4017
        jsr record
        ldx #1
        lda $4016,x
        jsr record
        lda $4015                        ; bit 5 is open bus, and reading it does not drive the bus
        jsr record
        lda $4000
        jsr record
        jmp finished
