"""A form that asks a few questions about a drop and then knows its score: a regression tree.

A node asks whether a feature is at least a threshold. On the 6502 it becomes code (`inline`), or a table and a walk
through it, which is smaller for all but the smallest trees. In the table a question has two bytes: feature and
threshold, and how far away the nodes are for which the answer is yes; those for no follow at once. A leaf is one byte:
$F0 and the number of its score among 16.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mario_rl.distill.assembler import Address, Program, at, high, low, through, value
from mario_rl.distill.counting import Counting
from mario_rl.distill.drops import FEATURES
from mario_rl.distill.layout import Layout
from mario_rl.distill.tables import LEAST_SCORE, MOST_SCORE

LEAF = 0xF0
MOST_SCORES = 16  # different ones, in a table
MOST_THRESHOLD = 15
MOST_FEATURES = 15
NARROW = 256  # bytes that one index reaches


@dataclass(frozen=True)
class Leaf:
    """The end of a path: a score."""

    score: int


@dataclass(frozen=True)
class Question:
    """Is the feature at least the threshold?"""

    feature: str
    threshold: int
    no: Node
    yes: Node


Node = Leaf | Question


@dataclass(frozen=True)
class Tree:
    """A tree of questions, as a form."""

    root: Node
    inline: bool = False
    uses: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        asked = {node.feature for node in nodes(self.root) if isinstance(node, Question)}
        unknown = asked - set(FEATURES)
        if unknown:
            raise ValueError(f"no feature is called {min(unknown)}")
        object.__setattr__(self, "uses", tuple(name for name in FEATURES if name in asked))
        for node in nodes(self.root):
            if isinstance(node, Leaf) and not LEAST_SCORE <= node.score <= MOST_SCORE:
                raise ValueError(f"a score is a number from {LEAST_SCORE} to {MOST_SCORE}, not {node.score}")
            if isinstance(node, Question) and not 1 <= node.threshold <= MOST_THRESHOLD:
                raise ValueError(f"a threshold is a number from 1 to {MOST_THRESHOLD}, not {node.threshold}")
        if not self.inline and len(self.scores) > MOST_SCORES:
            raise ValueError(f"a table has {MOST_SCORES} different scores at most, not {len(self.scores)}")

    @property
    def leaves(self) -> int:
        """How many there are."""
        return sum(isinstance(node, Leaf) for node in nodes(self.root))

    @property
    def scores(self) -> list[int]:
        """The different ones, from the least."""
        return sorted({node.score for node in nodes(self.root) if isinstance(node, Leaf)})

    def score(self, features: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        """Of features [..., len(FEATURES)]."""
        rows = features.reshape(-1, features.shape[-1])
        found = np.zeros(len(rows), np.int64)
        _fill(self.root, rows, np.arange(len(rows)), found)
        return found.reshape(features.shape[:-1])

    def as_values(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {"root": _as_values(self.root), "inline": self.inline}

    # --- on the 6502 ----------------------------------------------------------------------------------------------

    def emit(self, program: Program, layout: Layout, counting: Counting) -> None:
        """See `Scorer.emit`."""
        if self.inline:
            _emit_questions(program, counting, self.root, "tree")
            program.label("tree_end")
        elif len(self.table(counting)) <= NARROW:
            _emit_walk(program, layout)
        else:
            _emit_wide_walk(program, layout)

    def emit_routines(self, program: Program, layout: Layout, counting: Counting) -> None:
        """See `Scorer.emit_routines`."""
        if self.inline:
            return
        program.label("leaf_scores")
        program.data(self.scores)
        program.label("nodes")
        table = self.table(counting)
        for start in range(0, len(table), 16):
            program.data(table[start : start + 16])

    def table(self, counting: Counting) -> bytes:
        """The nodes in bytes; three for a question if one index does not reach all of them."""
        narrow = _table(self.root, counting, self.scores, distance_bytes=1)
        return narrow if len(narrow) <= NARROW else _table(self.root, counting, self.scores, distance_bytes=2)


def nodes(root: Node) -> Iterator[Node]:
    """All of them, a question before its answers, no before yes."""
    yield root
    if isinstance(root, Question):
        yield from nodes(root.no)
        yield from nodes(root.yes)


def from_values(found: Any) -> Node:
    """A tree of the plain values of JSON; a ValueError if it is none."""
    if isinstance(found, int) and not isinstance(found, bool):
        return Leaf(found)
    if not (isinstance(found, list) and len(found) == 4 and isinstance(found[0], str) and isinstance(found[1], int)):
        raise ValueError(f"a node is a score, or [feature, threshold, no, yes], not {found!r:.60}")
    return Question(found[0], found[1], from_values(found[2]), from_values(found[3]))


def _as_values(node: Node) -> Any:
    if isinstance(node, Leaf):
        return node.score
    return [node.feature, node.threshold, _as_values(node.no), _as_values(node.yes)]


def _fill(node: Node, rows: npt.NDArray[np.uint8], chosen: npt.NDArray[np.intp], found: npt.NDArray[np.int64]) -> None:
    if isinstance(node, Leaf):
        found[chosen] = node.score
        return
    yes = rows[chosen, FEATURES.index(node.feature)] >= node.threshold
    _fill(node.no, rows, chosen[~yes], found)
    _fill(node.yes, rows, chosen[yes], found)


def _table(node: Node, counting: Counting, scores: list[int], distance_bytes: int) -> bytes:
    if isinstance(node, Leaf):
        return bytes([LEAF | scores.index(node.score)])
    slot = counting.slots.index(node.feature)
    if slot >= MOST_FEATURES:
        raise ValueError(f"a table asks about {MOST_FEATURES} features at most")
    no, yes = (_table(answer, counting, scores, distance_bytes) for answer in (node.no, node.yes))
    # In a table that one index reaches a distance too long for a byte cannot be; such a table is not used.
    distance = min(len(no), 256**distance_bytes - 1)
    return bytes([slot << 4 | node.threshold]) + distance.to_bytes(distance_bytes, "little") + no + yes


def _emit_questions(p: Program, counting: Counting, node: Node, label: str) -> None:
    if isinstance(node, Leaf):
        p("lda", value(node.score))
        p("bne", "tree_end")
        return
    p("lda", counting.place(node.feature), node.feature.replace("_", " "))
    p("cmp", value(node.threshold))
    p("bcs", f"{label}y")
    _emit_questions(p, counting, node.no, f"{label}n")
    p.label(f"{label}y")
    _emit_questions(p, counting, node.yes, f"{label}y")


def _emit_compare(p: Program, m: Layout) -> None:
    """A: a question. Leaves the carry set if the answer is yes."""
    p("tay")
    p("and", value(MOST_THRESHOLD))
    p("sta", m.step, "the threshold")
    p("tya")
    for _ in range(4):
        p("lsr")
    p("tay")
    p("lda", at(m.features, "y"))
    p("cmp", m.step)


def _emit_walk(p: Program, m: Layout) -> None:
    p("ldx", value(0))
    p.label("walk")
    p("lda", at("nodes", "x"))
    p("cmp", value(LEAF))
    p("bcs", "leaf")
    _emit_compare(p, m)
    p("bcc", "walk_no")
    p("txa")
    p("adc", at(Address("nodes", 1), "x"), "and the carry")
    p("tax")
    p.label("walk_on")
    p("inx")
    p("bne", "walk")
    p.label("walk_no")
    p("inx")
    p("bne", "walk_on")
    _emit_leaf(p)


def _emit_wide_walk(p: Program, m: Layout) -> None:
    node = m.low_cell  # and high_cell: a pointer, now that the capsule's cells have been looked at
    p("lda", low("nodes"))
    p("sta", node)
    p("lda", high("nodes"))
    p("sta", node + 1)
    p.label("walk")
    p("ldy", value(0))
    p("lda", through(node))
    p("cmp", value(LEAF))
    p("bcs", "leaf")
    _emit_compare(p, m)
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
    _emit_leaf(p)


def _emit_leaf(p: Program) -> None:
    p.label("leaf")
    p("and", value(MOST_SCORES - 1))
    p("tay")
    p("lda", at("leaf_scores", "y"))
