; The tunes and effects of Antidote, composed for it.
;
; A tune: frames a tick, then the streams of pulse 1, pulse 2, triangle and noise. A stream is a list of bytes:
;   a note (notes.inc; on the noise channel a drum) · R a rest · L1-L16 the length of what follows, in ticks ·
;   an instrument · phrase NAME: plays that phrase and comes back · phrase_end · loop NAME: goes there for good · tune_end.
; Phrases do not call phrases.

.export tune_low, tune_high, effect_low, effect_high, effect_channel
.export instrument_duty, instrument_volume, instrument_rate, instrument_floor, drum_period, drum_volume

.include "notes.inc"

R = 0
.repeat 16, i
.ident(.concat("L", .string(i + 1))) = $41 + i
.endrepeat

.macro phrase name
        .byte $FC
        .addr name
.endmacro
.macro phrase_end
        .byte $FD
.endmacro
.macro loop name
        .byte $FE
        .addr name
.endmacro
.macro tune_end
        .byte $FF
.endmacro
.macro tune ticks, pulse_1, pulse_2, triangle, noise
        .byte ticks
        .addr pulse_1, pulse_2, triangle, noise
.endmacro

.segment "SOUND"

; Instruments: tone colour, first volume, frames until it falls by one (triangle: until the note is cut), last volume.
LEAD  = $80                     ; sings
PLUCK = $81                     ; short and soft, for chords
BELL  = $82                     ; long fade
BASS  = $83                     ; triangle, separated notes
LONG  = $84                     ; triangle, joined notes
instrument_duty:   .byte $B0, $70, $B0, 0, 0
instrument_volume: .byte 9, 6, 8, 0, 0
instrument_rate:   .byte 5, 3, 7, 9, 60
instrument_floor:  .byte 4, 0, 0, 0, 0

; Drums: the noise's period and first volume; it falls by one a frame.
KICK  = 1
SNARE = 2
HAT   = 3
drum_period: .byte $0D, $06, $02
drum_volume: .byte 8, 7, 4

tune_low:  .lobytes title, tune_a, tune_b, clear, over, won, night
tune_high: .hibytes title, tune_a, tune_b, clear, over, won, night

; ------------------------------------------------------------------------------------------- broken chords and bass lines
; Eight quavers each.
chord_am: .byte C4, E4, A4, E4, C4, E4, A4, E4, $FD
chord_f:  .byte C4, F4, A4, F4, C4, F4, A4, F4, $FD
chord_c:  .byte C4, E4, G4, E4, C4, E4, G4, E4, $FD
chord_g:  .byte B3, D4, G4, D4, B3, D4, G4, D4, $FD
chord_e:  .byte B3, E4, Gs4, E4, B3, E4, Gs4, E4, $FD
chord_em: .byte B3, E4, G4, E4, B3, E4, G4, E4, $FD
chord_dm: .byte A3, D4, F4, D4, A3, D4, F4, D4, $FD
bass_a:   .byte A2, A3, A2, A3, A2, A3, E3, A3, $FD
bass_f:   .byte F2, F3, F2, F3, F2, F3, C3, F3, $FD
bass_c:   .byte C3, C4, C3, C4, C3, C4, G3, C4, $FD
bass_g:   .byte G2, G3, G2, G3, G2, G3, D3, G3, $FD
bass_e:   .byte E2, E3, E2, E3, E2, E3, B2, E3, $FD
bass_d:   .byte D3, D4, D3, D4, D3, D4, A3, D4, $FD

; ------------------------------------------------------------------------------------------------------------------ title
title:  tune 7, title_lead, title_chords, title_bass, title_drums
title_lead:
        .byte LEAD
        .byte L2,G4,C5, L4,E5, L2,D5,C5, L4,E5
        .byte L2,A4,C5, L4,E5, L2,D5,C5, L4,A4
        .byte L2,F4,A4, L4,C5, L2,D5,C5, L4,A4
        .byte L2,G4,B4, L4,D5, L8,G5
        .byte L4,E5,G5, L2,E5,D5, L4,C5
        .byte L4,C5,E5, L2,C5,B4, L4,A4
        .byte L4,A4,C5,B4,D5
        .byte L6,C5, L2,G4, L8,C5
        loop title_lead
