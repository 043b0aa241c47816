; When the on-cartridge player is asked: when the capsule of the seat it holds has come in, and in every frame it falls.
.include "memory.inc"
.export consult_player
.import player_steer, player_think, select_field

.segment "CODE"
consult_player:
        lda paused
        bne @done
        lda mode
        cmp #MODE_PLAY
        bne @idle
        lda phase
        bne @idle
        ldx #SEAT_1
        lda attract
        bne @ask
        ldx #SEAT_2
        lda players
        lsr a
        bcs @idle
        lda vs_cpu
        bne @ask
@idle:
        lda #0
        sta player_pad
@done:
        rts
@ask:
        jsr select_field
        lda #0                  ; what it does not press is not pressed
        sta player_pad
        lda action,x
        beq @steer
        cmp #ACTION_SPAWNED
        bne @done
        jmp player_think
@steer:
        jmp (player_steer)
