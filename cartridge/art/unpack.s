; Unpacks a screen (made by screens.py: packed) straight into the picture processor.

.export unpack_screen

PPU_DATA = $2007
packed   = $D8          ; two bytes: the command to read next
length   = $DA

.segment "ART"

; A, X = low and high byte of the packed screen; the PPU address is set and rendering is off.
; Commands: $00-$3F: that many + 1 bytes follow as they are · $40-$7F: the next byte, (n & $3F) + 2 times ·
; $80-$BF: (n & $3F) + 2 bytes that count up from the next byte · $FF: the end.
.proc unpack_screen
        sta packed
        stx packed + 1
command:
        ldy #0
        lda (packed),y
        bmi rising
        cmp #$40
        bcs repeated

plain:
        tax
        inx
@copy:  iny
        lda (packed),y
        sta PPU_DATA
        dex
        bne @copy

advance:                ; over the command and the Y bytes it has used
        tya
        sec
        adc packed
        sta packed
        bcc command
        inc packed + 1
        bne command     ; always

repeated:
        and #$3F
        tax
        inx
        inx
        iny
        lda (packed),y
@again: sta PPU_DATA
        dex
        bne @again
        beq advance     ; always

rising:
        cmp #$FF
        beq done
        and #$3F
        clc
        adc #2
        sta length
        iny
        lda (packed),y
        tax
        ldy length
@next:  stx PPU_DATA
        inx
        dey
        bne @next
        iny
        bne advance     ; always
done:
        rts
.endproc
