"""6502 code that counts the features of a drop (drops.FEATURES), exactly as the rules engine does; only those in use.

The capsule is written into the bottle, looked at, and taken out again, all within one call: nobody else sees it there.
Halves of one colour then need no thought of their own. It is exact for bottles at rest, which have no line of four.
"""

from __future__ import annotations

from collections.abc import Sequence

from mario_rl.distill.assembler import Address, AssemblyError, Program, at, through, value
from mario_rl.distill.drops import FEATURES
from mario_rl.distill.layout import EMPTY, GONE, VIRUS, Layout

ROW_BITS = 0xF8  # of a cell's number; the others are its column
LONGEST_RUN = 3
MOST_VIRUSES = 7
FARTHEST_FROM_WALL = 3
NOTHING, FLOOR, OTHER_VIRUS, OTHER_PIECE, SAME_COLOUR = range(5)  # what a half lies on

PAIRS = ("run", "run_viruses", "contact", "beside")
"""What is counted of either half, as NAME_low and NAME_high."""


def slots(uses: Sequence[str]) -> tuple[str, ...]:
    """The features in the order in which they are kept; of a half's the other half's, too, right behind it."""
    unknown = [name for name in uses if name not in FEATURES]
    if unknown:
        raise AssemblyError(f"no feature is called {unknown[0]}")
    halves = [pair for pair in PAIRS if any(f"{pair}_{half}" in uses for half in ("low", "high"))]
    paired = [f"{pair}_{half}" for pair in halves for half in ("low", "high")]
    return (*paired, *(name for name in FEATURES if name in uses and name not in paired))


