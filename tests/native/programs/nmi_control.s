; NMI is an edge of (flag AND enable): switching it off and on during vblank interrupts again, after the instruction
; that follows the write; writing $80 twice does not; reading $2002 first prevents it.
CUSTOM_NMI = 1
.include "console.inc"
nmi:    inc nmi_count
        sty $20
        rti
.macro snapshot
        lda nmi_count
        jsr record
        lda $20
        jsr record
        store 0, nmi_count
.endmacro
main:
        jsr sync_vbl
        delay FRAME + 500                ; in vblank, flag not read
        ldy #0
        store $80, PPUCTRL
        iny                              ; the interrupt comes after this
        iny
        iny
        snapshot
        store $80, PPUCTRL
        nop
        nop
        snapshot
        ldy #0
        store 0, PPUCTRL
        store $80, PPUCTRL
        iny
        iny
        snapshot
        store 0, PPUCTRL
        lda #$80
        ldy #0
        bit PPUSTATUS
        sta PPUCTRL
        iny
        iny
        snapshot
        store 0, PPUCTRL
        jsr sync_vbl
        delay FRAME + 200                ; set again, never read: on, off, on, off
        ldx #6
@pulse: lda #$80
        sta PPUCTRL
        asl a
        sta PPUCTRL
        iny
        dex
        bne @pulse
        snapshot
        jsr sync_vbl
        delay 3 * 29781                  ; NMI off for frames, then on outside vblank: none until the next
        store 0, nmi_count
        bit PPUSTATUS
        delay 5000
        store $80, PPUCTRL
        nop
        nop
        snapshot
        delay 27000
        snapshot
        inc $2000                        ; read-modify-write writes twice: open bus value, then that plus one
        nop
        nop
        snapshot
        jmp finished
