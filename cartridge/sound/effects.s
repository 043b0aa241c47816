; Effects: one at a time on the second pulse channel and one on the noise, over whatever tune plays.

.export play_effect
.import effect_low, effect_high, effect_channel

.include "driver.inc"

.segment "SOUND"

; A = the effect. One with a lower number does not interrupt one with a higher. Keeps X and Y.
.proc play_effect
        sta scratch
        txa
        pha
        tya
        pha
        ldy scratch
        ldx effect_channel - 1,y
        tya
        cmp effect_number,x
        bcc done
        sta effect_number,x
        lda effect_low - 1,y
        sta effect_at_low,x
        lda effect_high - 1,y
        sta effect_at_high,x
        lda #1
        sta effect_wait,x
done:
        pla
        tay
        pla
        tax
        rts
.endproc

; The next step of effect X: frames (0: the end), volume, and a note for the pulse or a period for the noise.
.proc next_effect_step
        lda effect_at_low,x
        sta stream
        clc
        adc #3
        sta effect_at_low,x
        lda effect_at_high,x
        sta stream + 1
        adc #0
        sta effect_at_high,x
        ldy #0
        lda (stream),y
        beq over
        sta effect_wait,x
        iny
        lda (stream),y
        iny
        cpx #0
        bne noise
        sta APU + 4
        lda (stream),y
        tay
        lda pitch_low - 1,y
        sta APU + 6
        lda pitch_high - 1,y
        sta APU + 7
        rts
noise:
        sta APU + 12
        lda (stream),y
        sta APU + 14
        rts
over:
        sta effect_number,x     ; 0
        lda #SILENT             ; a tune that plays sets its own volume again with the next frame
        cpx #0
        bne noise_over
        sta APU + 4
        lda period_low + PULSE_2
        sta APU + 6
        lda period_high + PULSE_2
        sta APU + 7
        rts
noise_over:
        sta APU + 12
        rts
.endproc
