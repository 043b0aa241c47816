; The DMC as software sees it: how long a sample of one and of 17 bytes lasts at each of the 16 rates, loop, restart,
; interrupt and what clears it, silencing, and the cycles its reads steal from a counting loop.
CUSTOM_IRQ = 1
.include "console.inc"
irq:    inc irq_count
        pha
        store $0F, $4010                 ; the only ways to clear the flag are this and $4015 writes
        pla
        rti
.segment "SAMPLES"
sample: .res 64, $55
.segment "CODE"
; Counts turns of a polling loop until the sample ends: X low, Y high
count_until_end:
        ldx #0
        ldy #0
@turn:  inx
        bne @same
        iny
@same:  lda APUSTATUS
        and #$10
        bne @turn
        txa
        sty $11
        jsr record
        lda $11
        jsr record
        rts
main:
        store <((sample - $C000) / 64), $4012
        store 0, $10
@rate:  lda $10
        sta $4010
        store 1, $4013                   ; 17 bytes
        store $10, APUSTATUS
        jsr count_until_end
        store 0, $4013                   ; 1 byte
        store $10, APUSTATUS
        jsr count_until_end
        store $10, APUSTATUS             ; again at once: the buffer is full
        jsr count_until_end
        inc $10
        lda $10
        cmp #16
        bne @rate
        ; interrupt flag
        store $8F, $4010
        store $10, APUSTATUS
        delay 2000
        lda APUSTATUS                    ; bit 7
        jsr record
        lda APUSTATUS                    ; reading does not clear it
        jsr record
        store $0F, $4010                 ; this does
        lda APUSTATUS
        jsr record
        store $8F, $4010
        store $10, APUSTATUS
        delay 2000
        store $00, APUSTATUS             ; and this
        lda APUSTATUS
        jsr record
        store $10, APUSTATUS
        delay 2000
        cli
        nop
        nop
        sei
        store $0F, $4010
        lda irq_count
        jsr record
        ; loop never ends, stopping does
        store $4F, $4010
        store $10, APUSTATUS
        delay 9000
        lda APUSTATUS
        jsr record
        store $00, APUSTATUS
        lda APUSTATUS
        jsr record
        ; cycles stolen: a counting loop against the vblank flag while a looped sample plays at each rate
        store 0, $10
@steal: lda $10
        ora #$40
        sta $4010
        store 3, $4013
        store $10, APUSTATUS
        jsr vblank
        ldx #0
        ldy #0
@count: inx
        bne @tick
        iny
@tick:  bit PPUSTATUS
        bpl @count
        txa
        sty $11
        jsr record
        lda $11
        jsr record
        store 0, APUSTATUS
        inc $10
        lda $10
        cmp #16
        bne @steal
        ; and inside stores, reads and read-modify-write
        store $60, $33                   ; a harmless place to write
        store $4F, $4010
        store 3, $4013
        store $10, APUSTATUS
        jsr vblank
        ldx #0
        ldy #0
@mixed: inc $30
        sta $31
        pha
        lda ($32),y
        sta ($32),y
        pla
        inx
        bne @mixed2
        inc $12
@mixed2:
        bit PPUSTATUS
        bpl @mixed
        txa
        jsr record
        lda $12
        jsr record
        jmp finished
vblank: bit PPUSTATUS
:       bit PPUSTATUS
        bpl :-
        rts
