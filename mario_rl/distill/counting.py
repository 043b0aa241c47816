"""6502 code that counts the features of a drop (drops.FEATURES), exactly as the rules engine does; only those in use.

The capsule is written into the bottle, looked at, and taken out again, all within one call: nobody else sees it there.
Halves of one colour then need no thought of their own. It is exact for bottles at rest, which have no line of four.
What becomes of a feature once it is counted is up to the form: a `Writer` writes that code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mario_rl.distill.assembler import Address, AssemblyError, Program, at, through, value
from mario_rl.distill.drops import (
    FEATURES,
    GROUND,
    MOST_WHIM,
    NO_VIRUS,
    RUN,
    WANTED,
    WHIM,
)
from mario_rl.distill.layout import EMPTY, GONE, VIRUS, Layout

ROW_BITS = 0xF8  # of a cell's number; the others are its column
LONGEST_RUN = 3
MOST_VIRUSES = 7
FARTHEST_FROM_WALL = 3
SKIP_NEXT = 0x2C  # BIT with an absolute address: the two bytes behind it are not run

PAIRS = ("run_viruses", GROUND, "beside", WANTED)
"""What is counted of either half, as NAME_low and NAME_high."""
GATHERED = ("clears", "viruses_gone")
"""What is known only when both halves have been looked at."""


class Writer(Protocol):
    """Writes what is done with the features that are counted."""

    clamps: bool
    """It wants the features as they are defined; otherwise "beside" may be up to 7 instead of 3, and "top_row" is the
    row itself, from the top."""
    tells_halves: bool
    """It wants to know in `half` which half is looked at."""

    def begin(self) -> None:
        """Code that is run before a drop's features are counted; it leaves Y alone."""

    def wants(self, feature: str) -> bool:
        """Whether there is anything to do with a feature of the whole drop."""

    def take(self, feature: str) -> None:
        """Code that takes a feature from A, of a pair that of the half in `half`; it leaves X alone."""

    def finish(self) -> None:
        """Code that is run after them, and leaves the score, 3 to 255, in A."""

    def end_half(self) -> None:
        """Code that ends what is counted of a half: an `rts`, or a routine that is run into."""

    def routines(self) -> None:
        """The tables and routines that it needs."""


def slots(uses: Sequence[str]) -> tuple[str, ...]:
    """The features in the order in which they are kept; of a half's the other half's, too, right behind it."""
    unknown = [name for name in uses if name not in FEATURES]
    if unknown:
        raise AssemblyError(f"no feature is called {unknown[0]}")
    halves = [pair for pair in PAIRS if any(f"{pair}_{half}" in uses for half in ("low", "high"))]
    paired = [f"{pair}_{half}" for pair in halves for half in ("low", "high")]
    return (*paired, *(name for name in FEATURES if name in uses and name not in paired))


def pair_of(feature: str) -> str:
    """The name under which a feature is counted: that of its pair, or its own."""
    pair = feature.removesuffix("_low").removesuffix("_high")
    return pair if pair in PAIRS else feature


