; cartridge: mapper=4, prg_size=0x8000, chr_size=0x2000, code_size=0x2000
; The MMC3 scanline counter: clocked by hand through PPU address line 12, then by rendering with the sprites or the
; background in the upper pattern table; when in the frame the interrupt comes, for several latch values.
CUSTOM_IRQ = 1
.include "console.inc"
irq:    inc irq_count
        sta $E000                        ; acknowledge and switch off
        stx $20
        sty $21
        rti
pulse:                                   ; one rising edge of A12
        store $10, PPUADDR
        store $00, PPUADDR
        store $00, PPUADDR
        sta PPUADDR
        rts
.macro pulses n
        ldx #n
:       jsr pulse
        dex
        bne :-
.endmacro
.macro log_irq
        cli
        nop
        nop
        sei
        lda irq_count
        jsr record
        store 0, irq_count
.endmacro
main:
        bit PPUSTATUS
        store 0, PPUADDR
        sta PPUADDR
        store 3, $C000
        sta $C001                        ; reload with the next clock
        sta $E001
        pulses 3
        log_irq
        pulses 1
        log_irq
        sta $E001                        ; the counter goes on from its latch
        pulses 3
        log_irq
        pulses 1
        log_irq
        store 1, $C000
        sta $C001
        sta $E001
        pulses 1
        log_irq
        pulses 1
        log_irq
        store 0, $C000                   ; latch 0: every clock
        sta $C001
        sta $E001
        pulses 1
        log_irq
        sta $E001
        pulses 1
        log_irq
        store 5, $C000
        sta $C001
        sta $E000                        ; counts even when switched off
        pulses 4
        sta $E001
        pulses 2
        log_irq
        sta $E001
        pulses 2
        sta $C001
        pulses 5
        log_irq
        pulses 1
        log_irq
        ; by rendering
        store 0, $10
@case:  bit PPUSTATUS
@vblank:
        bit PPUSTATUS
        bpl @vblank
        ldx $10
        lda controls,x
        sta PPUCTRL
        store 0, PPUADDR
        sta PPUADDR
        store $18, PPUMASK
        lda latches,x
        sta $C000
        sta $C001
        sta $E000
        sta $E001
        cli
        ldx #0
        ldy #0
        lda irq_count
@count: inx
        bne @same
        iny
        cpy #13
        beq @end
@same:  cmp irq_count
        beq @count
@end:   sei
        sta $E000
        lda $20
        jsr record
        lda $21
        jsr record
        lda irq_count
        jsr record
        lda #0
        sta irq_count
        sta $20
        sta $21
        sta PPUMASK
        inc $10
        lda $10
        cmp #18
        bne @case
        jmp finished
controls:
        .byte $08, $08, $08, $08, $08, $10, $10, $10, $10, $10, $00, $18, $20, $28, $30, $08, $10, $08
latches:
        .byte 0, 1, 10, 100, 239, 0, 1, 10, 100, 240, 10, 10, 10, 10, 10, 241, 241, 200
