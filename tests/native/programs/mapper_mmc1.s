; cartridge: mapper=1, prg_size=0x20000, chr_size=0x8000, code_size=0x4000, program_in_every_bank=True, battery=True
; MMC1: five serial writes, the four PRG modes, both CHR modes, four mirrorings, cartridge RAM and its switch, the reset
; bit, and the second of two writes in consecutive cycles (read-modify-write), which is ignored.
.include "console.inc"
BANK_LOW  = $BFF0                        ; each bank's number, seen at $8000 and at $C000
BANK_HIGH = $FFF0
.macro serial value, register
        lda #(value)
        jsr .ident(.sprintf("write_%d", register))
.endmacro
.macro writer name, address
name:   sta address
        lsr a
        sta address
        lsr a
        sta address
        lsr a
        sta address
        lsr a
        sta address
        rts
.endmacro
        writer write_0, $8000
        writer write_1, $A000
        writer write_2, $DFFF
        writer write_3, $E123
banks:  lda BANK_LOW
        jsr record
        lda BANK_HIGH
        jmp record
.macro chr_byte address
        vram address
        lda PPUDATA
        lda PPUDATA
        jsr record
.endmacro
chr_pages:
        chr_byte $0000
        chr_byte $0800
        chr_byte $1000
        chr_byte $1C00
        rts
main:
        jsr banks                        ; power-on: last bank high
        ldy #0
        sty $10
@modes: lda $10
        asl a
        asl a
        jsr write_0                      ; the PRG mode
        serial 5, 3
        jsr banks
        serial 2, 3
        jsr banks
        serial 7, 3
        jsr banks
        inc $10
        lda $10
        cmp #4
        bne @modes
        serial $0C, 0                    ; 8 KB CHR
        serial 2, 1
        serial 5, 2
        jsr chr_pages
        serial 3, 1                      ; bit 0 does not count
        jsr chr_pages
        serial $1C, 0                    ; 4 KB CHR
        serial 3, 1
        serial 6, 2
        jsr chr_pages
        serial 7, 1
        serial 0, 2
        jsr chr_pages
        ; mirroring
        store 0, $10
@mirror:
        lda $10
        ora #$0C
        jsr write_0
        vram $2005
        lda $10
        sta PPUDATA
        vram $2405
        lda $10
        ora #$10
        sta PPUDATA
        vram $2805
        lda $10
        ora #$20
        sta PPUDATA
        vram $2C05
        lda $10
        ora #$30
        sta PPUDATA
        chr_byte $2005 - 0
        chr_byte $2405
        chr_byte $2805
        chr_byte $2C05
        inc $10
        lda $10
        cmp #4
        beq @ram
        jmp @mirror
@ram:
        ; cartridge RAM
        serial $00, 3
        store $5A, $6123
        lda $6123
        jsr record
        store $A5, $7FFF
        lda $7FFF
        jsr record
        ; a reset in the middle of a serial write, which also sets PRG mode 3
        serial $00, 0
        store 1, $8000
        sta $8000
        store $80, $8000
        jsr banks
        serial 4, 3
        jsr banks
        ; consecutive writes: INC writes twice, the second is ignored
        serial $0C, 0
        serial 3, 3
        store $80, $8000
        inc reset_bit                    ; ROM byte $FF: resets once, then ignored
        serial 2, 3
        jsr banks
        inc one_bit                      ; shifts in one bit only
        lda #1
        sta $E000
        sta $E000
        lda #0
        sta $E000
        sta $E000
        jsr banks
        jmp finished
reset_bit:
        .byte $FF
one_bit:
        .byte $01
