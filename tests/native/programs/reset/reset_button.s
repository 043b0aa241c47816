; What the reset button leaves and what it changes: CPU registers, APU channels, the frame counter's mode and phase,
; the PPU's registers. RAM survives, so the log goes on from boot to boot; each boot prepares another state for the
; next reset.
CUSTOM_RESET = 1
.include "console.inc"
boots   = $50
magic   = $51
reset:
        sta $60                          ; before anything else: the registers as reset left them
        stx $61
        sty $62
        php
        pla
        sta $63
        tsx
        stx $64
        cld
        lda APUSTATUS
        sta $65
        lda PPUSTATUS
        sta $66
        lda magic
        cmp #$5A
        beq @warm
        store $5A, magic
        store 0, boots
        store <LOG, log_pointer
        store >LOG, log_pointer+1
@warm:  ; the frame interrupt after reset, one cycle later each boot
        lda boots
        jsr delay_a
        ldx #0
        ldy #0
@irq:   inx
        bne @same
        iny
        cpy #14
        beq @none
@same:  bit APUSTATUS
        bvc @irq
@none:  stx $67
        sty $68
        ldx #0
@log:   stx $69
        lda $60,x
        jsr record
        ldx $69
        inx
        cpx #9
        bne @log
        ; do the channels still count after reset?
        store $0F, APUSTATUS
        store $18, $4003
        sta $4007
        sta $400B
        sta $400F
        lda APUSTATUS
        jsr record
        store $C0, APUFRAME
        store $C0, APUFRAME
        lda APUSTATUS
        jsr record
        ; prepare the next one
        ldx boots
        lda modes,x
        sta APUFRAME
        store $1F, APUSTATUS
        store $30, $4000
        sta $4004
        sta $400C
        store $F8, $4003
        sta $4007
        sta $400B
        sta $400F
        store $4F, $4010
        store 3, $4013
        store $1F, APUSTATUS
        bit PPUSTATUS
        store $23, PPUADDR               ; the write toggle stays half-way
        lda controls,x
        sta PPUCTRL
        store $1E, PPUMASK
        inc boots
        cli
        lda boots
        and #1
        beq @even
        sei
@even:  lda #$12
        ldx #$34
        ldy #$56
        store $A5, done_flag
        lda #$9A
        sec
@wait:  jmp @wait
modes:  .byte $00, $80, $40, $C0, $00, $00, $80, $40, $00, $00, $00, $00
controls:
        .byte $80, $00, $83, $04, $80, $80, $00, $10, $80, $00, $80, $00
main:
