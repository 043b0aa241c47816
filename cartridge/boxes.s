; The boxes at the end of a round: 7 rows of 8 tiles over rows 4-10 of a bottle. Two of them are part of the rules
; (they replace the field); the others only show.
.include "memory.inc"
.include "art/layout.inc"
.include "letters.inc"
.export write_box, queue_end_boxes
.import select_field, queue_begin, match_winner

BOX_ROW         = 4
BOX_ROWS        = 7
FIRST_CELL      = BOX_ROW * 8
CELLS           = BOX_ROWS * 8
BOXES_FROM      = 20    ; the end screen's frame in which the first row appears: every redraw is over by then

.segment "CODE"
; The field of seat X becomes box Y (0 stage clear, 1 draw).
write_box:
        jsr select_field
        lda boxes_low,y
        sec
        sbc #FIRST_CELL         ; so that one index serves both
        sta pointer
        lda boxes_high,y
        sbc #0
        sta pointer + 1
        lda #15
        sta redraw_row,x
        ldy #127
@cell:
        lda #EMPTY
        cpy #FIRST_CELL + CELLS
        bcs @put
        cpy #FIRST_CELL
        bcc @put
        lda (pointer),y
@put:
        sta (field),y
        dey
        bpl @cell
        rts

; On the end screen one row of one seat's box per frame goes to the queue.
queue_end_boxes:
        lda phase
        bne @done
        lda wait_counter
        sec
        sbc #BOXES_FROM
        cmp #2 * BOX_ROWS
        bcs @done
        lsr a
        sta text_row
        lda #0
        rol a                   ; even frames seat 1, odd frames seat 2
        sta seat_number
        beq @show
        lda players
        lsr a
        bcs @done
@show:
        jsr choose_box
        lda text_row
        asl a
        asl a
        asl a
        clc
        adc boxes_low,y
        sta pointer
        lda boxes_high,y
        adc #0
        sta pointer + 1
        ldy text_row
        ldx seat_number
        lda box_low,y
        ora field_columns,x
        pha
        lda box_high,y
        tax
        pla
        tay
        txa
        ldx #8
        jsr queue_begin
        ldy #0
@tile:
        lda (pointer),y
        sta queue,x
        inx
        iny
        cpy #8
        bne @tile
        stx queue_end
@done:
        rts

box_high:
        .repeat BOX_ROWS, i
        .byte >($2000 + (FIELD_ROW + BOX_ROW + i) * 32)
        .endrepeat
box_low:
        .repeat BOX_ROWS, i
        .byte <($2000 + (FIELD_ROW + BOX_ROW + i) * 32)
        .endrepeat

; Y = the box for seat_number.
choose_box:
        ldy #BOX_GAME_OVER
        lda players
        lsr a
        bcs @done
        jsr match_winner ; X = 1 or 2: the match is decided
        txa
        bne @match
        ldy #BOX_DRAW
        lda who_failed
        beq @done
        eor #3                  ; the other one won the round
        ldy #BOX_WIN
        bne @mine
@match:
        ldy #BOX_MATCH_WON
@mine:
        sec
        sbc #1
        cmp seat_number
        beq @done
        iny                     ; the loser's box follows the winner's
@done:
        rts

.macro box line_1, line_2, line_3
        .byte $ED, $EE, $EE, $EE, $EE, $EE, $EE, $EF
        .byte $8B, "      ", $8C
        .byte $8B, line_1, $8C
        .byte $8B, line_2, $8C
        .byte $8B, line_3, $8C
        .byte $8B, "      ", $8C
        .byte $8D, $8E, $8E, $8E, $8E, $8E, $8E, $8F
.endmacro

box_clear:      box "STAGE ", "      ", "CLEAR "
box_draw:       box "      ", " DRAW ", "      "
box_game_over:  box "GAME  ", "      ", "  OVER"
box_win:        box "      ", " WIN  ", "      "
box_lose:       box "      ", " LOSE ", "      "
box_match_won:  box "MATCH ", "      ", "   WON"
box_match_lost: box "MATCH ", "      ", "  LOST"

BOX_DRAW        = 1
BOX_GAME_OVER   = 2
BOX_WIN         = 3
BOX_MATCH_WON   = 5

.define BOXES box_clear, box_draw, box_game_over, box_win, box_lose, box_match_won, box_match_lost
boxes_low:
        .lobytes BOXES
boxes_high:
        .hibytes BOXES
