; Every shape of waiting loop a game uses, each followed by work whose result depends on the exact cycle it ended at: a
; count of turns until the next vblank flag, and the phase of the APU's frame interrupt.
CUSTOM_NMI = 1
.include "console.inc"
flag    = $40
ticks   = $41
counter = $0142
nmi:    pha
        txa
        pha
        tsx
        lda $0103,x                      ; the flags the loop had made, and where it was
        sta $48
        lda $0104,x
        sta $49
        pla
        tax
        inc flag
        inc counter
        dec ticks
        inc $43
        lda $44
        sta OAMDMA
        pla
        rti
; Turns until vblank, and the frame interrupt flag: X and Y
measure:
        store 0, PPUCTRL
        bit PPUSTATUS
        ldx #0
        ldy #0
@turn:  inx
        bne @same
        iny
@same:  bit PPUSTATUS
        bpl @turn
        txa
        sty $45
        jsr record
        lda $45
        jsr record
        lda APUSTATUS
        jsr record
        lda $48
        jsr record
        lda $49
        jsr record
        bit PPUSTATUS
        store $80, PPUCTRL
        store 0, flag
        sta counter
        rts
main:
        lda #$20
        ldx #7
        jsr fill_name_table
        lda #$28
        ldx #9
        jsr fill_name_table
        store 6, $44
        store 0, APUFRAME
        store 3, $10
@all:   store $80, PPUCTRL

        store 0, flag                    ; a zero page flag
@zero:  lda flag
        beq @zero
        jsr measure

        lda #0                           ; an absolute one, compared
        sta counter
@abs:   lda counter
        cmp #2
        bne @abs
        jsr measure

        lda counter                      ; wait for a change
@same:  cmp counter
        beq @same
        jsr measure

        store 3, ticks                   ; BIT on a counter that goes negative
@bit:   bit ticks
        bpl @bit
        jsr measure

        ldx flag
@x:     cpx flag
        beq @x
        jsr measure

        ; flags before the loop differ from those its own instructions make: an interrupt pushes the latter
        store 0, flag
        clc
@carry: lda flag
        cmp #0
        beq @carry
        jsr measure
        store $C0, $47
        store 0, flag
        bit $47                          ; V and N
        sec
@over:  bit flag
        bvs @clv
        beq @over
@clv:   jsr measure
        store 0, flag
        lda #$55
        ldx #$AA
        clc
@cpx:   ldx flag
        cpx #0
        beq @cpx
        jsr measure
        store 0, flag
        lda #$55
@ldy:   ldy flag
        beq @ldy
        jsr record                       ; A was not touched
        jsr measure

        store 0, flag                    ; LDA flag, AND, BEQ
@and:   lda flag
        and #2
        beq @and
        jsr measure

        store 0, PPUCTRL                 ; polling $2002
        bit PPUSTATUS
@poll:  lda PPUSTATUS
        bpl @poll
        jsr measure
        store 0, PPUCTRL
@poll2: bit PPUSTATUS
        bpl @poll2
        jsr measure
        store 0, PPUCTRL
@poll3: lda PPUSTATUS
        and #$80
        beq @poll3
        jsr measure

        ; sprite 0: wait until the old hit is gone, then for the new one
        store 0, PPUCTRL
        bit PPUSTATUS
@vbl:   bit PPUSTATUS
        bpl @vbl
        store $1E, PPUMASK
@gone:  lda PPUSTATUS
        and #$40
        bne @gone
@hit:   lda PPUSTATUS
        and #$40
        beq @hit
        txa
        jsr measure
        store 0, PPUCTRL
@gone2: bit PPUSTATUS
        bvs @gone2
@hit2:  bit PPUSTATUS
        bvc @hit2
        jsr measure
        store 0, PPUMASK

        ; a loop that counts while it waits, and one that works while it waits: neither is idle
        store 0, flag
        sta $46
@busy:  inc $46
        lda flag
        beq @busy
        lda $46
        jsr record
        store 0, flag
        ldy #0
@walk:  iny
        lda flag
        beq @walk
        tya
        jsr record
        jsr measure

        ; the APU
@apu:   bit APUSTATUS
        bvc @apu
        jsr measure
@wait1: lda APUSTATUS
        and #$40
        beq @wait1
        jsr measure

        ; flags reach the code behind the loop
        store 0, flag
        sec
@flags: lda flag
        beq @flags
        php
        pla
        jsr record
        store 0, flag
        ldx #7
@txa:   txa
        ldy flag
        beq @txa
        jsr record
        jsr measure
        dec $10
        beq @last
        jmp @all
@last:  ; games end in JMP self and live in the NMI
        store $A5, done_flag
@self:  jmp @self
