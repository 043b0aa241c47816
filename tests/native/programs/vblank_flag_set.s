; When the vblank flag rises: two reads of $2002, one dot later each turn. The read one dot before sees it
; clear and keeps it clear for the whole frame.
.include "console.inc"
main:
        jsr sync_vbl
        delay FRAME - 35
        lda #0
        sta $10
@turn:  ldx $10
        lda PPUSTATUS                    ; 4
        sta LOG,x                        ; 5
        lda PPUSTATUS                    ; 4
        sta LOG+$100,x                   ; 5
        delay 1000
        lda PPUSTATUS
        ldx $10
        sta LOG+$200,x
        inc $10
        delay FRAME - 3 - 18 - 1000 - 4 - 3 - 5 - 5 - 3 - 2 - 3
        lda $10
        cmp #60
        bne @turn
        jmp finished
