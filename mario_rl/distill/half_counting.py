"""6502 code that counts what there is to know about one half of a capsule, and what is done with what is counted.

A half is looked at while the capsule lies in the bottle (counting.py puts it there): what it lies on, what is beside
it, which lines it completes. What becomes of a feature once it is counted is up to the form: a `Writer` writes that
code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mario_rl.distill.assembler import Program
from mario_rl.distill.drops import FEATURES, GROUND, NO_VIRUS, RUN, WANTED
from mario_rl.distill.layout import GONE, VIRUS, Layout
from mario_rl.distill.operands import Address, AssemblyError, at, through, value

ROW_BITS = 0xF8  # of a cell's number; the others are its column
LONGEST_RUN = 3
MOST_VIRUSES = 7

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


class HalfCounting:
    """Writes the code for halves; only for the features in use."""

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

    def _tells_halves(self, writer: Writer) -> bool:
        return writer.tells_halves or self.counts("viruses_gone")

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
