; The frame counter: when its interrupt flag rises after a write to $4017 (both CPU parities), what clears it, and when
; each length counter clock comes in both modes.
.include "console.inc"
; $12/$13: cycles from the $4017 write of A to the read, in steps of one; $10 counts. Logs $4015 read twice.
.macro sweep mode, from, count, preset
        store mode, $14
        store preset, $15
        store 0, $10
:       jsr prepare
        lda $10
        and #1
        eor #1
        clc
        adc $10
        jsr delay_a                      ; both parities of the write
        lda $14
        sta APUFRAME
        delay (from) - 52
        lda $10
        jsr delay_a
        lda APUSTATUS
        jsr record
        lda APUSTATUS
        jsr record
        inc $10
        lda $10
        cmp #count
        bne :-
.endmacro
; All four length counters at the preset table entry, the frame counter quiet
prepare:
        store $40, APUFRAME
        store $0F, APUSTATUS
        lda #$10
        sta $4000
        sta $4004
        sta $400C
        store $7F, $4001
        sta $4005
        store $00, $4008
        lda $15
        sta $4003
        sta $4007
        sta $400B
        sta $400F
        rts
main:
        sweep $00, 29828, 12, $08                ; the interrupt flag: 29828 to 29830 after the write
        sweep $40, 29828, 4, $08
        sweep $80, 29828, 4, $08
        ; entry 3 is length 2: it ends with the second half-frame clock
        sweep $00, 14916, 10, $18                 ; still there after the first
        sweep $00, 29832, 10, $18
        sweep $80, 14916, 10, $18                 ; mode 1 clocks at once
        sweep $80, 7460, 10, $18
        sweep $C0, 37284, 10, $28                ; length 4 ends with the third half-frame
        ; reading, and writing $4017, clears the flag; $80 stops it
        store $00, APUFRAME
        delay 29840
        lda APUSTATUS
        jsr record
        lda APUSTATUS
        jsr record
        delay 29840
        store $00, APUFRAME                      ; does not clear
        lda APUSTATUS
        jsr record
        delay 29840
        store $80, APUFRAME                      ; does not either
        lda APUSTATUS
        jsr record
        store $00, APUFRAME
        delay 29840
        store $40, APUFRAME
        lda APUSTATUS
        jsr record
        jmp finished
