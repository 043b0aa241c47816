; The cartridge itself: header and tiles.
.segment "HEADER"
        .byte "NES", $1A
        .byte 2                 ; 32 KB PRG
        .byte 4                 ; 32 KB CHR
        .byte $11, $00          ; mapper 1 (MMC1), vertical mirroring, no battery
        .res 8, 0

.segment "CHARS"
        .incbin "chr.bin"
