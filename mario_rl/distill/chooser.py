"""A whole player inside the cartridge: when it thinks, what it looks at, how it steers; around a form that scores.

When a capsule has come in it surveys the bottle and thinks about some columns; about others in the first frames in
which it falls, with nothing pressed. Then it steers: a tap in every second frame, and when all is right, DOWN.
mirror.py does exactly the same in Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from mario_rl.distill.assembler import Program
from mario_rl.distill.counting import Counting
from mario_rl.distill.half_counting import Writer
from mario_rl.distill.layout import ANTIDOTE, EMPTY, Layout, Memory
from mario_rl.distill.listing import Assembled
from mario_rl.distill.operands import at, high, low, through, value
from mario_rl.emulators.base import DOWN, LEFT, RIGHT, A
from mario_rl.environment.drmario.memory import ACTION_SPAWNED, COLUMNS

ANTIDOTE_ORIGIN = 0xE000
TWO_ROWS = 16  # cells
FULL = 8  # a column whose highest piece is a cell below this number has one in the top row
SPEEDS = (8, 4, 2, 1)
"""How many columns it may think about in a frame: powers of two, so that a column's number tells where to stop."""
LEAST_SCORE = ACTION_SPAWNED
"""The player begins with this as its best score: the byte is at hand when it is asked."""


class Scorer(Protocol):
    """The form that was distilled."""

    @property
    def uses(self) -> tuple[str, ...]:
        """The features it looks at."""

    def writer(self, program: Program, layout: Layout, counting: Counting) -> Writer:
        """What writes its code."""


@dataclass(frozen=True)
class Place:
    """Where a player is put: its address, its memory, and the head that the cartridge calls."""

    origin: int
    memory: Memory
    presses_in: int
    """The last bit of the frame counter, as the player sees it, in those frames whose answer may press something: DOWN
    counts only where the game sees an odd number."""


IN_ANTIDOTE = Place(ANTIDOTE_ORIGIN, ANTIDOTE, presses_in=0)


def compile_player(scorer: Scorer, columns_a_frame: int, place: Place = IN_ANTIDOTE) -> Assembled:
    """The player with this scorer, that thinks about so many columns in a frame."""
    if columns_a_frame not in SPEEDS:
        raise ValueError(f"it thinks about {', '.join(map(str, SPEEDS))} columns in a frame, not {columns_a_frame}")
    program = Program(place.origin)
    layout = place.memory.layout(program)
    counting = Counting(program, layout, scorer.uses)
    writer = scorer.writer(program, layout, counting)
    write_head(program)
    _survey(program, layout, counting)
    _thinking(program, layout, columns_a_frame)
    _steering(program, layout, place)
    _evaluation(program, layout)
    counting.features(writer)
    _taking(program, layout)
    counting.routines(writer)
    writer.routines()
    return program.assemble()


def write_head(p: Program) -> None:
    """The address of the steering, then the thinking."""
    p.data([low("steer"), high("steer")], "called in every frame in which the capsule falls")
    p.label("think", "called when it has come in: A 3, X 0 or $80 for the seat")


def _survey(p: Program, m: Layout, counting: Counting) -> None:
    p("sta", m.best)
    p("sta", m.target_x, "if nothing fits")
    p("sta", m.target_rotation)
    p("sta", m.tops + COLUMNS, "behind the last column there is no room")
    p("lda", at(m.second_colour, "x"))
    p("sta", m.low_colour)
    p("lda", at(m.first_colour, "x"))
    p("sta", m.high_colour)
    counting.prepare()
    p.comment("The highest piece of each column, as a cell; below the floor in an empty one.")
    p("ldx", value(COLUMNS - 1))
    p("stx", m.column)
    p.label("survey_column")
    write_fall(p, m)
    write_top(p, m)
    counting.survey_column()
    p("dex")
    p("bpl", "survey_column")
    p.comment("Behind a column that is full to the top nothing can be reached, as if it were full, too.")
    p("ldx", value(3))
    p.label("bar_left")
    p("lda", at(m.tops, "x"))
    p("cmp", value(FULL))
    p("bcs", "open_left")
    p("sta", at(m.tops - 1, "x"))
    p.label("open_left")
    p("dex")
    p("bne", "bar_left")
    p("ldx", value(4))
    p.label("bar_right")
    p("lda", at(m.tops, "x"))
    p("cmp", value(FULL))
    p("bcs", "open_right")
    p("sta", at(m.tops + 1, "x"))
    p.label("open_right")
    p("inx")
    p("cpx", value(COLUMNS - 1))
    p("bne", "bar_right")


