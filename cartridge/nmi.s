; Once per frame, at the start of vertical blank: sprites, up to three rows of each bottle, the queue or the palette,
; then the pads. Its scratch is its own ($D0-$D7). An NMI that finds the main loop still at work does nothing at all:
; the game is a frame late then, but never wrong.
.include "memory.inc"
.include "art/layout.inc"
.export nmi
.import write_bank_0

.segment "FIXED"
nmi:
        pha
        lda ready
        bne @on_time
        inc late_frames
        pla
        rti
@on_time:
        txa
        pha
        tya
        pha
        lda #0
        sta OAMADDR
        lda #>sprites
        sta OAMDMA

        lda mode
        cmp #MODE_INIT
        bcc @fields_done        ; menus: no bottles
        ldx sweep_row
        bmi @swept
        jsr draw_row_1
        lda players
        lsr a
        bcs @sweep_next         ; one player
        ldx sweep_row
        jsr draw_row_2
@sweep_next:
        dec sweep_row
@swept:
        lda redraw_row + SEAT_1
        cmp #$FF
        beq @seat_2
        and #15
        sta nmi_row
        tax
        jsr draw_row_1
        ldx nmi_row
        dex                     ; the row above, too: a vertical capsule shows both halves at once
        bmi :+
        jsr draw_row_1
:       dec redraw_row + SEAT_1
@seat_2:
        lda players
        lsr a
        bcs @fields_done
        lda redraw_row + SEAT_2
        cmp #$FF
        beq @fields_done
        and #15
        sta nmi_row
        tax
        jsr draw_row_2
        ldx nmi_row
        dex
        bmi :+
        jsr draw_row_2
:       dec redraw_row + SEAT_2
@fields_done:
        lda new_palette
        beq @queue
        jsr upload_palette      ; takes the queue's time: the queue waits one frame
        jmp @show
@queue:
        jsr empty_queue
@show:
        lda background_bank
        jsr write_bank_0
        lda screen_control
        sta PPUCTRL
        lda #0
        sta PPUSCROLL
        sta PPUSCROLL
        lda screen_mask
        sta PPUMASK

        inc frame_counter
        jsr read_pads
        lda #1
        sta nmi_done
        pla
        tay
        pla
        tax
        pla
        rti

; Draws row X (0 = top) of a bottle.
.macro draw_row cells, column
        lda row_high,x
        sta PPUADDR
        lda row_low,x
        ora column
        sta PPUADDR
        txa
        asl a
        asl a
        asl a
        tax
        .repeat 8, i
        lda cells + i,x
        sta PPUDATA
        .endrepeat
        rts
.endmacro
draw_row_1:
        draw_row field_1, field_columns
draw_row_2:
        draw_row field_2, field_columns + 1

row_high:
        .repeat 16, i
        .byte >($2000 + (FIELD_ROW + i) * 32)
        .endrepeat
row_low:
        .repeat 16, i
        .byte <($2000 + (FIELD_ROW + i) * 32)
        .endrepeat

upload_palette:
        lda #0
        sta new_palette
        lda #$3F
        sta PPUADDR
        lda #0
        sta PPUADDR
        tay
@colour:
        lda (palette_pointer),y
        sta PPUDATA
        iny
        cpy #32
        bne @colour
        rts

empty_queue:
        ldx #0
@entry:
        cpx queue_end
        bcs @done
        lda queue,x
        sta PPUADDR
        lda queue + 1,x
        sta PPUADDR
        ldy queue + 2,x
        inx
        inx
        inx
@tile:
        lda queue,x
        sta PPUDATA
        inx
        dey
        bne @tile
        beq @entry
@done:
        lda #0
        sta queue_end
        rts

; Both pads, read twice: a bit counts if both readings have it. Famicom pads on the expansion port count as well.
read_pads:
        jsr read_both
        lda nmi_pads
        sta nmi_again
        lda nmi_pads + 1
        sta nmi_again + 1
        jsr read_both
        lda nmi_pads + 1
        and nmi_again + 1
        sta nmi_pads + 1
        lda nmi_pads
        and nmi_again
        sta nmi_pads
        tay
        eor real_held           ; pressed: now and not before
        and nmi_pads
        sta real_pressed
        sty real_held
        ; The on-cartridge player takes the place of a pad while a round runs.
        lda mode
        cmp #MODE_INIT
        bcc @seats
        lda player_pad
        ldy attract
        bne @first
        ldy vs_cpu
        beq @seats
        sta nmi_pads + 1
        jmp @seats
@first:
        sta nmi_pads
@seats:
        ldx #1
@seat:
        lda nmi_pads,x
        tay
        eor pad_held,x
        and nmi_pads,x
        sta pad_pressed,x
        sty pad_held,x
        dex
        bpl @seat
        rts

read_both:
        lda #1
        sta PAD1
        sta nmi_pads + 1        ; the bit that falls out last ends the loop
        lsr a
        sta PAD1
@bit:
        lda PAD1
        and #3                  ; bit 0 the pad, bit 1 the expansion port
        cmp #1
        rol nmi_pads
        lda PAD2
        and #3
        cmp #1
        rol nmi_pads + 1
        bcc @bit
        rts
