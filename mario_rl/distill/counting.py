"""6502 code that counts the features of a drop (drops.FEATURES), exactly as the rules engine does; only those in use.

The capsule is written into the bottle, looked at, and taken out again, all within one call: nobody else sees it there.
Halves of one colour then need no thought of their own. It is exact for bottles at rest, which have no line of four.
"""

from __future__ import annotations

from mario_rl.distill.drops import MOST_WHIM, WANTED, WHIM
from mario_rl.distill.half_counting import GATHERED, MOST_VIRUSES, HalfCounting, Writer
from mario_rl.distill.layout import EMPTY, GONE, VIRUS
from mario_rl.distill.operands import at, through, value

FARTHEST_FROM_WALL = 3
SKIP_NEXT = 0x2C  # BIT with an absolute address: the two bytes behind it are not run


class Counting(HalfCounting):
    """Writes the code, part by part, into a program."""

    # --- before the drops -----------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Code, to be run into when a capsule has come in, X the seat: what is the same for all its drops."""
        p, m = self._program, self._layout
        if self.counts(WHIM):
            p("lda", at(m.capsules, "x"))
            p("sta", m.capsule)

    def survey_column(self) -> None:
        """Code, to be run into with Y the highest piece of column X."""
        if self.counts(WANTED):
            self._survey_highest_virus()
        if self.counts("column_viruses"):
            self._survey_viruses()

    def _survey_highest_virus(self) -> None:
        p, m = self._program, self._layout
        p.label("survey_virus")
        p("lda", through(m.field))
        p("cmp", value(GONE))
        p("bcs", "survey_lower")
        p("cmp", value(VIRUS))
        p("bcs", "survey_highest")
        p.label("survey_lower")
        p("tya")
        p("clc")
        p("adc", value(8))
        p("tay")
        p("bpl", "survey_virus")
        p.data([SKIP_NEXT], "none: negative")
        p.label("survey_highest")
        p("and", value(3))
        p("sta", at(m.highest_virus, "x"))

    def _survey_viruses(self) -> None:
        p, m = self._program, self._layout
        if self.counts(WANTED):
            p("ldy", at(m.tops, "x"))
        p("lda", value(0))
        p("sta", at(m.column_viruses, "x"))
        p.label("survey_below")
        p("lda", through(m.field))
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

    def features(self, writer: Writer) -> None:
        """Code, to be run into with the low cell in Y: the features of the capsule at low_cell and high_cell."""
        p = self._program
        gathered = [name for name in GATHERED if self.counts(name)]
        writer.begin()
        if gathered:
            p("lda", value(0))
            for name in gathered:
                p("sta", self.place(name))
        if self.counts("viruses_gone"):
            self._shared()
        if self._looks_at_halves:
            self._put_in()
            self._both_halves(writer)
        for name in gathered:
            p("lda", self.place(name))
            writer.take(name)
        if self.counts("top_row"):
            self._top_row(writer)
            writer.take("top_row")
        for name in ("gap", "from_wall", "upright", "one_colour", "column_viruses", WHIM):
            if self.counts(name) and writer.wants(name):
                getattr(self, f"_{name}")()
                writer.take(name)
        writer.finish()

    def _put_in(self) -> None:
        """Y: the low cell. It leaves the high one in Y, and its colour in A."""
        p, m = self._program, self._layout
        p("lda", m.low_colour)
        p("sta", through(m.field), "the capsule into the bottle")
        p("ldy", m.high_cell)
        p("lda", m.high_colour)
        p("sta", through(m.field))

    def _both_halves(self, writer: Writer) -> None:
        p, m = self._program, self._layout
        for half in (1, 0):
            if half == 0:
                p("ldy", m.low_cell)
                p("lda", m.low_colour)
            if self._tells_halves(writer):
                p("ldx", value(half))
            p("jsr", "count_half")
        p("lda", value(EMPTY))
        p("ldy", m.low_cell)
        p("sta", through(m.field), "and out again")
        p("ldy", m.high_cell)
        p("sta", through(m.field))

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

    def _top_row(self, writer: Writer) -> None:
        p, m = self._program, self._layout
        p("lda", m.high_cell)
        for _ in range(3):
            p("lsr")
        if writer.clamps:
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

    def _whim(self) -> None:
        p, m = self._program, self._layout
        p("lda", m.capsule)
        p("eor", m.column)
        p("and", value(MOST_WHIM))
