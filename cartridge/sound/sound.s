; The sound driver: two pulse channels, triangle and noise play a tune; effects borrow the second pulse or the noise channel.
; This file is what the program calls; channels.s plays the notes, effects.s the effects, tunes.s says how both are written.

.export sound_init, sound_frame, play_music
.import tune_low, tune_high

.include "driver.inc"

paused         = $068D
music_asked    = $06F5
music_playing  = $06FD

DRIVER_RAM     = $0600
DRIVER_BYTES   = $38
APU_STATUS     = $4015
APU_FRAME      = $4017

.segment "SOUND"

.proc sound_init
        lda #0
        ldx #DRIVER_BYTES - 1
clear:  sta DRIVER_RAM,x
        dex
        bpl clear
        sta music_asked
        sta music_playing
        lda #$40
        sta APU_FRAME           ; no interrupts from the sound chip
        lda #$0F
        sta APU_STATUS
        lda #$08                ; no sweeps
        sta APU + 1
        sta APU + 5
        sta APU + 3             ; starts the length counters, which the $30 below then holds
        sta APU + 7
        sta APU + 11
        sta APU + 15
        jmp hush
.endproc

.proc hush
        lda #SILENT
        sta APU
        sta APU + 4
        sta APU + 12
        lda #TRIANGLE_OFF
        sta APU + 8
        rts
.endproc

; A = the tune, 0 for silence. The tune that plays already goes on. Keeps X and Y.
.proc play_music
        sta music_asked
        cmp music_playing
        beq done
        sta music_playing
        txa
        pha
        tya
        pha
        jsr hush
        ldy music_playing
        beq restored
        lda tune_low - 1,y
        sta stream
        lda tune_high - 1,y
        sta stream + 1
        ldy #0
        lda (stream),y
        sta tempo
        lda #1
        sta tempo_left          ; the first tick is the next frame
        ldx #0
channels:
        iny
        lda (stream),y
        sta channel_low,x
        iny
        lda (stream),y
        sta channel_high,x
        lda #1
        sta ticks_left,x
        lda #0
        sta volume,x
        sta instrument,x
        inx
        cpx #4
        bne channels
restored:
        pla
        tay
        pla
        tax
done:
        rts
.endproc

; Once a frame.
.proc sound_frame
        lda paused
        beq running
        lda hushed
        bne effects
        inc hushed
        jsr hush
        jmp effects
running:
        sta hushed              ; 0
        lda music_playing
        beq effects
        dec tempo_left
        bne no_tick
        lda tempo
        sta tempo_left
        ldx #PULSE_2
        jsr tick                ; both pulses now,
        ldx #PULSE_1
        jsr tick
        jmp sound
no_tick:                        ; bass and drums a frame later, to share out the work
        ldy tempo_left
        iny
        cpy tempo
        bne sound
        ldx #NOISE
        jsr tick
        ldx #TRIANGLE
        jsr tick
sound:
        jsr shape_notes
effects:
        ldx #1
each:   lda effect_number,x
        beq none
        dec effect_wait,x
        bne none
        jsr next_effect_step
none:   dex
        bpl each
        rts
.endproc
