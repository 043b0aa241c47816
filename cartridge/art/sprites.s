; The living part of menus and play: the cat, the germs, bubbles. Each decorate_ routine appends its sprites at $0200 + X
; and returns the next free X; the program calls one of them every frame. Pause and interlude are in scenes.s.

.export decorate_title, decorate_options, decorate_play1, decorate_play2, throw_x, throw_y
.import cat_watches, cat_blinks, cat_laughs, over_blinks, over_laughs, over_cries, arm_holds, arm_throws, arm_hangs

.include "figures.inc"
.include "layout.inc"

; What is read of the game.
vs_cpu        = $04
mode          = $46
phase         = $59
germs_left    = $72     ; yellow, red, blue
germs_hurt    = $75     ; frames since one of that colour was last cleared
throw_index   = $7D
players       = $0727
demo          = $0741   ; nonzero: the cartridge plays by itself

play_bank     = $06C0   ; background bank of the play screens: 0 or 4, the two beats of the viruses' dance

MODE_PLAY     = 4
MODE_INTRO    = 8
HURT_FRAMES   = 60

.segment "ART"

word_1p:    .byte 1, LETTER 'P', $FF
word_2p:    .byte 2, LETTER 'P', $FF
word_cpu:   .byte LETTER 'C', LETTER 'P', LETTER 'U', $FF
word_demo:  .byte LETTER 'D', LETTER 'E', LETTER 'M', LETTER 'O', $FF

; Title: germs around the menu, the cat (background) blinks, bubbles rise from the letters.
TITLE_CAT_X = 16
TITLE_CAT_Y = 168
BUBBLES     = 4

.proc decorate_title
        germ_at 0, 26, 128
        germ_at 2, 206, 128
        germ_at 1, 214, 184
        figure_at arm_hangs, TITLE_CAT_X, TITLE_CAT_Y
        lda frame_counter
        cmp #BLINK_FRAMES
        bcs awake
        figure_at over_blinks, TITLE_CAT_X, TITLE_CAT_Y
awake:
        ldy #BUBBLES - 1
next:
        sty each
        lda frame_counter
        clc
        adc bubble_moment,y
        and #$7F
        lsr
        sta look                ; 0-63: how far it has risen
        eor #$FF
        sec
        adc #68                 ; 68 - risen: from the cure in the letters
        sta at_y
        lda look
        lsr
        lsr
        lsr
        and #1                  ; it sways
        clc
        adc bubble_x,y
        sta at_x
        lda look
        cmp #48
        bcs popped
        cmp #24
        lda #BUBBLE
        bcs grown
        lda #SMALL_BUBBLE
grown:
        ldy #3
        jsr draw_tile
popped:
        ldy each
        dey
        bpl next
        rts
bubble_x:       .byte 44, 92, 142, 206
bubble_moment:  .byte 0, 70, 30, 100
.endproc

; Options: whose level is whose, a germ on the first panel, and the cat looks over it.
.proc decorate_options
        word_at word_1p, LEVEL1_COLUMN * 8 - 24, LEVEL1_ROW * 8
        lda players
        lsr a
        bcs alone
        word_at word_2p, LEVEL2_COLUMN * 8 - 24, LEVEL2_ROW * 8
alone:
        germ_at 2, 28, 26
        lda frame_counter
        cmp #BLINK_FRAMES
        bcs awake
        figure_at cat_blinks, 200, 26
        rts
awake:
        figure_at cat_watches, 200, 26
        rts
.endproc

; The viruses in the bottles have two drawings, in two banks: one for each beat.
.proc show_beat
        lda frame_counter
        and #$20
        lsr
        lsr
        lsr
        sta play_bank           ; 0 or 4
        rts
.endproc

; Play, one player: the cat throws the capsules and takes an interest, the big germs dance under the lens.
CAT_X = 208
CAT_Y = 40
THROWN = 9                      ; of the 22 steps of a throw: now the capsule flies by itself