title_chords:
        .byte PLUCK, L2
        phrase chord_c
        phrase chord_am
        phrase chord_f
        phrase chord_g
        phrase chord_c
        phrase chord_am
        .byte C4,F4,A4,F4, B3,D4,G4,D4
        phrase chord_c
        loop title_chords
title_bass:
        .byte BASS, L4
        .byte C3,G3,C3,G3, A2,E3,A2,E3, F2,C3,F2,C3, G2,D3,G2,B2
        .byte C3,G3,C3,G3, A2,E3,A2,E3, F2,C3,G2,D3, C3,G2,C3,R
        loop title_bass
title_drums:
        .byte L4, KICK,HAT,SNARE,HAT
        loop title_drums

; ----------------------------------------------------------------------------------- tune A: quick, for people in a hurry
tune_a: tune 6, a_lead, a_chords, a_bass, a_drums
a_lead:
        .byte LEAD
        .byte L4,E5, L2,C5,D5, L4,E5,A4
        .byte L4,F5, L2,E5,D5, L4,C5,A4
        .byte L4,G5, L2,E5,F5, L4,G5,C5
        .byte L4,D5, L2,B4,C5, L6,D5, L2,R
        .byte L2,E5,E5, L4,A5, L2,G5,F5, L4,E5
        .byte L2,F5,F5, L4,A5, L2,G5,F5, L4,C5
        .byte L2,B4,C5, L4,D5,G5, L2,F5,D5
        .byte L6,E5, L2,D5,B4,Gs4, L4,E4

        .byte L2,C5,E5, L4,G5,E5,C5
        .byte L2,B4,D5, L4,G5,D5,B4
        .byte L2,A4,C5, L4,E5,A5,E5
        .byte L4,G5, L2,Fs5,E5, L8,B4
        .byte L3,A5, L1,A5, L2,G5,F5, L4,C5,F5
        .byte L3,G5, L1,G5, L2,F5,E5, L4,C5,E5
        .byte L2,F5,E5, L4,D5,A4,D5
        .byte L4,E5,Gs5,B5,E5
        loop a_lead
a_chords:
        .byte PLUCK, L2
        phrase chord_am
        phrase chord_f
        phrase chord_c
        phrase chord_g
        phrase chord_am
        phrase chord_f
        phrase chord_g
        phrase chord_e
        phrase chord_c
        phrase chord_g
        phrase chord_am
        phrase chord_em
        phrase chord_f
        phrase chord_c
        phrase chord_dm
        phrase chord_e
        loop a_chords
a_bass:
        .byte BASS, L2
        phrase bass_a
        phrase bass_f
        phrase bass_c
        phrase bass_g
        phrase bass_a
        phrase bass_f
        phrase bass_g
        phrase bass_e
        phrase bass_c
        phrase bass_g
        phrase bass_a
        phrase bass_e
        phrase bass_f
        phrase bass_c
        phrase bass_d
        phrase bass_e
        loop a_bass
a_drums:
        .byte L2, KICK,HAT,SNARE,HAT, KICK,KICK,SNARE,HAT
        .byte KICK,HAT,SNARE,HAT, KICK,HAT,SNARE, L1,HAT,HAT
        loop a_drums

