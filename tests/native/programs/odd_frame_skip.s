; With rendering on, every other frame is one dot shorter. Counts the skipped dots by the vblank phase afterwards, for
; the background switched on around the moment of decision (pre-render dot 339) one dot at a time, on one or two
; frames.
.include "console.inc"
; Stores in A how many frames of 29781 cycles it takes until the flag is seen: the phase in dots
measure:
        lda #0
@turn:  delay FRAME - 4 - 4 - 2 - 2 - 3
        clc
        adc #1
        bit PPUSTATUS
        bit PPUSTATUS
        bpl @turn
        rts
main:
        store 0, $10
@turn:  lda $10
        and #15
        jsr sync_vbl_dots                ; about 60 cycles after the flag
        delay 2386 - 60 - 12
        store $08, PPUMASK
        delay 6
        store 0, PPUMASK
        lda $10
        and #16
        beq @once
        delay 3 * FRAME - 1 - 18 - 7     ; the same dots of a frame of the other parity
        store $08, PPUMASK
        delay 6
        store 0, PPUMASK
        delay 9
@once:  delay FRAME - 2392 - 8 - 6
        jsr measure
        ldx $10
        sta LOG,x
        inc $10
        lda $10
        cmp #30
        bne @turn

        ; whole frames with the picture on: 0 to 7 of them, background or sprites
        store 0, $10
@whole: jsr sync_vbl
        lda $10
        and #8
        asl a
        ora #8
        sta PPUMASK
        lda $10
        and #7
        sta $11
@frame: lda $11
        beq @off
        dec $11
        delay FRAME - 3 - 2 - 5 - 3
        jmp @frame
@off:   store 0, PPUMASK
        delay FRAME - 50
        jsr measure
        ldx $10
        sta LOG+$40,x
        inc $10
        lda $10
        cmp #16
        bne @whole
        jmp finished
