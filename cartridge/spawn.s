; Actions 2 and 6: attacks are sent and received, then the next capsule comes. X = seat.
.include "memory.inc"
.export attack, spawn
.import reserve_first, reserve_second, capsule_halves, play_effect

THROW_FRAMES    = 22
HIGHEST_SPEED_UP = 49

.segment "CODE"
; ---- action 2 ---------------------------------------------------------------------------------------------------
attack:
        lda players
        lsr a
        bcs @pass
        lda combo,x
        cmp #2
        bcc @receive
        clc
        adc attack_size,x
        sta attack_size,x
        lda #0
        sta combo,x
        lda #EFFECT_ATTACK
        jsr play_effect
@receive:
        txa
        eor #SEAT_2
        tay
        lda attack_size,y
        cmp #2
        bcs receive_attack
@pass:
        lda #ACTION_PASS
        sta action,x
        rts

; The other seat's attack, of A pieces, lies down in the top row: over whatever is there.
receive_attack:
        sty other_seat
        cmp #4
        bcc :+
        lda #4
:       sta attack_count
        tay
        lda frame_counter
        and attack_columns - 2,y
        sta attack_column
        lda attack_spacing - 2,y
        sta line_stride
        stx scratch
        ldx other_seat
@piece:
        ldy attack_column
        lda attack_colours,x
        and #3
        ora #SINGLE
        sta (field),y
        tya
        clc
        adc line_stride
        sta attack_column
        inx
        dec attack_count
        bne @piece
        ldx other_seat
        lda #0
        sta attack_size,x
        ldx scratch
        sta settle_step,x
        lda #ACTION_SETTLE
        sta action,x
        rts

; For 2, 3, 4 pieces: which bits of the frame counter choose the first column, and how far apart they are
attack_columns:
        .byte 3, 3, 1
attack_spacing:
        .byte 4, 2, 2

; ---- action 6 ---------------------------------------------------------------------------------------------------
; Alone, the capsule is thrown first: 22 steps, in the odd frames only at LOW speed.
spawn:
        lda players
        lsr a
        bcc new_capsule
        lda speed,x
        bne @throw
        lda frame_counter
        lsr a
        bcc @done
@throw:
        inc throw_index
        lda throw_index
        and #3
        sta throw_rotation,x
        lda throw_index
        cmp #THROW_FRAMES
        bne @done
        lda #0
        sta throw_index
        sta throw_rotation,x
        beq new_capsule
@done:
        rts

new_capsule:
        lda next_first,x
        sta first_colour,x
        lda next_second,x
        sta second_colour,x
        ldy reserve_index,x
        tya
        clc
        adc #1
        and #127
        sta reserve_index,x
        tya
        and #127
        tay
        lda reserve,y
        tay
        lda reserve_first,y
        sta next_first,x
        lda reserve_second,y
        sta next_second,x
        lda #3
        sta capsule_x,x
        lda #15
        sta capsule_y,x
        lda #0
        sta rotation,x
        sta combo,x
        lda #ACTION_SPAWNED
        sta action,x
        jsr count_capsule
        ; No room: the capsule lies over what is there, and the round is lost.
        ldy #3
        lda (field),y
        iny
        and (field),y
        cmp #EMPTY
        beq @free
        jsr capsule_halves
        ldy #3
        lda half_base
        sta (field),y
        iny
        lda half_other
        sta (field),y
        lda #1
        sta topped_out,x
@free:
        rts

; The capsule counter, BCD; every tenth count speeds gravity up.
count_capsule:
        lda capsules,x
        jsr bcd_plus_one
        sta capsules,x
        bcc @tens
        lda capsule_hundreds,x
        jsr bcd_plus_one
        sta capsule_hundreds,x
@tens:
        lda capsules,x
        and #15
        bne @done
        lda speed_ups,x
        cmp #HIGHEST_SPEED_UP
        bcs @done
        inc speed_ups,x
@done:
        rts

; A + 1 in BCD; carry: it was $99.
bcd_plus_one:
        cmp #$99
        bne :+
        lda #0
        rts                     ; carry is set
:       clc
        adc #1
        pha
        and #15
        cmp #10
        pla
        bcc @done
        adc #5                  ; and the carry: 6
        clc
@done:
        rts