class Counting:
    """Writes the code, part by part, into a program."""

    def __init__(self, program: Program, layout: Layout, uses: Sequence[str]):
        self.slots = slots(uses)
        self._program, self._layout = program, layout
        self._downwards = self.counts(GROUND, "run_viruses", "clears", "viruses_gone")
        self._sideways = self.counts("beside", "clears", "viruses_gone")
        self._looks_at_halves = self._downwards or self._sideways or self.counts(WANTED)
        self._counts_viruses = self.counts("run_viruses", "viruses_gone")

    def counts(self, *names: str) -> bool:
        """Whether any of these is in use."""
        return any(name in self.slots or f"{name}_low" in self.slots for name in names)

    def place(self, feature: str) -> Address:
        """Where a feature is kept; of a pair, the low half's."""
        name = feature if feature in self.slots else f"{feature}_low"
        return self._layout.features + self.slots.index(name)

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

    def _tells_halves(self, writer: Writer) -> bool:
        return writer.tells_halves or self.counts("viruses_gone")

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

    # --- a half ---------------------------------------------------------------------------------------------------

    def routines(self, writer: Writer) -> None:
        """The routine `count_half` and what it calls."""
        if not self._looks_at_halves:
            return
        p, m = self._program, self._layout
        p.comment(
            "Counts about one half: A its colour, Y its cell; X, if it matters, 0 for the low one, 1 for the high one."
        )
        p.label("count_half")
        if self._tells_halves(writer):
            p("stx", m.half)
        p("sty", m.cell)
        p("sta", m.colour)
        if self.counts(WANTED):
            self._wanted(writer)
        if self._downwards:
            self._below(writer)
        if self._sideways:
            self._beside(writer)
        writer.end_half()
        if self.counts("viruses_gone"):
            self._line_routine()
        self._count_routine()

    def _below(self, writer: Writer) -> None:
        p, m = self._program, self._layout
        if self._counts_viruses:
            p("lda", value(0))
            p("sta", m.viruses)
        p("lda", value(LONGEST_RUN))
        p("sta", m.bound)
        p("lda", value(8))
        p("jsr", "count", "downwards")
        if self.counts(GROUND):
            self._ground()
            writer.take(GROUND)
        if self.counts("run_viruses"):
            p("lda", m.viruses)
            writer.take("run_viruses")
        if self.counts(*GATHERED):
            p("txa")
            self._line("below", upright=1)

    def _ground(self) -> None:
        """Y is the cell behind those that were counted, X their number, which it leaves alone if lines matter.

        The other half is a bare colour while it is looked at, pieces are $40 to $82, viruses $D0, nothing is $FF.
        """
        p, m = self._program, self._layout
        if self.counts(*GATHERED):
            p("stx", m.step)
        p("txa")
        p("bne", "lies_on_run")
        p("tya")
        p("bmi", "lies_on_run", "the floor")
        p("lda", through(m.field))
        p("cmp", value(VIRUS))
        p("bcc", "lies_on_known", "another colour")
        p("inx")
        p("cmp", value(GONE))
        p("bcc", "lies_on_known", "a virus of another colour")
        p("inx")
        p("bne", "lies_on_known", "nothing")
        p.label("lies_on_run")
        for _ in range(RUN - 1):
            p("inx")
        p.label("lies_on_known")
        p("txa")
        if self.counts(*GATHERED):
            p("ldx", m.step)

    def _beside(self, writer: Writer) -> None:
        p, m = self._program, self._layout
        if self.counts("viruses_gone"):
            p("lda", value(0))
            p("sta", m.viruses)
        p("lda", value(ROW_BITS))
        p("sta", m.bound)
        p("lda", value(-1))
        p("jsr", "count", "to the left")
        p("lda", value(1))
        p("jsr", "count_on", "to the right")
        if self.counts("beside"):
            p("txa")
            if writer.clamps:
                p("cmp", value(LONGEST_RUN))
                p("bcc", "beside_counted")
                p("lda", value(LONGEST_RUN))
                p.label("beside_counted")
            writer.take("beside")
        if self.counts(*GATHERED):
            p("txa")
            self._line("beside", upright=0)

    def _wanted(self, writer: Writer) -> None:
        """Y is the half's cell."""
        p, m = self._program, self._layout
        p("tya")
        p("and", value(7))
        p("tay")
        p("ldx", value(NO_VIRUS))
        p("lda", at(m.highest_virus, "y"))
        p("bmi", "wanted_known")
        p("inx")
        p("cmp", m.colour)
        p("bne", "wanted_known")
        p("inx")
        p.label("wanted_known")
        p("txa")
        writer.take(WANTED)

    def _line(self, name: str, upright: int) -> None:
        """A: cells of the half's colour in one direction and its opposite; with three there is a line of four."""
        p = self._program
        if self.counts("viruses_gone"):
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
        if self.counts("clears"):
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
        p("ldx", value(0))
        p.label("count_on", "adds to X")
        p("sta", m.step)
        p("ldy", m.cell)
        p.label("count_next")
        p("tya")
        p("clc")
        p("adc", m.step)
        p("tay")
        p("eor", m.cell)
        p("and", m.bound)
        p("bne", "count_end", "beyond the wall")
        p("lda", through(m.field))
        p("cmp", value(GONE))
        p("bcs", "count_end")
        p("eor", m.colour)
        p("and", value(3))
        p("bne", "count_end")
        if self._counts_viruses:
            p("lda", through(m.field))
            p("cmp", value(VIRUS))
            p("bcc", "count_no_virus")
            p("inc", m.viruses)
            p.label("count_no_virus")
        p("inx")
        p("cpx", m.bound)
        p("bne", "count_next")
        p.label("count_end")
        p("rts")
