; The four channels of a tune: reading their streams, starting notes, letting them fade.

.import instrument_duty, instrument_volume, instrument_rate, instrument_floor, drum_period, drum_volume

.include "driver.inc"

; Bytes of a stream; anything below $40 is a note.
SET_LENGTH     = $40
SET_INSTRUMENT = $80
PHRASE         = $FC
PHRASE_END     = $FD
LOOP           = $FE
TUNE_END       = $FF

.segment "SOUND"

; A tick for channel X.
.proc tick
        lda channel_high,x
        beq ended
        dec ticks_left,x
        beq next_note
ended:  rts
.endproc

; Reads channel X's stream up to the next note and starts it.
.proc next_note
        lda channel_low,x
        sta stream
        lda channel_high,x
        sta stream + 1
read:
        ldy #0
        lda (stream),y
        inc stream
        bne :+
        inc stream + 1
:       cmp #SET_LENGTH
        bcc note
        cmp #SET_INSTRUMENT
        bcs command
        and #$3F
        sta note_length,x
        jmp read
command:
        cmp #PHRASE
        bcs jumps
        and #$0F
        sta instrument,x
        jmp read
jumps:
        beq phrase
        cmp #LOOP
        beq jump
        bcs end
        lda return_low,x        ; PHRASE_END
        sta stream
        lda return_high,x
        sta stream + 1
        jmp read
phrase:
        lda stream              ; on behind the two bytes of the address
        clc
        adc #2
        sta return_low,x
        lda stream + 1
        adc #0
        sta return_high,x
jump:
        lda (stream),y
        pha
        iny
        lda (stream),y
        sta stream + 1
        pla
        sta stream
        jmp read
end:
        lda #0
        sta volume,x
        sta channel_high,x
        cpx #TRIANGLE
        bne :+
        lda #TRIANGLE_OFF
        sta APU + 8
:       rts

note:
        sta scratch
        lda stream
        sta channel_low,x
        lda stream + 1
        sta channel_high,x
        lda note_length,x
        sta ticks_left,x
        ldy scratch
        bne sounds
        tya                     ; a rest
        sta volume,x
        cpx #TRIANGLE
        bne :+
        lda #TRIANGLE_OFF
        sta APU + 8
:       rts
sounds:
        cpx #TRIANGLE
        beq triangle
        bcs drum
        lda pitch_low - 1,y
        sta period_low,x
        lda pitch_high - 1,y
        sta period_high,x
        ldy instrument,x
        lda instrument_volume,y
        sta volume,x
        lda instrument_rate,y
        sta fade,x
        txa
        beq lead
        lda effect_number       ; an effect has the second pulse: its note waits
        beq second
        rts
lead:
        lda period_low
        sta APU + 2
        lda period_high
        sta APU + 3
        rts
second:
        lda period_low + PULSE_2
        sta APU + 6
        lda period_high + PULSE_2
        sta APU + 7
        rts

triangle:                       ; sounds an octave below a pulse of the same period
        lda pitch_low + 11,y
        sta APU + 10
        lda pitch_high + 11,y
        sta APU + 11
        lda #TRIANGLE_ON
        sta APU + 8
        ldy instrument,x
        lda instrument_rate,y
        sta fade,x
        rts

drum:
        lda drum_volume - 1,y
        sta volume,x
        lda drum_period - 1,y
        ldy effect_number + 1
        bne :+
        sta APU + 14
:       rts
.endproc

; Every frame: notes fade, the triangle's are cut, and the volumes go to the chip.
.proc shape_notes
        ldx #PULSE_2
pulses:
        ldy instrument,x
        dec fade,x
        bne keep
        lda instrument_rate,y
        sta fade,x
        lda volume,x
        cmp instrument_floor,y
        bcc keep
        beq keep
        dec volume,x
keep:
        lda volume,x
        ora instrument_duty,y
        cpx #PULSE_2
        beq second
        sta APU
        jmp pulse_done
second:
        ldy effect_number
        bne pulse_done
        sta APU + 4
pulse_done:
        dex
        bpl pulses

        dec fade + TRIANGLE
        bne noise
        lda #TRIANGLE_OFF
        sta APU + 8
noise:
        ldx volume + NOISE
        beq quiet
        dex
        stx volume + NOISE
quiet:
        lda effect_number + 1
        bne done
        txa
        ora #SILENT
        sta APU + 12
done:
        rts
.endproc

.include "pitches.inc"
