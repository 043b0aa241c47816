; When the on-cartridge player is asked: once per frame of play, for the seat it holds.
.include "memory.inc"
.export consult_player
.import player_frame

.segment "CODE"
consult_player:
        lda paused
        bne @done
        lda mode
        cmp #MODE_PLAY
        bne @idle
        lda phase
        bne @idle
        ldx #0
        lda attract
        bne @ask
        inx
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
        jmp player_frame
