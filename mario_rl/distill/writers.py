"""What forms have in common when they are written as 6502 code: features kept for later, or added up at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np

from mario_rl.distill.assembler import Program
from mario_rl.distill.counting import Counting
from mario_rl.distill.drops import MOST
from mario_rl.distill.half_counting import GATHERED, PAIRS
from mario_rl.distill.layout import Layout
from mario_rl.distill.operands import Address, at, value
from mario_rl.environment.drmario.memory import ROWS

WIDEST_BESIDE = 7
KEPT = 5  # bytes in the zero page
# Features as code counts them: first what is known of a drop, then of each half, then of the drop once more.
COUNTED_FIRST = "upright"
COUNTED = (COUNTED_FIRST, "wanted", "ground", "run_viruses", "beside", "clears", "viruses_gone", "top_row", "gap",
           "from_wall", "one_colour", "column_viruses", "whim")  # fmt: skip


class KeepingWriter(ABC):
    """Keeps every feature in a byte of its own; what is done with them then is written by a subclass."""

    clamps = True
    tells_halves = True

    def __init__(self, program: Program, layout: Layout, counting: Counting):
        self.program, self.layout, self.counting = program, layout, counting

    def begin(self) -> None:  # noqa: B027 - most have nothing to do here
        """Nothing."""

    def wants(self, feature: str) -> bool:
        """All of them."""
        return True

    def take(self, feature: str) -> None:
        """See `Writer.take`."""
        if feature in PAIRS:
            self.program("ldy", self.layout.half)
            self.program("sta", at(self.counting.place(feature), "y"))
        elif feature not in GATHERED:  # these are in their places already
            self.program("sta", self.counting.place(feature), feature.replace("_", " "))

    def end_half(self) -> None:
        """See `Writer.end_half`."""
        self.program("rts")

    def finish(self) -> None:
        """See `Writer.finish`."""
        self.program.label("counted")
        self.weigh()

    @abstractmethod
    def weigh(self) -> None:
        """Code that leaves the score of the features that are kept in A."""

    @abstractmethod
    def routines(self) -> None:
        """See `Writer.routines`."""


class AddingWriter:
    """Looks features up in small tables, alone or several together, as soon as they are counted, and adds."""

    clamps = False
    tells_halves = False

    def __init__(
        self,
        program: Program,
        layout: Layout,
        counting: Counting,
        bias: int,
        tables: Mapping[tuple[str, ...], Sequence[int]],
    ):
        self.program, self.layout = program, layout
        self._bias, self._tables = bias, tables
        endings = [names[-1] for names in tables]
        together = {name for names in tables for name in names[:-1]} | {n for n in endings if endings.count(n) > 1}
        self._kept = {name: _kept(layout, counting, number) for number, name in enumerate(sorted(together))}
        self._factors: dict[tuple[str, int], str] = {}
        self._adds = False

    def begin(self) -> None:
        """See `Writer.begin`."""
        p, m = self.program, self.layout
        p("lda", value(self._bias & 0xFF))
        p("sta", m.score)
        if COUNTED_FIRST in self._kept:
            p("lda", m.rotation)
            p("and", value(1))
            p("sta", self._kept[COUNTED_FIRST], COUNTED_FIRST)

    def wants(self, feature: str) -> bool:
        """Not if all there is to know about it was known at the beginning."""
        return feature != COUNTED_FIRST or (COUNTED_FIRST,) in self._tables

    def take(self, feature: str) -> None:
        """See `Writer.take`."""
        p = self.program
        ending = [names for names in self._tables if names[-1] == feature]
        if feature in self._kept and feature != COUNTED_FIRST:
            p("sta", self._kept[feature])
        for number, names in enumerate(ending):
            if number:
                p("lda", self._kept[feature])
            self._look_up(names)
            p("jsr", "add")

    def _look_up(self, names: tuple[str, ...]) -> None:
        p = self.program
        stride = width(names[-1])
        for number, name in enumerate(reversed(names[:-1])):
            p("ldy", self._kept[name])
            if number == 0:
                p("clc")
            p("adc", at(self._factor(name, stride), "y"))
            stride *= width(name)
        if not self._is_itself(names):
            p.move_to_y()
            p("lda", at(label(names), "y"))

    def _is_itself(self, names: tuple[str, ...]) -> bool:
        wide = widened(names, self._tables[names])
        return len(names) == 1 and wide == list(range(len(wide)))

    def _factor(self, name: str, stride: int) -> str:
        return self._factors.setdefault((name, stride), f"times_{stride}_{name}")

    def finish(self) -> None:
        """See `Writer.finish`."""
        if not self.program.has_just_called("add"):  # which leaves it in A
            self.program("lda", self.layout.score)

    def end_half(self) -> None:
        """See `Writer.end_half`."""
        self.program.run_into("add")
        self._add()

    def _add(self) -> None:
        p, m = self.program, self.layout
        p("clc")
        p("adc", m.score)
        p("sta", m.score)
        p("rts")
        self._adds = True

    def routines(self) -> None:
        """See `Writer.routines`."""
        p = self.program
        if not self._adds:  # no half is looked at
            p.label("add")
            self._add()
        for (name, stride), called in self._factors.items():
            p.label(called)
            p.data([stride * number for number in range(width(name))])
        for names, numbers in self._tables.items():
            if self._is_itself(names):
                continue
            p.label(label(names))
            wide = widened(names, numbers)
            for start in range(0, len(wide), 16):
                p.data([number & 0xFF for number in wide[start : start + 16]])


def _kept(layout: Layout, counting: Counting, number: int) -> Address:
    """The bytes behind those that are gathered, unless there is one in the zero page."""
    return layout.kept + number if number < KEPT else layout.features + len(counting.slots) + number - KEPT


def label(names: tuple[str, ...]) -> str:
    """Of a table."""
    return f"worth_of_{'_and_'.join(names)}"


def width(name: str) -> int:
    """How many values a feature, or a pair, has as the code counts it."""
    return len(_as_counted(name))


def _as_counted(name: str) -> list[int]:
    """What a feature's value is, by what the code counts: up to 7 cells beside a half, rows from the top."""
    if name == "top_row":
        return [ROWS - row for row in range(ROWS)]
    most = MOST[f"{name}_low" if name in PAIRS else name]
    return [min(number, most) for number in range(WIDEST_BESIDE + 1 if name == "beside" else most + 1)]


def widened(names: tuple[str, ...], numbers: Sequence[int]) -> list[int]:
    """A table by the values as they are counted: what is said of 3 cells beside a half is said of more, too."""
    table = np.array(numbers).reshape([MOST[f"{name}_low" if name in PAIRS else name] + 1 for name in names])
    return table[np.ix_(*map(_as_counted, names))].ravel().tolist()
