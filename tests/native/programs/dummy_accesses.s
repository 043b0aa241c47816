; Reads and writes the 6502 makes on the way: indexed reads over a page end touch the address without the carry, indexed
; stores and read-modify-write always do, read-modify-write writes the old value first. $2002 (clears its flag), $2007
; (moves the address) and $4015 (clears the frame interrupt flag) tell.
.include "console.inc"
.macro with_flag code                    ; did the access itself see the vblank flag, and is it still there?
        jsr in_vblank
        code
        jsr record_y
        lda PPUSTATUS
        jsr record_y
.endmacro
in_vblank:                               ; 500 cycles into vblank, its flag unread
        stx $30
        sty $31
        bit PPUSTATUS
:       bit PPUSTATUS
        bpl :-
        delay FRAME + 500
        ldx $30
        ldy $31
        lda #0
        rts
record_y:
        sty $31
        jsr record
        ldy $31
        rts
.macro moves code                        ; how far did $2007's address move? CHR bytes tell
        vram $0010
        code
        lda PPUDATA
        jsr record_y
        lda PPUDATA
        jsr record_y
        lda PPUDATA
        jsr record_y
.endmacro
main:
        ldx #$22
        with_flag {lda $2000,x}
        with_flag {lda $20E0,x}          ; crosses: touches $2002 of the wrong page, then $2102
        with_flag {sta $20E0,x}
        with_flag {lda $1FE0,x}
        with_flag {lda $1FF0,x}
        ldx #$02
        with_flag {sta $2000,x}
        with_flag {inc $2000,x}
        with_flag {lda $2000,x}
        store $E0, $20
        store $20, $21
        ldy #$22
        with_flag {lda ($20),y}
        with_flag {sta ($20),y}
        with_flag {.byte $B3, $20}       ; LAX ($20),y
        with_flag {.byte $03, $1E}       ; SLO ($1E,x)
        with_flag {.byte $1C, $E0, $20}  ; NOP $20E0,x
        ldx #$27
        moves {lda $20E0,x}
        moves {sta $20E0,x}
        moves {inc $20E0,x}
        moves {lda $2000,x}
        moves {sta $2000,x}
        moves {inc $2007}
        moves {asl $2007}
        moves {lda ($20),y}
        ldy #$27
        moves {lda ($20),y}
        moves {sta ($20),y}
        moves {.byte $1F, $E0, $20}      ; SLO $20E0,x
        moves {.byte $D3, $20}           ; DCP ($20),y
        moves {.byte $9C, $E0, $20}      ; SHY
        moves {.byte $9E, $E0, $20}      ; SHX
        ; $4015's interrupt flag
        store 0, APUFRAME
        ldx #$15
        delay 29840
        lda $4000,x
        jsr record
        delay 29840
        lda $3FFF,x
        lda $4015
        jsr record
        delay 29840
        ldx #$16
        lda $40FF,x                      ; touches $4015 without the carry
        lda $4015
        jsr record
        delay 29840
        ldx #$15
        sta $4000,x
        lda $4015
        jsr record
        delay 29840
        inc $4015
        lda $4015
        jsr record
        jmp finished