def write_fall(p: Program, m: Layout) -> None:
    """Leave the highest piece of column X in Y, as a cell; below the floor if the column is empty."""
    p("txa")
    p("tay")
    p.label("survey_empty")
    p("lda", through(m.field))
    p("cmp", value(EMPTY))
    p("bcc", "survey_found")
    p("tya")
    p("adc", value(7), "and the carry: a row down")
    p("tay")
    p("bpl", "survey_empty")
    p.label("survey_found")


def write_top(p: Program, m: Layout) -> None:
    """Note Y as the top of column X."""
    if p.is_in_zero_page(m.tops):
        p("sty", at(m.tops, "x"))
    else:
        p("tya")
        p("sta", at(m.tops, "x"))


def _steering(p: Program, m: Layout, place: Place) -> None:
    p.label("steer")
    p("ldy", m.column)
    p("bpl", "ponder", "there is more to think about")
    write_taps(p, m, place)


def write_taps(p: Program, m: Layout, place: Place) -> None:
    """The steering: in every second frame a tap, to the side and by a quarter at once; when all is right, DOWN."""
    write_release(p, m, place)
    write_move(p, m)
    p("ldy", at(m.capsule_rotation, "x"))
    p("cpy", m.target_rotation)
    p("beq", "press")
    p("ora", value(A), "by a quarter")
    p("and", value(A | LEFT | RIGHT), "but do not drop it meanwhile")
    write_press(p, m)


def write_release(p: Program, m: Layout, place: Place) -> None:
    """The beginning of the steering: nothing is pressed in every second frame."""
    p("lda", m.frame_counter)
    p("lsr", comment="press before odd frames, in which DOWN counts, release before even ones")
    p("bcs" if place.presses_in == 0 else "bcc", "done")


def write_move(p: Program, m: Layout) -> None:
    """Code that leaves LEFT or RIGHT in A, or DOWN if the column is right."""
    p("lda", value(DOWN))
    p("ldy", at(m.capsule_x, "x"))
    p("cpy", m.target_x)
    p("beq", "moved")
    p("bcs", "go_left")
    p("lsr", comment="LEFT is half of DOWN, RIGHT a quarter")
    p.label("go_left")
    p("lsr")
    p.label("moved")


def write_press(p: Program, m: Layout) -> None:
    """The end of the steering: press what is in A."""
    p.label("press")
    p("sta", m.player_pad)
    p.label("done")
    p("rts")


def _thinking(p: Program, m: Layout, columns_a_frame: int) -> None:
    p.comment("Think about columns, from the right to the left: both orders of the colours, upright and flat.")
    p.label("ponder")
    p("lda", value(3))
    p("sta", m.rotation)
    p.label("ponder_order")
    p("ldx", m.column)
    p("ldy", at(m.tops, "x"))
    p("lda", value(TWO_ROWS))
    p("jsr", "evaluate")
    p("dec", m.rotation)
    p("ldx", m.column)
    p("ldy", at(m.tops, "x"))
    p("tya")
    p("cmp", at(m.tops + 1, "x"))
    p("bcc", "ponder_flat", "the left column is as high, or higher")
    p("ldy", at(m.tops + 1, "x"))
    p("dey")
    p.label("ponder_flat")
    p("lda", value(7))
    p("jsr", "evaluate")
    p("ldx", m.low_colour, "the other way round")
    p("ldy", m.high_colour)
    p("stx", m.high_colour)
    p("sty", m.low_colour)
    p("dec", m.rotation)
    p("bpl", "ponder_order")
    p("dec", m.column)
    if columns_a_frame == 2:
        p("lda", m.column)
        p("lsr")
        p("bcc", "ponder", "two columns in a frame")
    elif columns_a_frame > 2:
        p("lda", m.column)
        p("eor", value(0xFF))
        p("and", value(columns_a_frame - 1))
        p("bne", "ponder", f"{columns_a_frame} columns in a frame")
    p("rts")


def _evaluation(p: Program, m: Layout) -> None:
    p.comment("Y: the cell below the low half. A: how far above it the high one is.")
    p.label("evaluate")
    p("cpy", value(TWO_ROWS))
    p("bcc", "no_room")
    p("sta", m.step)
    p("tya")
    p("sbc", m.step)
    p("sta", m.high_cell)
    p("tya")
    p("sbc", value(8))
    p("sta", m.low_cell)
    p("tay")


def _taking(p: Program, m: Layout) -> None:
    p("cmp", m.best)
    p("bcc", "no_room")
    p("sta", m.best)
    p("lda", m.column)
    p("sta", m.target_x)
    p("lda", m.rotation)
    p("sta", m.target_rotation)
    p.label("no_room")
    p("rts")