class Counting:
    """Writes the code, part by part, into a program."""

    def __init__(self, program: Program, layout: Layout, uses: Sequence[str]):
        self.slots = slots(uses)
        self._program, self._layout = program, layout
        self._downwards = self._any("run", "run_viruses", "contact", "clears", "viruses_gone")
        self._sideways = self._any("beside", "clears", "viruses_gone")
        self._counts_viruses = self._any("run_viruses", "viruses_gone")

    def _any(self, *names: str) -> bool:
        return any(name in self.slots or f"{name}_low" in self.slots for name in names)

    def place(self, feature: str) -> Address:
        """Where a feature is kept; of a pair, the low half's."""
        name = feature if feature in self.slots else f"{feature}_low"
        return self._layout.features + self.slots.index(name)

    # --- before the drops -----------------------------------------------------------------------------------------

    def survey(self) -> None:
        """Code that finds the highest piece of each column, and how far the top row is open on either side."""
        p, m = self._program, self._layout
        p.comment("The highest piece of each column, as a cell; below the floor in an empty one.")
        p.label("survey")
        p("ldx", value(7))
        p.label("survey_column")
        p("txa")
        p("tay")
        p.label("survey_empty")
        p("lda", through(m.cells))
        p("cmp", value(GONE))
        p("bcc", "survey_found")
        p("tya")
        p("adc", value(7), "and the carry: a row down")
        p("tay")
        p("bpl", "survey_empty")
        p.label("survey_found")
        p("tya")
        p("sta", at(m.tops, "x"))
        if self._any("column_viruses"):
            self._count_column_viruses()
        p("dex")
        p("bpl", "survey_column")
        p.comment("How far the capsule can be moved along the top row.")
        p("ldx", value(3))
        p.label("survey_left")
        p("lda", at(m.tops - 1, "x"))
        p("cmp", value(8))
        p("bcc", "survey_left_end")
        p("dex")
        p("bne", "survey_left")
        p.label("survey_left_end")
        p("stx", m.first_column)
        p("ldx", value(4))
        p.label("survey_right")
        p("lda", at(m.tops + 1, "x"), "behind the last column a piece in the top row is noted")
        p("cmp", value(8))
        p("bcc", "survey_right_end")
        p("inx")
        p("bne", "survey_right")
        p.label("survey_right_end")
        p("stx", m.column)
        p("rts")

    def _count_column_viruses(self) -> None:
        p, m = self._program, self._layout
        p("lda", value(0))
        p("sta", at(m.column_viruses, "x"))
        p.label("survey_below")
        p("lda", through(m.cells))
        p("cmp", value(GONE))
        p("bcs", "survey_no_virus")
        p("cmp", value(VIRUS))
        p("bcc", "survey_no_virus")
        p("inc", at(m.column_viruses, "x"))
        p.label("survey_no_virus")
        p("tya")
        p("clc")
        p("adc", value(8))
        p("tay")
        p("bpl", "survey_below")

    # --- a drop ---------------------------------------------------------------------------------------------------

    def features(self) -> None:
        """Code, to be run into: counts the features of the capsule at low_cell and high_cell."""
        p = self._program
        if self._any("clears"):
            p("lda", value(0))
            p("sta", self.place("clears"))
        if self._any("viruses_gone"):
            p("lda", value(0))
            p("sta", self.place("viruses_gone"))
            self._shared()
        if self._downwards or self._sideways:
            self._both_halves()
        for name in ("top_row", "gap", "from_wall", "upright", "one_colour", "column_viruses"):
            if self._any(name):
                getattr(self, f"_{name}")()
                p("sta", self.place(name), name.replace("_", " "))

    def _both_halves(self) -> None:
        p, m = self._program, self._layout
        p("ldy", m.low_cell)
        p("lda", m.low_colour)
        p("sta", through(m.cells), "the capsule into the bottle")
        p("ldy", m.high_cell)
        p("lda", m.high_colour)
        p("sta", through(m.cells))
        p("ldx", value(1))
        p("jsr", "count_half")
        p("ldy", m.low_cell)
        p("lda", m.low_colour)
        p("ldx", value(0))
        p("jsr", "count_half")
        p("lda", value(EMPTY))
        p("ldy", m.low_cell)
        p("sta", through(m.cells), "and out again")
        p("ldy", m.high_cell)
        p("sta", through(m.cells))

    def _shared(self) -> None:
        """Which line the two halves share: 1 a column, 0 a row, 2 none."""
        p, m = self._program, self._layout
        p("ldx", value(2))
        p("lda", m.low_colour)
        p("cmp", m.high_colour)
        p("bne", "nothing_shared")
        p("lda", m.rotation)
        p("and", value(1))
        p("tax")
        p.label("nothing_shared")
        p("stx", m.shared)

    def _top_row(self) -> None:
        p, m = self._program, self._layout
        p("lda", m.high_cell)
        for _ in range(3):
            p("lsr")
        p("eor", value(15), "16 - row")
        p("clc")
        p("adc", value(1))

    def _gap(self) -> None:
        """Of a straight drop: by how much the tops of its two columns differ."""
        p, m = self._program, self._layout
        p("lda", m.rotation)
        p("lsr")
        p("lda", value(0))
        p("bcs", "gap_counted")
        p("ldx", m.column)
        p("lda", at(m.tops + 1, "x"))
        p("clc")
        p("sbc", at(m.tops, "x"), "the other column's cell is one more, which the carry takes off")
        p("bcs", "gap_positive")
        p("eor", value(0xFF))
        p("adc", value(1))
        p.label("gap_positive")
        for _ in range(3):
            p("lsr")
        p.label("gap_counted")

    def _from_wall(self) -> None:
        p, m = self._program, self._layout
        p("lda", m.rotation)
        p("and", value(1))
        p("clc")
        p("adc", value(6))
        p("sec")
        p("sbc", m.column)
        p("cmp", m.column)
        p("bcc", "wall_nearer")
        p("lda", m.column)
        p.label("wall_nearer")
        p("cmp", value(FARTHEST_FROM_WALL + 1))
        p("bcc", "wall_counted")
        p("lda", value(FARTHEST_FROM_WALL))
        p.label("wall_counted")

    def _upright(self) -> None:
        p, m = self._program, self._layout
        p("lda", m.rotation)
        p("and", value(1))

    def _one_colour(self) -> None:
        p, m = self._program, self._layout
        p("lda", m.low_colour)
        p("cmp", m.high_colour)
        p("beq", "one_colour_yes")
        p("lda", value(0))
        p("beq", "one_colour_known")
        p.label("one_colour_yes")
        p("lda", value(1))
        p.label("one_colour_known")

    def _column_viruses(self) -> None:
        p, m = self._program, self._layout
        p("ldx", m.column)
        p("lda", m.rotation)
        p("lsr")
        p("lda", at(m.column_viruses, "x"))
        p("bcs", "viruses_of_one")
        p("adc", at(m.column_viruses + 1, "x"))
        p.label("viruses_of_one")
        p("cmp", value(MOST_VIRUSES + 1))
        p("bcc", "viruses_counted")
        p("lda", value(MOST_VIRUSES))
        p.label("viruses_counted")

    # --- a half ---------------------------------------------------------------------------------------------------

    def routines(self) -> None:
        """The routine `count_half` and what it calls."""
        if not (self._downwards or self._sideways):
            return
        p, m = self._program, self._layout
        p.comment("Counts about one half: A its colour, Y its cell, X 0 for the low one or 1 for the high one.")
        p.label("count_half")
        p("stx", m.half)
        p("sty", m.cell)
        p("sta", m.colour)
        if self._downwards:
            self._below()
        if self._sideways:
            self._beside()
        p("rts")
        if self._any("viruses_gone"):
            self._line_routine()
        self._count_routine()

    def _below(self) -> None:
        p, m = self._program, self._layout
        if self._counts_viruses:
            p("lda", value(0))
            p("sta", m.viruses)
        p("lda", value(LONGEST_RUN))
        p("sta", m.bound)
        p("lda", value(8))
        p("jsr", "count", "downwards")
        if self._any("contact"):
            self._contact()
        elif self._any("run", "run_viruses"):
            p("ldy", m.half)
        if self._any("run"):
            p("txa")
            p("sta", at(self.place("run"), "y"))
        if self._any("run_viruses"):
            p("lda", m.viruses)
            p("sta", at(self.place("run_viruses"), "y"))
        if self._any("clears", "viruses_gone"):
            p("txa")
            self._line("below", upright=1)

    def _contact(self) -> None:
        """Y is the cell behind those that were counted, X their number."""
        p, m = self._program, self._layout
        p("txa")
        p("bne", "lies_on_same")
        p("tya")
        p("bmi", "lies_on_floor")
        p("lda", through(m.cells))
        p("cmp", value(GONE))
        p("bcs", "lies_on_nothing")
        p("cmp", value(VIRUS))
        p("lda", value(OTHER_VIRUS))
        p("bcs", "lies_on_known")
        p("lda", value(OTHER_PIECE))
        p("bcc", "lies_on_known")
        p.label("lies_on_nothing")
        p("lda", value(NOTHING))
        p("beq", "lies_on_known")
        p.label("lies_on_floor")
        p("lda", value(FLOOR))
        p("bne", "lies_on_known")
        p.label("lies_on_same")
        p("lda", value(SAME_COLOUR))
        p.label("lies_on_known")
        p("ldy", m.half)
        p("sta", at(self.place("contact"), "y"))

    def _beside(self) -> None:
        p, m = self._program, self._layout
        if self._any("viruses_gone"):
            p("lda", value(0))
            p("sta", m.viruses)
        p("lda", value(ROW_BITS))
        p("sta", m.bound)
        p("lda", value(-1))
        p("jsr", "count", "to the left")
        p("stx", m.beside)
        p("lda", value(1))
        p("jsr", "count", "to the right")
        p("txa")
        p("clc")
        p("adc", m.beside)
        if self._any("beside"):
            p("cmp", value(LONGEST_RUN))
            p("bcc", "beside_counted")
            p("lda", value(LONGEST_RUN))
            p.label("beside_counted")
            p("ldy", m.half)
            p("sta", at(self.place("beside"), "y"))
        if self._any("clears", "viruses_gone"):
            self._line("beside", upright=0)

    def _line(self, name: str, upright: int) -> None:
        """A: cells of the half's colour in one direction and its opposite; with three there is a line of four."""
        p = self._program
        if self._any("viruses_gone"):
            p("ldy", value(upright))
            p("jsr", "line")
            return
        p("cmp", value(LONGEST_RUN))
        p("bcc", f"no_line_{name}")
        p("lda", value(1))
        p("sta", self.place("clears"))
        p.label(f"no_line_{name}")

    def _line_routine(self) -> None:
        p, m = self._program, self._layout
        p.comment(
            "A: cells of its colour in line with the half, Y 1 for a column. The halves of one colour share theirs."
        )
        p.label("line")
        p("cpy", m.shared)
        p("bne", "line_own")
        p("ldy", m.half)
        p("bne", "line_none", "the low half counts it")
        p("clc")
        p("adc", m.shared, "the upper half, which is not below")
        p.label("line_own")
        p("cmp", value(LONGEST_RUN))
        p("bcc", "line_none")
        if self._any("clears"):
            p("lda", value(1))
            p("sta", self.place("clears"))
        p("lda", m.viruses)
        p("clc")
        p("adc", self.place("viruses_gone"))
        p("cmp", value(MOST_VIRUSES + 1))
        p("bcc", "line_counted")
        p("lda", value(MOST_VIRUSES))
        p.label("line_counted")
        p("sta", self.place("viruses_gone"))
        p.label("line_none")
        p("rts")

    def _count_routine(self) -> None:
        p, m = self._program, self._layout
        p.comment("X: cells of the colour from the cell on, itself left out, in steps of A. Y: the cell behind them.")
        p.comment(
            "The bound says how many at most (3, or any), and at the same time which bits of a cell may not change."
        )
        p.label("count")
        p("sta", m.step)
        p("ldx", value(0))
        p("ldy", m.cell)
        p.label("count_next")
        p("tya")
        p("clc")
        p("adc", m.step)
        p("tay")
        p("eor", m.cell)
        p("and", m.bound)
        p("bne", "count_end", "beyond the wall")
        p("lda", through(m.cells))
        p("cmp", value(GONE))
        p("bcs", "count_end")
        p("eor", m.colour)
        p("and", value(3))
        p("bne", "count_end")
        if self._counts_viruses:
            p("lda", through(m.cells))
            p("cmp", value(VIRUS))
            p("bcc", "count_no_virus")
            p("inc", m.viruses)
            p.label("count_no_virus")
        p("inx")
        p("cpx", m.bound)
        p("bne", "count_next")
        p.label("count_end")
        p("rts")
