; The on-cartridge player: it plays seat 2 against a human (VS CPU), and seat 1 alone in the attract mode.
;
; The hook (docs/cartridge.md), from $E000 to $FBFF:
;   $E000 player_steer, the address of a routine that is called in every frame of play in which its capsule falls (action
;         0), after the rules. It stores the pad it wants in player_pad ($05, 0 before): its seat's in the next frame.
;   $E002 player_think, a routine that is called when a new capsule has come in (action 3): the field is at rest.
; Both are called with A = the action, X = $00 or $80 for the first or the second seat, and `field` pointing at its bottle.
; Its memory: zero page $B0-$CF, $03B0-$03FF, $0742-$077F; A, X, Y are free.
;
; This player looks at straight drops only. A half scores by what it comes to lie on: a run of its own colour (more so
; where a virus waits below), nothing, another colour. A placement scores by its halves and by how deep it lies. The
; player takes the best one, turns, moves, and presses DOWN.
.include "memory.inc"
.export player_steer, player_think

thought         = $C2   ; 0 nothing yet, 1 half of the placements, 2 all: the target holds
target_x        = $C3
target_rotation = $C4
best            = $C5   ; points of the target
base_colour     = $C6   ; colour of the half at the base cell, and of the other one
other_colour    = $C7
column          = $C8   ; the placement in work: column and row of its base cell
row             = $C9
turned          = $CA   ; 0: first colour at the base (rotations 0 and 1), 2: second (rotations 2 and 3)
first_column    = $CB   ; columns the capsule can reach along the top
last_column     = $CC
points          = $CD
run             = $CE   ; cells of one colour below a half
half_colour     = $CF
landing         = $0742 ; 8 bytes: the row of the highest cell in each column, 16 if empty
has_virus       = $074A ; 8 bytes: 1 if a virus is in the column
half_column     = $0752
virus_in_run    = $0753

; Points of a half. The sum over two halves and ROW points for each row stays below 256.
ON_NOTHING      = 45    ; over an empty cell or the floor
ON_OTHER        = 15    ; on another colour
ON_RUN_1        = 55    ; on 1, 2, 3 cells of its own colour,
ON_RUN_2        = 70
ON_RUN_3        = 80
RUN_WITH_VIRUS  = 5     ; a virus among them,
VIRUS_BELOW     = 30    ; a virus anywhere in that column

.segment "PLAYER"
player_steer:
        .addr steer

player_think:
        lda #0
        sta thought
        beq think

steer:
        lda thought
        cmp #2
        bcc think

; ---- steering: tap, release, tap ...; then DOWN -------------------------------------------------------------------
        lda frame_counter       ; press in odd frames, in which DOWN counts, release in even ones
        lsr a
        bcs @done
        lda target_rotation
        sec
        sbc rotation,x
        and #3
        tay
        lda turn_buttons,y
        bne @press
        lda capsule_x,x
        cmp target_x
        beq @down
        lda #PAD_LEFT
        bcs @press
        lda #PAD_RIGHT
@press:
        sta player_pad
@done:
        rts
@down:
        lda #PAD_DOWN
        bne @press

turn_buttons:                   ; by quarters counter-clockwise
        .byte 0, PAD_B, PAD_A, PAD_A

; ---- thinking: one frame for each order of the two colours --------------------------------------------------------
think:
        inc thought
        lda thought
        cmp #2
        beq @swapped
        lda #0
        sta best
        sta turned
        lda capsule_x,x         ; if nothing fits, let it fall
        sta target_x
        lda rotation,x
        sta target_rotation
        lda first_colour,x
        sta base_colour
        lda second_colour,x
        sta other_colour
        jsr survey
        jmp try_all
@swapped:
        lda #2
        sta turned
        lda second_colour,x
        sta base_colour
        lda first_colour,x
        sta other_colour

try_all:
        ldx first_column
@column:
        stx column
        jsr try_vertical
        ldx column
        cpx last_column
        beq @done
        jsr try_horizontal
        ldx column
        inx
        bne @column
@done:
        rts

; The highest cell of each column and whether it holds a virus; and how far left and right the top row is open.
survey:
        ldx #7
@column:
        txa
        tay
        lda #0
        sta row
        sta has_virus,x
@empty:
        lda (field),y
        cmp #GONE
        bcc @filled
        inc row
        tya
        adc #7                  ; and the carry: one row down
        tay
        bpl @empty
        bmi @scanned
@below:
        lda (field),y
        cmp #GONE
        bcs @next
@filled:
        cmp #VIRUS
        bcs @virus
@next:
        tya
        clc
        adc #8
        tay
        bpl @below
        bmi @scanned
@virus:
        inc has_virus,x
@scanned:
        lda row
        sta landing,x
        dex
        bpl @column

        ldx #3
@left:
        lda landing - 1,x
        beq @left_end
        dex
        bne @left
@left_end:
        stx first_column
        ldx #4
@right:
        lda landing + 1,x
        beq @right_end
        inx
        cpx #7
        bne @right
@right_end:
        stx last_column
        rts

; X = column. Both halves must lie inside the bottle.
try_vertical:
        lda landing,x
        cmp #2
        bcc no_room
        sbc #1
        sta row
        lda base_colour
        jsr half_points
        sta points
        ldy #1
        lda base_colour
        cmp other_colour
        bne @other
        ldx run                 ; the upper half continues the run of the lower one
        cpx #3
        bcs :+
        inx
:       lda run_points,x
        bne take_if_best
@other:
        lda #ON_OTHER
        bne take_if_best

; X = column of the left half.
try_horizontal:
        lda landing,x
        cmp landing + 1,x
        bcc :+
        lda landing + 1,x
:       cmp #2
        bcc no_room
        sbc #1
        sta row
        lda base_colour
        jsr half_points
        sta points
        ldx column
        inx
        lda other_colour
        jsr half_points
        ldy #0

; A = points of the second half, Y = 1 vertical, 0 horizontal. A row counts 2.
take_if_best:
        clc
        adc points
        adc row
        adc row
        cmp best
        bcc no_room
        sta best
        lda column
        sta target_x
        tya
        ora turned
        sta target_rotation
no_room:
        rts

; A = the points of a half of colour A in row and column X. Leaves run: how many cells of its colour are below.
half_points:
        sta half_colour
        stx half_column
        lda #0
        sta run
        sta virus_in_run
        lda row                 ; Y = the cell below
        asl a
        asl a
        asl a
        adc #8
        adc half_column
        tay
        lda (field),y
        cmp #GONE
        bcs @nothing
@cell:
        lda (field),y
        cmp #GONE
        bcs @ended
        tax
        and #3
        cmp half_colour
        bne @ended
        inc run
        cpx #VIRUS
        bcc :+
        lda #RUN_WITH_VIRUS
        sta virus_in_run
:       lda run
        cmp #3
        beq @ended
        tya
        clc
        adc #8
        tay
        bpl @cell
@ended:
        ldx run
        beq @other
        lda run_points,x
        clc
        adc virus_in_run
        ldx half_column
        ldy has_virus,x
        beq @done
        adc #VIRUS_BELOW
@done:
        rts
@other:
        lda #ON_OTHER
        rts
@nothing:
        lda #ON_NOTHING
        rts

run_points:
        .byte ON_OTHER, ON_RUN_1, ON_RUN_2, ON_RUN_3