; -------------------------------------------------------------- tune B: swings (three ticks a beat), for the night shift
tune_b: tune 9, b_lead, b_chords, b_bass, b_drums
b_lead:
        .byte LEAD
        .byte L2,A4, L1,C5, L3,D5, L2,F5, L1,D5, L3,C5
        .byte L2,B4, L1,D5, L3,F5, L6,D5
        .byte L2,A4, L1,C5, L3,D5, L2,A5, L1,G5, L3,F5
        .byte L2,E5, L1,Cs5, L3,E5, L6,A4
        .byte L2,As4, L1,D5, L3,G5, L2,F5, L1,D5, L3,As4
        .byte L2,A4, L1,D5, L3,F5, L2,E5, L1,D5, L3,A4
        .byte L2,Cs5, L1,E5, L3,G5, L2,As5, L1,A5, L3,E5
        .byte L3,D5,R, L2,A4, L1,C5, L3,D5

        .byte L6,F5, L2,E5, L1,F5, L3,D5
        .byte L6,B4, L2,A4, L1,B4, L3,G4
        .byte L6,A4, L2,C5, L1,D5, L3,F5
        .byte L2,E5, L1,E5, L3,Cs5, L6,A4
        .byte L2,G5, L1,F5, L3,D5, L2,As4, L1,D5, L3,G4
        .byte L2,F5, L1,E5, L3,D5, L2,A4, L1,D5, L3,F4
        .byte L2,E4, L1,G4, L3,As4, L2,Cs5, L1,E5, L3,G5
        .byte L6,D5,R
        loop b_lead
b_off_dm: .byte L2,R, L1,F4, L2,R, L1,A4, L2,R, L1,F4, L2,R, L1,C5, $FD
b_off_g:  .byte L2,R, L1,F4, L2,R, L1,B4, L2,R, L1,F4, L2,R, L1,B4, $FD
b_off_a:  .byte L2,R, L1,G4, L2,R, L1,Cs5, L2,R, L1,G4, L2,R, L1,Cs5, $FD
b_off_gm: .byte L2,R, L1,F4, L2,R, L1,As4, L2,R, L1,F4, L2,R, L1,D5, $FD
b_chords:
        .byte PLUCK
        phrase b_off_dm
        phrase b_off_g
        phrase b_off_dm
        phrase b_off_a
        phrase b_off_gm
        phrase b_off_dm
        phrase b_off_a
        phrase b_off_dm
        loop b_chords
b_bass:
        .byte LONG, L3
        .byte D3,F3,A3,C4, G2,B2,D3,F3, D3,C3,A2,F2, A2,Cs3,E3,G3
        .byte G2,As2,D3,F3, D3,F3,A3,Gs3, A3,G3,E3,Cs3, D3,A2,D3,C3
        loop b_bass
b_drums:
        .byte L3,KICK, L2,HAT, L1,HAT, L3,SNARE, L2,HAT, L1,HAT
        loop b_drums

; ---------------------------------------------------------------------------------------------------------- short ones
clear:  tune 5, clear_lead, clear_second, clear_bass, clear_drums
clear_lead:
        .byte LEAD, L2,C5,E5,G5, L4,C6, L2,G5, L3,A5, L1,A5, L2,B5,D6, BELL, L16,C6
        tune_end
clear_second:
        .byte LEAD, L2,E4,G4,C5, L4,E5, L2,C5, L3,F5, L1,F5, L2,G5,G5, BELL, L16,G5
        tune_end
clear_bass:
        .byte LONG, L6,C3, L6,C3, L4,F3,G3, L8,C3
        tune_end
clear_drums:
        .byte L2, KICK,HAT,HAT,SNARE,HAT,HAT, KICK,HAT,SNARE,SNARE,KICK
        tune_end

over:   tune 8, over_lead, over_second, over_bass, over_drums
over_lead:
        .byte BELL, L4,E5,D5,C5,B4, L3,A4, L1,Gs4, L12,A4
        tune_end
over_second:
        .byte BELL, L4,C5,B4,A4,Gs4, L3,E4, L1,D4, L12,C4
        tune_end
over_bass:
        .byte LONG, L4,A3,G3,F3,E3, L4,F3, L12,A2
        tune_end
over_drums:
        .byte L4, HAT,HAT,HAT,HAT,SNARE,KICK
        tune_end

won:    tune 6, won_lead, won_second, won_bass, won_drums
won_lead:
        .byte LEAD, L2,G4, L1,G4,G4, L4,C5, L2,E5,C5, L4,G5
        .byte L2,A5, L1,A5,A5, L4,F5, L2,G5,A5, L4,B5
        .byte L3,C6, L1,B5, L4,C6, BELL, L16,E6
        tune_end
