"""A form that asks a few questions about a drop and then knows its score: a regression tree.

In its table a leaf is $F0 and the number of its score among 16.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from mario_rl.distill.assembler import Program
from mario_rl.distill.counting import Counting
from mario_rl.distill.drops import FEATURES, MOST
from mario_rl.distill.form import ScoringForm, check_range
from mario_rl.distill.half_counting import Writer
from mario_rl.distill.layout import Layout
from mario_rl.distill.operands import at, high, low, through, value
from mario_rl.distill.questions import (
    Node,
    answer,
    as_plain_values,
    check_questions,
    explained,
    features_asked,
    leaves_of,
    node_of,
    table_of,
    write_as_code,
    write_comparison,
    write_step,
    write_table,
)
from mario_rl.distill.writers import KeepingWriter

LEAF = 0xF0
MOST_SCORES = 16  # different ones, in a table
MOST_FEATURES = 15
NARROW = 256  # bytes that one index reaches


@dataclass(frozen=True)
class TreeForm(ScoringForm):
    """A form that is a tree of questions."""

    root: Node
    inline: bool = False
    """As code, not as a table."""

    @property
    def leaves(self) -> int:
        """How many there are."""
        return len(leaves_of(self.root))

    def as_values(self) -> dict[str, Any]:
        """See `Form.as_values`."""
        return {"root": as_plain_values(self.root), "inline": self.inline, "columns_a_frame": self.columns_a_frame}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """See `Form.from_values`."""
        root = node_of(values["root"])
        return cls(root, bool(values["inline"]), columns_a_frame=int(values["columns_a_frame"]))


@dataclass(frozen=True)
class Tree(TreeForm):
    """A tree of questions about the whole drop."""

    kind: ClassVar[str] = "tree"

    def __post_init__(self) -> None:
        check_questions(self.root, MOST)
        check_range(self.scores[0], self.scores[-1])
        if not self.inline and len(self.scores) > MOST_SCORES:
            raise ValueError(f"a table has {MOST_SCORES} different scores at most, not {len(self.scores)}")

    @property
    def uses(self) -> tuple[str, ...]:
        """See `ScoringForm.uses`."""
        asked = features_asked(self.root)
        return tuple(name for name in FEATURES if name in asked)

    @property
    def scores(self) -> list[int]:
        """The different ones, from the least."""
        return sorted({leaf.score for leaf in leaves_of(self.root)})

    def score(self, features: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        """See `ScoringForm.score`."""
        rows = features.reshape(-1, features.shape[-1])
        values = {name: rows[:, number] for number, name in enumerate(FEATURES)}
        return answer(self.root, values).reshape(features.shape[:-1])

    def writer(self, program: Program, layout: Layout, counting: Counting) -> Writer:
        """See `ScoringForm.writer`."""
        return (_InlineWriter if self.inline else _TableWriter)(program, layout, counting, self)

    def table(self, counting: Counting) -> bytes:
        """The nodes in bytes; three for a question if one index does not reach all of them."""
        numbers = {name: number for number, name in enumerate(counting.slots)}
        if any(numbers[name] >= MOST_FEATURES for name in features_asked(self.root)):
            raise ValueError(f"a table asks about {MOST_FEATURES} features at most")
        leaves = {score: LEAF | number for number, score in enumerate(self.scores)}
        narrow = table_of(self.root, numbers, leaves)
        return narrow if len(narrow) <= NARROW else table_of(self.root, numbers, leaves, distance_bytes=2)

    def explain(self) -> str:
        """See `Form.explain`."""
        head = "Every place is asked these questions and gets the points at the end. The place with the most is taken."
        return "\n".join([head, *explained(self.root)])


class _InlineWriter(KeepingWriter):
    """The questions as code."""

    def __init__(self, program: Program, layout: Layout, counting: Counting, tree: Tree):
        super().__init__(program, layout, counting)
        self._tree = tree

    def weigh(self) -> None:
        """See `KeepingWriter.weigh`."""
        places = {name: self.counting.place(name) for name in self._tree.uses}
        write_as_code(self.program, self._tree.root, places, end="asked")
        self.program.label("asked")

    def routines(self) -> None:
        """None."""


class _TableWriter(KeepingWriter):
    """The questions as a table, and a walk through it."""

    def __init__(self, program: Program, layout: Layout, counting: Counting, tree: Tree):
        super().__init__(program, layout, counting)
        self._tree, self._table = tree, tree.table(counting)

    def weigh(self) -> None:
        """See `KeepingWriter.weigh`."""
        if len(self._table) <= NARROW:
            self._walk()
        else:
            self._wide_walk()
        p = self.program
        p.label("leaf")
        p("and", value(MOST_SCORES - 1))
        p("tay")
        p("lda", at("leaf_scores", "y"))

    def routines(self) -> None:
        """See `Writer.routines`."""
        p = self.program
        p.label("leaf_scores")
        p.data(self._tree.scores)
        write_table(p, self._table)

    def _walk(self) -> None:
        p = self.program
        p("ldx", value(0))
        p.label("walk")
        p("lda", at("nodes", "x"))
        p("cmp", value(LEAF))
        p("bcs", "leaf")
        write_comparison(p, self.layout.features, self.layout.step)
        write_step(p)

    def _wide_walk(self) -> None:
        p = self.program
        node = self.layout.low_cell  # and high_cell: a pointer, now that the capsule's cells have been looked at
        p("lda", low("nodes"))
        p("sta", node)
        p("lda", high("nodes"))
        p("sta", node + 1)
        p.label("walk")
        p("ldy", value(0))
        p("lda", through(node))
        p("cmp", value(LEAF))
        p("bcs", "leaf")
        write_comparison(p, self.layout.features, self.layout.step)
        p("bcc", "walk_no")
        p("ldy", value(2))
        p("lda", through(node))
        p("tax", comment="high byte of the distance")
        p("dey")
        p("lda", through(node))
        p("clc")
        p("adc", node)
        p("sta", node)
        p("txa")
        p("adc", node + 1)
        p("sta", node + 1)
        p.label("walk_no")
        p("lda", node)
        p("clc")
        p("adc", value(3))
        p("sta", node)
        p("bcc", "walk")
        p("inc", node + 1)
        p("bne", "walk")
