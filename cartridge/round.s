; Modes 3, 5 and 7: how a round begins, and how it ends by a bottle that is full.
.include "memory.inc"
.export init_round, topped_out_frame, end_frame, start_music, match_winner
.import fill_reserve, reserve_first, reserve_second
.import enter_options, leave_attract, keep_top_score, play_music, play_effect

END_1P          = 194   ; frames of the end screen before START counts
END_MATCH       = 193
END_ROUND       = 82
LEAVE_ROUND     = 17    ; frames from START to the next round

.segment "CODE"
init_round:
        jsr fill_reserve
        jsr inherit_bytes
        ldx #SEAT_1
        jsr init_seat
        ldx #SEAT_2
        jsr init_seat
        lda #EMPTY
        ldx #127
@cell:
        sta field_1,x
        sta field_2,x
        dex
        bpl @cell
        lda #15
        sta sweep_row           ; show the empty bottles
        lda #0
        ldx #5
@germ:
        sta germ_counts,x
        dex
        bpl @germ
        sta winner
        sta who_failed
        sta wait_counter
        sta phase
        sta throw_index
        sta player_pad
        lda #MODE_VIRUSES
        sta mode
        jmp start_music

; The auto-repeat counter and the attack colours survive from round to round: both seats take over those of the seat
; processed last.
inherit_bytes:
        ldx #4
@byte:
        ldy inherited,x
        lda players
        lsr a
        bcs @from_first
        lda $0380,y
        sta $0300,y
        bcc @next
@from_first:
        lda $0300,y
        sta $0380,y
@next:
        dex
        bpl @byte
        rts
inherited:
        .byte <repeat_delay, <attack_colours, <attack_colours + 1, <attack_colours + 2, <attack_colours + 3

init_seat:
        stx scratch             ; seat
        ldy #0
@byte:
        lda round_start,y
        cmp #KEEP
        beq :+
        sta $0300,x
:       inx
        iny
        cpy #SEAT_BYTES
        bne @byte
        ldx scratch
        ldy reserve
        lda reserve_first,y
        sta first_colour,x
        lda reserve_second,y
        sta second_colour,x
        ldy reserve + 1
        lda reserve_first,y
        sta next_first,x
        lda reserve_second,y
        sta next_second,x
        lda level,x             ; 4 viruses, and 4 more per level up to 20
        cmp #20
        bcc :+
        lda #20
:       asl a
        asl a
        clc
        adc #4
        sta viruses_to_place,x
        rts

KEEP = $FE
round_start:
        .byte $FF,    0,    0,    0,    0,    3,   15,    0     ; 00 redraw row, colours, x, y, settle step
        .byte   0,    0,    0, KEEP,    0,    0,    0,    0     ; 08 speed stays
        .byte   1,    0,    0, KEEP,    0,    0, KEEP,    6     ; 10 repeat delay and level stay, action 6
        .byte   0,    0,    0,    0,    0,    0, KEEP,    0     ; 18 wins stay
        .byte   0,    0,    0,    2,    0,    0,    2,    2     ; 20 capsule sizes, reserve index
        .byte   0, KEEP, KEEP, KEEP, KEEP,    0,    0,    0     ; 28 attack colours stay

start_music:
        lda attract
        bne @done               ; the title tune goes on
        ldy music
        cpy #2
        lda #TUNE_SILENCE
        bcs :+
        tya
        adc #TUNE_A
:       jmp play_music
@done:
        rts

; Mode 5, one frame: who failed, and the other one's win.
topped_out_frame:
        lda #0
        sta wait_counter
        sta phase
        sta who_failed
        lda #MODE_END
        sta mode
        lda players
        lsr a
        bcs @alone
        lda topped_out + SEAT_1
        beq @second_failed
        lda topped_out + SEAT_2
        bne @sound              ; both: a draw
        inc who_failed
        inc wins + SEAT_2
        bne @sound
@second_failed:
        lda #2
        sta who_failed
        inc wins + SEAT_1
        bne @sound
@alone:
        inc who_failed
        jsr keep_top_score
@sound:
        lda #15
        sta sweep_row           ; shows the capsule that found no room
        lda #TUNE_OVER
        jmp play_music

; Mode 7, the end screen: START leads to the next round, or after a game or a match to the options.
end_frame:
        lda phase
        beq @waiting
        dec wait_counter
        bne @done
        lda #0
        sta phase
        lda #MODE_INIT
        sta mode
@done:
        rts
@waiting:
        lda wait_counter
        cmp #255
        beq @limit
        inc wait_counter
        lda wait_counter
        cmp #1
        bne @limit
        jsr name_the_winner
@limit:
        jsr match_winner
        ldy #END_1P
        lda players
        lsr a
        bcs @check
        ldy #END_MATCH
        txa
        bne @check
        ldy #END_ROUND
@check:
        cpy wait_counter
        beq :+
        bcs @done
:       lda attract
        bne @attract_over
        lda pad_pressed
        cmp #PAD_START
        bne @done
        cmp pad_held
        bne @done
        cpy #END_ROUND
        beq @next_round
        lda #EFFECT_CONFIRM
        jsr play_effect
        jmp enter_options
@next_round:
        inc phase
        lda #LEAVE_ROUND
        sta wait_counter
        rts
@attract_over:
        jmp leave_attract

name_the_winner:
        ldx #2
        lda players
        lsr a
        bcs @store              ; the end of a game alone counts as the other one's
        jsr match_winner
        txa
        beq @done
@store:
        stx winner
@done:
        rts

; X = who has all the wins a match needs: 1, 2, or 0.
match_winner:
        lda wins_needed
        ldx #1
        cmp wins + SEAT_1
        beq @done
        inx
        cmp wins + SEAT_2
        beq @done
        ldx #0
@done:
        rts
