"""A whole player inside the cartridge: when it thinks, what it looks at, how it steers; around a form that scores.

In every frame of play the cartridge calls it (docs/cartridge.md). With a new capsule it surveys the bottle; in the next
frames it thinks about some columns each, with nothing pressed; then it steers: a tap, a frame without, and when all is
right, DOWN. mirror.py does exactly the same in Python.
"""

from __future__ import annotations

from typing import Protocol

from mario_rl.distill.assembler import Program, at, value
from mario_rl.distill.counting import Counting
from mario_rl.distill.layout import Layout, antidote
from mario_rl.distill.listing import Assembled
from mario_rl.emulators.base import DOWN, LEFT, RIGHT, A, B

FIELD_1, FIELD_2 = 0x04, 0x05  # pages
SEAT_2 = 0x80
SPAWNED = 3  # the action of a frame in which a capsule has come in and the bottle is at rest
SPAWN_COLUMN = 3
TAPS = A | B | LEFT | RIGHT
TWO_ROWS = 16  # cells


class Scorer(Protocol):
    """The form that was distilled."""

    uses: tuple[str, ...]
    """The features it looks at."""

    def emit(self, program: Program, layout: Layout, counting: Counting) -> None:
        """Code, to be run into, that leaves the score of the drop (1 to 255) in A."""

    def emit_routines(self, program: Program, layout: Layout, counting: Counting) -> None:
        """Tables and routines that it needs."""


def compile_player(origin: int, scorer: Scorer, columns_a_frame: int) -> Assembled:
    """The player for Antidote, with this scorer, that thinks about so many columns in a frame."""
    program = Program(origin)
    layout = antidote(program)
    counting = Counting(program, layout, scorer.uses)
    _hooks(program, layout)
    _steering(program, layout)
    _thinking(program, layout, columns_a_frame)
    _drops(program, layout)
    counting.features()
    program.label("score")
    scorer.emit(program, layout, counting)
    _taking(program, layout)
    counting.survey()
    counting.routines()
    scorer.emit_routines(program, layout, counting)
    return program.assemble()


def _hooks(p: Program, m: Layout) -> None:
    p.label("player_frame", "once per frame of play, X = seat 0 or 1")
    p("jmp", "frame")
    p.label("player_start", "when a round begins")
    p("lda", value(0))
    p("sta", m.cells)
    p("sta", m.player_pad)
    p("lda", value(1), "behind the last column there is no room")
    p("sta", m.tops + 8)
    p("rts")
    p.label("frame")
    p("lda", value(FIELD_1))
    p("cpx", value(0))
    p("beq", "seated")
    p("ldx", value(SEAT_2))
    p("lda", value(FIELD_2))
    p.label("seated")
    p("sta", m.cells + 1)
    p("lda", at(m.action, "x"))
    p("beq", "falling")
    p("ldy", value(0))
    p("sty", m.player_pad)
    p("cmp", value(SPAWNED))
    p("bne", "wait")
    p("sty", m.best)
    p("sty", m.turned)
    p("sty", m.target_rotation)
    p("lda", value(SPAWN_COLUMN), "if nothing fits, it falls where it is")
    p("sta", m.target_x)
    p("lda", at(m.first_colour, "x"))
    p("sta", m.low_colour)
    p("lda", at(m.second_colour, "x"))
    p("sta", m.high_colour)
    p("jmp", "survey")


def _steering(p: Program, m: Layout) -> None:
    p.label("falling")
    p("ldy", m.column)
    p("bpl", "think")
    p("lda", m.player_pad)
    p("and", value(TAPS))
    p("bne", "let_go", "a press needs a release")
    p("lda", m.target_rotation)
    p("sec")
    p("sbc", at(m.capsule_rotation, "x"))
    p("and", value(3))
    p("beq", "move")
    p("cmp", value(2))
    p("lda", value(B), "a quarter turn")
    p("bcc", "press")
    p("asl", comment="A: the other way, or half a turn")
    p("bne", "press")
    p.label("move")
    p("lda", at(m.capsule_x, "x"))
    p("cmp", m.target_x)
    p("beq", "drop")
    p("lda", value(LEFT))
    p("bcs", "press")
    p("lda", value(RIGHT))
    p("bcc", "press")
    p.label("let_go")
    p("lda", value(0))
    p("beq", "press")
    p.label("drop")
    p("lda", value(DOWN))
    p.label("press")
    p("sta", m.player_pad)
    p.label("wait")
    p("rts")


def _thinking(p: Program, m: Layout, columns_a_frame: int) -> None:
    p.label("think")
    p("lda", value(columns_a_frame))
    p("sta", m.columns_left)
    p.label("think_column")
    p("jsr", "try_column")
    p("ldx", m.low_colour, "the other way round")
    p("ldy", m.high_colour)
    p("stx", m.high_colour)
    p("sty", m.low_colour)
    p("lda", m.turned)
    p("eor", value(2))
    p("sta", m.turned)
    p("bne", "think_column")
    p("dec", m.column)
    p("bmi", "wait")
    p("lda", m.column)
    p("cmp", m.first_column)
    p("bcc", "thought")
    p("dec", m.columns_left)
    p("bne", "think_column")
    p("rts")
    p.label("thought")
    p("lda", value(0xFF))
    p("sta", m.column)
    p("rts")


def _drops(p: Program, m: Layout) -> None:
    p.comment("Upright, then flat, in this column.")
    p.label("try_column")
    p("ldx", m.column)
    p("lda", at(m.tops, "x"))
    p("sec")
    p("sbc", value(TWO_ROWS))
    p("bcc", "try_flat")
    p("sta", m.high_cell)
    p("adc", value(7), "and the carry: the row below")
    p("sta", m.low_cell)
    p("lda", value(1))
    p("jsr", "evaluate")
    p.label("try_flat")
    p("ldx", m.column)
    p("lda", at(m.tops + 1, "x"))
    p("sec")
    p("sbc", value(1))
    p("cmp", at(m.tops, "x"))
    p("bcc", "try_higher")
    p("lda", at(m.tops, "x"))
    p.label("try_higher")
    p("sec")
    p("sbc", value(TWO_ROWS))
    p("bcc", "wait_here")
    p("adc", value(7))
    p("sta", m.low_cell)
    p("adc", value(1))
    p("sta", m.high_cell)
    p("lda", value(0))
    p.label("evaluate", "A: 1 for an upright capsule")
    p("ora", m.turned)
    p("sta", m.rotation)


def _taking(p: Program, m: Layout) -> None:
    p("cmp", m.best)
    p("bcc", "wait_here")
    p("beq", "wait_here")
    p("sta", m.best)
    p("lda", m.column)
    p("sta", m.target_x)
    p("lda", m.rotation)
    p("sta", m.target_rotation)
    p.label("wait_here")
    p("rts")