won_second:
        .byte LEAD, L2,E4, L1,E4,E4, L4,G4, L2,C5,G4, L4,E5
        .byte L2,F5, L1,F5,F5, L4,C5, L2,D5,F5, L4,G5
        .byte L3,G5, L1,G5, L4,E5, BELL, L16,C6
        tune_end
won_bass:
        .byte BASS, L4,C3,C3,G2,C3, F3,F3,G3,G2, C3,G2, LONG, L8,C3
        tune_end
won_drums:
        .byte L4,KICK,SNARE,KICK,SNARE, KICK,SNARE,KICK, L2,SNARE,SNARE, L4,KICK,SNARE,KICK
        tune_end

; A lullaby in three for the sleeping town.
night:  tune 10, night_lead, night_second, night_bass, night_drums
night_lead:
        .byte BELL
        .byte L4,D5, L2,B4, L4,G4, L2,A4, L4,B4, L2,D5, L6,A4
        .byte L4,C5, L2,A4, L4,Fs4, L2,G4, L4,A4, L2,C5, L6,B4
        .byte L4,E5, L2,C5, L4,G4, L2,C5, L4,D5, L2,B4, L6,G4
        .byte L4,A4, L2,B4, L4,C5, L2,Fs4, L6,G4, L6,R
        loop night_lead
night_second:
        .byte PLUCK, L2
        .byte R,D4,B3, R,D4,B3, R,D4,B3, R,D4,C4
        .byte R,D4,C4, R,D4,C4, R,D4,C4, R,D4,B3
        .byte R,E4,C4, R,E4,C4, R,D4,B3, R,D4,B3
        .byte R,D4,C4, R,D4,C4, R,D4,B3, R,D4,B3
        loop night_second
night_bass:
        .byte LONG, L6
        .byte G2,G2,G2,Fs2, D3,D3,Fs2,G2, C3,C3,G2,E2, D3,D3,G2,G2
        loop night_bass
night_drums:
        tune_end

; --------------------------------------------------------------------------------------------------------------- effects
; Steps of three bytes: frames, tone colour and volume, note (noise: period); a 0 ends it.
TONE  = 0
CRACK = 1
effect_low:     .lobytes fx_move, fx_rotate, fx_lock, fx_match, fx_virus, fx_attack, fx_win, fx_lose, fx_step, fx_confirm, fx_pause
effect_high:    .hibytes fx_move, fx_rotate, fx_lock, fx_match, fx_virus, fx_attack, fx_win, fx_lose, fx_step, fx_confirm, fx_pause
effect_channel: .byte TONE, TONE, CRACK, TONE, TONE, CRACK, TONE, TONE, TONE, TONE, TONE

fx_move:    .byte 1,$74,C5, 1,$72,C5, 0
fx_rotate:  .byte 2,$75,E5, 2,$73,A5, 0
fx_lock:    .byte 2,$39,$0C, 2,$36,$0E, 2,$33,$0F, 0
fx_match:   .byte 3,$B7,G5, 3,$B7,C6, 3,$B5,E6, 3,$B3,E6, 0
fx_virus:   .byte 2,$78,C6, 2,$78,Gs5, 2,$78,D6, 2,$77,As5, 2,$76,E6, 2,$74,G6, 3,$72,C7, 0
fx_attack:  .byte 2,$3A,$08, 2,$39,$06, 2,$38,$04, 3,$37,$02, 3,$35,$01, 4,$33,$00, 0
fx_win:     .byte 4,$B8,C5, 4,$B8,E5, 4,$B8,G5, 10,$B8,C6, 6,$B4,C6, 0
fx_lose:    .byte 6,$B8,E4, 6,$B8,Ds4, 6,$B8,D4, 14,$B7,Cs4, 8,$B3,Cs4, 0
fx_step:    .byte 2,$75,A5, 2,$72,A5, 0
fx_confirm: .byte 3,$77,C5, 3,$77,G5, 4,$75,C6, 3,$72,C6, 0
fx_pause:   .byte 4,$B7,G5, 4,$B7,D5, 4,$B7,G5, 6,$B4,D5, 0
