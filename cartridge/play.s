; Mode 4: the seats act in turn, then the round is decided. Its phases after the last virus are counted in `phase`.
.include "memory.inc"
.export play_frame, select_field
.import fall, settle, attack, spawn, write_box
.import show_interlude, leave_interlude, leave_attract, play_music

CLEAR_WAIT      = 64    ; frames from the last virus to the box
BOX_WAIT        = 16    ; each of the two waits until START counts, and the one after it
HIGHEST_LEVEL   = 24

.segment "CODE"
play_frame:
        ldy phase
        beq @playing
        lda phases_high - 1,y
        pha
        lda phases_low - 1,y
        pha
        rts
@playing:
        ldx #SEAT_1
        ldy #0
        jsr act
        lda players
        lsr a
        bcs @alone
        lda wins + SEAT_1
        cmp wins_needed
        beq @match_over
        ldx #SEAT_2
        ldy #1
        jsr act
        lda wins + SEAT_2
        cmp wins_needed
        beq @match_over
        lda viruses + SEAT_2
        beq @cleared
@alone:
        lda viruses + SEAT_1
        beq @cleared
        lda topped_out + SEAT_1
        bne @topped_out
        lda players
        lsr a
        bcs @done
        lda topped_out + SEAT_2
        beq @done
@topped_out:
        lda #MODE_TOPPED_OUT
        sta mode
@done:
        rts
@cleared:
        lda #1
        sta phase
        lda #CLEAR_WAIT
        sta wait_counter
        lda #TUNE_CLEAR
        jmp play_music
@match_over:
        lda #0
        sta phase
        sta wait_counter
        lda #MODE_END
        sta mode
        lda #TUNE_MATCH
        jmp play_music

; Runs the action of seat X (number Y).
act:
        lda pad_pressed,y
        sta pressed
        lda pad_held,y
        sta held
        jsr select_field
        ldy action,x
        cpy #ACTION_COUNT
        bcs @nothing
        lda actions_high,y
        pha
        lda actions_low,y
        pha
@nothing:
        rts

.define ACTIONS fall - 1, settle - 1, attack - 1, spawned - 1, nothing - 1, pass - 1, spawn - 1
actions_low:
        .lobytes ACTIONS
ACTION_COUNT = * - actions_low
actions_high:
        .hibytes ACTIONS

spawned:
        lda #ACTION_FALL
        sta action,x
nothing:
        rts
pass:
        lda #ACTION_THROW
        sta action,x
        rts

; field := the field of seat X. Keeps X.
select_field:
        lda #0
        sta field
        lda #>field_1
        cpx #SEAT_2
        bne :+
        lda #>field_2
:       sta field + 1
        rts

.define PHASES phase_clear - 1, phase_box - 1, phase_shown - 1, phase_start - 1, phase_leave - 1, phase_interlude - 1
phases_low:
        .lobytes PHASES
phases_high:
        .hibytes PHASES

; Phase 1: the last virus is gone. Then the winner's bottle shows the box.
phase_clear:
        dec wait_counter
        bne waiting
        lda #0
        sta winner
        lda viruses + SEAT_1
        bne @second
        lda players
        lsr a
        bcs @first
        lda viruses + SEAT_2
        beq @draw
@first:
        ldx #SEAT_1
        lda #1
        bne @box
@second:
        ldx #SEAT_2
        lda #2
@box:
        sta winner
        ldy #0                  ; "stage clear"
        jsr write_box
        jmp next_phase
@draw:
        ldx #SEAT_1
        ldy #1                  ; "draw"
        jsr write_box
        ldx #SEAT_2
        ldy #1
        jsr write_box
        jmp next_phase

; Phases 2 and 3: the box unrolls.
phase_shown:
        dec wait_counter
        bne waiting
        inc phase
        rts
phase_box:
        dec wait_counter
        bne waiting
next_phase:
        inc phase
        lda #BOX_WAIT
        sta wait_counter
waiting:
        rts

; Phase 4: START goes on.
phase_start:
        lda attract
        bne @attract
        lda pad_pressed
        ora pad_held
        and #PAD_START
        bne next_phase
        rts
@attract:
        lda frame_counter
        bne waiting
        jmp leave_attract

; Phase 5: a moment later the next round begins; alone, one level higher and sometimes after an interlude.
phase_leave:
        dec wait_counter
        bne waiting
        lda players
        lsr a
        bcc @next_round
        ldy level + SEAT_1
        cpy #HIGHEST_LEVEL
        bcs :+
        inc level + SEAT_1
:       cpy #20
        beq @interlude
        lda speed + SEAT_1
        beq @next_round         ; LOW: only level 20
        cpy #5
        beq @interlude
        cpy #10
        beq @interlude
        cpy #15
        bne @next_round
@interlude:
        inc phase
        jmp show_interlude
@next_round:
        lda #0
        sta phase
        lda #MODE_INIT
        sta mode
        rts

; Phase 6: the interlude, until START.
phase_interlude:
        lda pad_pressed
        and #PAD_START
        beq waiting
        lda #0
        sta phase
        lda #MODE_INIT
        sta mode
        jmp leave_interlude