.proc decorate_play1
        jsr show_beat
        lda throw_index
        beq holding
        cmp #THROWN
        bcs empty
        figure_at arm_throws, CAT_X, CAT_Y
        jmp face
empty:
        figure_at arm_hangs, CAT_X, CAT_Y
        jmp face
holding:
        figure_at arm_holds, CAT_X, CAT_Y

face:                           ; topped out: sad; stage clear or a virus just gone: happy; else it blinks now and then
        lda mode
        cmp #MODE_PLAY
        bne not_playing
        lda phase
        bne happy
        lda germs_hurt
        cmp #HURT_FRAMES
        bcc happy
        lda germs_hurt + 1
        cmp #HURT_FRAMES
        bcc happy
        lda germs_hurt + 2
        cmp #HURT_FRAMES
        bcc happy
calm:
        lda frame_counter
        cmp #BLINK_FRAMES
        bcs awake
        figure_at over_blinks, CAT_X, CAT_Y
        jmp lens
awake:
        and #$40
        beq lens
        lda demo
        beq lens
        word_at word_demo, 112, 24
        jmp lens
not_playing:
        bcs after_play          ; modes above 4: 5 and 7 are the end, 8 the intro
        jmp lens
after_play:
        cmp #MODE_INTRO
        beq calm
        figure_at over_cries, CAT_X, CAT_Y
        jmp lens
happy:
        figure_at over_laughs, CAT_X, CAT_Y

lens:
        ldy #2
next:                           ; a germ for every colour that is left in the bottle, a twinkle where one was
        sty each
        lda lens_x,y
        sta at_x
        lda lens_y,y
        sta at_y
        lda germs_left,y
        beq beaten
        lda germs_hurt,y
        cmp #HURT_FRAMES
        bcc hurt
        tya
        jsr draw_dancing_germ
        jmp drawn
hurt:
        lda frame_counter       ; it trembles
        and #2
        clc
        adc at_x
        sta at_x
        tya
        clc
        adc #3
        jsr draw_germ
        jmp drawn
beaten:
        lda frame_counter
        adc twinkle_moment,y    ; a frame more or less does not matter
        and #$20
        beq drawn
        lda at_x
        clc
        adc #8
        sta at_x
        lda at_y
        adc #8
        sta at_y
        iny                     ; palettes 1-3
        lda #SPARK
        jsr draw_tile
drawn:
        ldy each
        dey
        bpl next
        rts
twinkle_moment: .byte 0, 21, 43
lens_x: .byte 29, 15, 43
lens_y: .byte 131, 160, 160
.endproc

; Play, two players: who is who, and the cat between the bottles as the referee.
REFEREE_X = 112
REFEREE_Y = 184

.proc decorate_play2
        jsr show_beat
        word_at word_1p, 56, 22
        lda vs_cpu
        bne computer
        word_at word_2p, 184, 22
        jmp referee
computer:
        word_at word_cpu, 180, 22
referee:
        lda mode
        cmp #MODE_PLAY
        bne not_playing
        lda phase
        bne cheer
calm:
        lda frame_counter
        cmp #BLINK_FRAMES
        bcs awake
        figure_at cat_blinks, REFEREE_X, REFEREE_Y
        rts
awake:
        figure_at cat_watches, REFEREE_X, REFEREE_Y
        rts
not_playing:
        bcc calm
        cmp #MODE_INTRO
        beq calm
cheer:
        figure_at cat_laughs, REFEREE_X, REFEREE_Y
        rts
.endproc

; Where the thrown capsule is: from the paw up over the lip of the bottle and down its neck.
throw_x: .byte 194, 189, 183, 178, 173, 167, 162, 157, 151, 146, 141, 135, 130, 125, 120, 120, 120, 120, 120, 120, 120, 120
throw_y: .byte 60, 50, 41, 33, 27, 21, 17, 14, 13, 12, 13, 14, 17, 21, 26, 30, 35, 41, 48, 56, 65, 74
