; Power-on, and the one frame everything happens in.
.include "memory.inc"
.export reset, main, write_bank_0
.import nmi
.import title_frame, options_frame, load_frame, init_round, virus_frame, play_frame, topped_out_frame, end_frame
.import enter_title, leave_attract, consult_player, show_frame
.import sound_init, sound_frame, play_effect

SEED = $8988

.segment "FIXED"
; The mapper starts with any bank below $C000: this code stays here until the 32 KB are in place.
reset:
        sei
        cld
        ldx #$FF
        txs
        inx
        stx PPUCTRL             ; no NMI
        stx PPUMASK
        stx $4010               ; no DMC interrupts
        lda #$40
        sta APUFRAME
        lda #$80
        sta $8000               ; reset the mapper's shift register
        lda #$12                ; 4 KB CHR banks, 32 KB PRG, vertical mirroring
        jsr write_control
        lda #0
        jsr write_bank_0
        lda #1
        jsr write_bank_1
        lda #0
        jsr write_program_bank
        ; The PPU ignores writes for its first frame or two.
        ldx #3
        bit PPUSTATUS
@warm_up:
        bit PPUSTATUS
        bpl @warm_up
        dex
        bne @warm_up
        jmp start

.macro serial name, register
name:
        .repeat 4
        sta register
        lsr a
        .endrepeat
        sta register
        rts
.endmacro
        serial write_control, $8000
        serial write_bank_0, $A000
        serial write_bank_1, $C000
        serial write_program_bank, $E000

; Nothing here uses IRQ or BRK.
interrupt:
        rti

.segment "VECTORS"
        .word nmi, reset, interrupt

.segment "CODE"
signature_text:
        .byte "ANTIDOTE01"
SIGNATURE_BYTES = * - signature_text

; All RAM to zero, but for the high score after the reset button (the signature is still there then).
start:
        ldx #SIGNATURE_BYTES - 1
@compare:
        lda signature,x
        cmp signature_text,x
        bne @cold
        dex
        bpl @compare
        bmi @clear
@cold:
        ldx #0
        txa
@page_7:
        sta $0700,x
        inx
        bne @page_7
        lda #1
        sta top_score + 3       ; 1000, shown as 10000
@clear:
        ldx #0
        txa
@page:
        sta $00,x
        sta $0100,x             ; no return address is on the stack yet
        sta $0200,x
        sta $0300,x
        sta $0600,x
        inx
        bne @page
        lda #EMPTY
@fields:
        sta field_1,x
        sta field_2,x
        inx
        bne @fields
        lda #0
        ldx #$FF - $1A
@globals:
        sta $071A,x             ; page 7 behind the signature
        dex
        bne @globals
        sta $071A
        ldx #SIGNATURE_BYTES - 1
@sign:
        lda signature_text,x
        sta signature,x
        dex
        bpl @sign

        lda #>SEED
        sta random_high
        lda #<SEED
        sta random_low
        lda #1
        sta players
        sta speed + SEAT_1
        sta speed + SEAT_2
        sta attract_speed
        lda #10
        sta attract_level
        lda #3
        sta wins_needed
        lda #$FF
        sta redraw_row + SEAT_1
        sta redraw_row + SEAT_2
        sta sweep_row
        jsr sound_init
        jsr enter_title
        lda #CONTROL_SCREEN
        sta screen_control
        sta PPUCTRL             ; from here on the NMI comes

main:
        lda #1
        sta ready
@wait:
        lda nmi_done
        beq @wait
        lda #0
        sta nmi_done
        sta ready
        jsr one_frame
        jmp main

one_frame:
        lda paused
        beq @running
        lda pad_pressed
        and #PAD_START
        beq @handled
        lda #0
        sta paused
        lda #EFFECT_PAUSE
        jsr play_effect
        jmp @handled
@running:
        lda mode
        sta mode_before
        jsr run_mode
        jsr check_pause
@handled:
        jsr check_leaving
        jsr consult_player
        jsr show_frame
        jmp sound_frame

run_mode:
        asl a
        tax
        lda handlers + 1,x
        pha
        lda handlers,x
        pha
        rts

handlers:
        .word title_frame - 1, options_frame - 1, load_frame - 1, init_round - 1, play_frame - 1
        .word topped_out_frame - 1, unused_mode - 1, end_frame - 1, virus_frame - 1

unused_mode:
        lda #MODE_PLAY
        sta mode
        rts

; START pauses a round in progress; not in its very first frame, and nobody can pause the attract mode.
check_pause:
        lda #0
        sta pause_allowed
        lda mode
        cmp #MODE_PLAY
        bne @done
        cmp mode_before
        bne @done
        lda phase
        ora attract
        bne @done
        dec pause_allowed       ; $FF: allowed
        lda pad_pressed
        and #PAD_START
        beq @done
        lda #PAUSED
        sta paused
        lda #EFFECT_PAUSE
        jmp play_effect
@done:
        rts

; A+B+SELECT+START of pad 1 lead back to the title from anywhere; START ends the attract mode.
check_leaving:
        lda attract
        beq @soft_reset
        lda real_pressed
        and #PAD_START
        beq @soft_reset
        jmp leave_attract
@soft_reset:
        lda mode
        beq @done
        lda real_held
        cmp #PAD_A | PAD_B | PAD_SELECT | PAD_START
        bne @done
        jmp leave_attract
@done:
        rts
