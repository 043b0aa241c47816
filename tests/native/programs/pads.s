; Both pads: strobe, eight buttons, open bus above them; every frame for 60 frames so that the test's own pad movements
; show. At most eight reads between strobes, and none while the strobe is high: there cynes differs from the hardware
; (test_documented_behaviour.py has both).
.include "console.inc"
.macro read_pad address, count
        .local @bit
        ldx #count
@bit:   lda address
        lsr a
        rol $12
        dex
        bne @bit
        lda $12
        jsr record
.endmacro
main:
        store 0, $10
@frame: bit PPUSTATUS
@wait:  bit PPUSTATUS
        bpl @wait
        store 1, PAD1
        store 0, PAD1
        read_pad PAD1, 3
        read_pad PAD1, 5
        read_pad PAD2, 8
        store 2, PAD1                    ; bit 0 only
        store 1, PAD1
        store 4, PAD1
        read_pad PAD2, 8
        lda PAD1                         ; upper bits are open bus
        jsr record
        inc $10
        lda $10
        cmp #60
        beq @end
        jmp @frame
@end:   jmp finished
