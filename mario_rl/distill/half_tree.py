"""A form that asks each half of the capsule the same few questions, and adds up what both halves score.

A tree about whole drops has to ask about one half below every answer about the other; this one does not, so a small one
says more. A whim of up to 7 points decides between places that are worth the same. In its table a leaf is $80 and its
score.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from mario_rl.distill.assembler import Program
from mario_rl.distill.chooser import LEAST_SCORE
from mario_rl.distill.counting import Counting
from mario_rl.distill.drops import FEATURES, MOST, MOST_WHIM, WHIM
from mario_rl.distill.form import MOST_SCORE
from mario_rl.distill.half_counting import PAIRS, Writer, slots
from mario_rl.distill.layout import Layout
from mario_rl.distill.operands import Address, at, value
from mario_rl.distill.questions import (
    answer,
    check_questions,
    explained,
    features_asked,
    leaves_of,
    table_of,
    write_as_code,
    write_comparison,
    write_step,
    write_table,
)
from mario_rl.distill.tree import TreeForm
from mario_rl.distill.writers import COUNTED, COUNTED_FIRST, KEPT

LEAF = 0x80
START = 1  # points of every place; two leaves of 1 make the least score that counts
LEAST_LEAF, MOST_LEAF = 1, (MOST_SCORE - MOST_WHIM - START) // 2
OF_HALVES = {COUNTED_FIRST: MOST[COUNTED_FIRST]} | {pair: MOST[f"{pair}_low"] for pair in PAIRS}
"""What can be asked, and the greatest value of each."""
LARGEST_TABLE = 256
assert START + 2 * LEAST_LEAF == LEAST_SCORE


@dataclass(frozen=True)
class HalfTree(TreeForm):
    """A tree of questions about a half."""

    kind: ClassVar[str] = "half-tree"

    def __post_init__(self) -> None:
        check_questions(self.root, OF_HALVES)
        if not features_asked(self.root) & set(PAIRS):
            raise ValueError(f"a half is asked about at least one of {', '.join(PAIRS)}")
        if len(features_asked(self.root)) > KEPT:
            raise ValueError(f"a half is asked about {KEPT} features at most")
        scores = [leaf.score for leaf in leaves_of(self.root)]
        if not LEAST_LEAF <= min(scores) <= max(scores) <= MOST_LEAF:
            raise ValueError(f"a half scores {LEAST_LEAF} to {MOST_LEAF}, so that two fit into a byte")
        if not self.inline and len(self.table()) > LARGEST_TABLE:
            raise ValueError(f"a tree about halves has {LARGEST_TABLE} bytes at most")

    @property
    def asked(self) -> tuple[str, ...]:
        """What the questions are about, in the order in which it is counted."""
        return tuple(name for name in COUNTED if name in features_asked(self.root))

    @property
    def uses(self) -> tuple[str, ...]:
        """See `ScoringForm.uses`."""
        of_halves = [f"{name}_low" if name in PAIRS else name for name in self.asked]
        return slots([*of_halves, WHIM])

    def score(self, features: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        """See `ScoringForm.score`."""
        rows = features.reshape(-1, features.shape[-1])
        total = START + rows[:, FEATURES.index(WHIM)].astype(np.int64)
        for half in ("low", "high"):
            values = half_values(rows, half)
            total += self._worth[tuple(values[name] for name in OF_HALVES)]
        return total.reshape(features.shape[:-1])

    @cached_property
    def _worth(self) -> npt.NDArray[np.int64]:
        """What a half scores, by all there is to ask about it: there are few cases, and many drops are looked at."""
        sizes = [most + 1 for most in OF_HALVES.values()]
        cases = np.indices(sizes, np.uint8).reshape(len(sizes), -1)
        return answer(self.root, dict(zip(OF_HALVES, cases, strict=True))).reshape(sizes)

    def table(self) -> bytes:
        """The nodes in bytes."""
        numbers = {name: number for number, name in enumerate(self.asked)}
        return table_of(self.root, numbers, {leaf.score: LEAF | leaf.score for leaf in leaves_of(self.root)})

    def writer(self, program: Program, layout: Layout, counting: Counting) -> Writer:
        """See `ScoringForm.writer`."""
        return _Writer(program, layout, self)

    def explain(self) -> str:
        """See `Form.explain`."""
        head = (
            "Each half of the capsule is asked these questions and gets the points at the end. The place where both "
            f"halves together have the most is taken; up to {MOST_WHIM} points come from a whim, which is another one "
            "with every capsule."
        )
        return "\n".join([head, *explained(self.root)])


def half_values(rows: npt.NDArray[np.uint8], half: str) -> dict[str, npt.NDArray[np.uint8]]:
    """What there is to ask about a half of drops with features [n, len(FEATURES)]."""
    names = {name: f"{name}_{half}" if name in PAIRS else name for name in OF_HALVES}
    return {name: rows[:, FEATURES.index(feature)] for name, feature in names.items()}


class _Writer:
    """Keeps what is counted of a half in the zero page, asks, and adds."""

    clamps = True
    tells_halves = False

    def __init__(self, program: Program, layout: Layout, tree: HalfTree):
        self.program, self.layout, self._tree = program, layout, tree
        self._places: dict[str, Address] = {name: layout.kept + number for number, name in enumerate(tree.asked)}

    def begin(self) -> None:
        """See `Writer.begin`."""
        p, m = self.program, self.layout
        p("lda", value(START))
        p("sta", m.score)
        if COUNTED_FIRST in self._places:
            p("lda", m.rotation)
            p("and", value(1))
            p("sta", self._places[COUNTED_FIRST], COUNTED_FIRST)

    def wants(self, feature: str) -> bool:
        """The whim; all else is known before, or asked about halves."""
        return feature == WHIM

    def take(self, feature: str) -> None:
        """See `Writer.take`."""
        if feature == WHIM:
            self.program("jsr", "add")
        else:
            self.program("sta", self._places[feature], feature.replace("_", " "))

    def finish(self) -> None:
        """See `Writer.finish`; the whim has been added, which leaves the score in A."""

    def end_half(self) -> None:
        """See `Writer.end_half`."""
        if self._tree.inline:
            write_as_code(self.program, self._tree.root, self._places, end="add")
        else:
            self._walk()
        self._add()

    def _walk(self) -> None:
        p = self.program
        p("ldx", value(0))
        p.label("walk")
        p("lda", at("nodes", "x"))
        p("bmi", "leaf")
        write_comparison(p, self.layout.kept, self.layout.step)
        write_step(p)
        p.label("leaf")
        p("and", value(LEAF - 1))

    def _add(self) -> None:
        p, m = self.program, self.layout
        p.label("add")
        p("clc")
        p("adc", m.score)
        p("sta", m.score)
        p("rts")

    def routines(self) -> None:
        """See `Writer.routines`."""
        if not self._tree.inline:
            write_table(self.program, self._tree.table())
