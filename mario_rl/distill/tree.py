"""A form that asks a few questions about a drop and then knows its score: a regression tree.

A node asks whether a feature is at least a threshold. On the 6502 it becomes code (`inline`), or a table and a walk
through it, which is smaller for all but the smallest trees. In the table a question has two bytes: feature and
threshold, and how far away the nodes are for which the answer is yes; those for no follow at once. A leaf is one byte:
$F0 and the number of its score among 16.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mario_rl.distill.assembler import Address, Program, at, high, low, through, value
from mario_rl.distill.counting import Counting, Writer
from mario_rl.distill.drops import FEATURES, MOST
from mario_rl.distill.form import ScoringForm, check_range
from mario_rl.distill.layout import Layout
from mario_rl.distill.words import question
from mario_rl.distill.writers import KeepingWriter

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
class Tree(ScoringForm):
    """A tree of questions, as a form."""

    kind: ClassVar[str] = "tree"

    root: Node
    inline: bool = False

    def __post_init__(self) -> None:
        asked = {node.feature for node in nodes(self.root) if isinstance(node, Question)}
        unknown = asked - set(FEATURES)
        if unknown:
            raise ValueError(f"no feature is called {min(unknown)}")
        for node in nodes(self.root):
            if isinstance(node, Question):
                most = min(MOST[node.feature], MOST_THRESHOLD)
                if not 1 <= node.threshold <= most:
                    raise ValueError(f"a threshold of {node.feature} is from 1 to {most}, not {node.threshold}")
        check_range(self.scores[0], self.scores[-1])
        if not self.inline and len(self.scores) > MOST_SCORES:
            raise ValueError(f"a table has {MOST_SCORES} different scores at most, not {len(self.scores)}")

    @property
    def uses(self) -> tuple[str, ...]:
        """See `ScoringForm.uses`."""
        asked = {node.feature for node in nodes(self.root) if isinstance(node, Question)}
        return tuple(name for name in FEATURES if name in asked)

    @property
    def leaves(self) -> int:
        """How many there are."""
        return len(leaves_of(self.root))

    @property
    def scores(self) -> list[int]:
        """The different ones, from the least."""
        return sorted({leaf.score for leaf in leaves_of(self.root)})

    def score(self, features: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        """Of features [..., len(FEATURES)]."""
        rows = features.reshape(-1, features.shape[-1])
        found = np.zeros(len(rows), np.int64)
        _fill(self.root, rows, np.arange(len(rows)), found)
        return found.reshape(features.shape[:-1])

    def writer(self, program: Program, layout: Layout, counting: Counting) -> Writer:
        """See `ScoringForm.writer`."""
        return (_InlineWriter if self.inline else _TableWriter)(program, layout, counting, self)

    def table(self, counting: Counting) -> bytes:
        """The nodes in bytes; three for a question if one index does not reach all of them."""
        narrow = _table(self.root, counting, self.scores, distance_bytes=1)
        return narrow if len(narrow) <= NARROW else _table(self.root, counting, self.scores, distance_bytes=2)

    def as_values(self) -> dict[str, Any]:
        """See `Form.as_values`."""
        return {"root": _as_values(self.root), "inline": self.inline, "columns_a_frame": self.columns_a_frame}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Tree:
        """See `Form.from_values`."""
        root = node_of(values["root"])
        return cls(root, bool(values["inline"]), columns_a_frame=int(values["columns_a_frame"]))

    def explain(self) -> str:
        """See `Form.explain`."""
        head = "Every place is asked these questions and gets the points at the end. The place with the most is taken."
        return "\n".join([head, *_explained(self.root, "")])


def _explained(node: Node, indent: str) -> Iterator[str]:
    if isinstance(node, Leaf):
        yield f"{indent}{node.score} points"
        return
    yield f"{indent}{question(node.feature, node.threshold)}"
    for answer, then in (("yes", node.yes), ("no", node.no)):
        if isinstance(then, Leaf):
            yield f"{indent}  {answer}: {then.score} points"
        else:
            yield f"{indent}  {answer}:"
            yield from _explained(then, f"{indent}    ")


def nodes(root: Node) -> Iterator[Node]:
    """All of them, a question before its answers, no before yes."""
    yield root
    if isinstance(root, Question):
        yield from nodes(root.no)
        yield from nodes(root.yes)


def leaves_of(root: Node) -> list[Leaf]:
    """All of them, no before yes."""
    return [node for node in nodes(root) if isinstance(node, Leaf)]


def node_of(found: Any) -> Node:
    """A tree of the plain values of JSON; a ValueError if it is none."""
    if isinstance(found, int) and not isinstance(found, bool):
        return Leaf(found)
    if not (isinstance(found, list) and len(found) == 4 and isinstance(found[0], str) and isinstance(found[1], int)):
        raise ValueError(f"a node is a score, or [feature, threshold, no, yes], not {found!r:.60}")
    return Question(found[0], found[1], node_of(found[2]), node_of(found[3]))


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


# --- on the 6502 --------------------------------------------------------------------------------------------------


class _InlineWriter(KeepingWriter):
    """The questions as code."""

    def __init__(self, program: Program, layout: Layout, counting: Counting, tree: Tree):
        super().__init__(program, layout, counting)
        self._tree = tree

    def weigh(self) -> None:
        """See `KeepingWriter.weigh`."""
        self._ask(self._tree.root, "tree")
        self.program.label("tree_end")

    def _ask(self, node: Node, label: str) -> None:
        p = self.program
        if isinstance(node, Leaf):
            p("lda", value(node.score))
            p("bne", "tree_end")
            return
        p("lda", self.counting.place(node.feature), node.feature.replace("_", " "))
        p("cmp", value(node.threshold))
        p("bcs", f"{label}y")
        self._ask(node.no, f"{label}n")
        p.label(f"{label}y")
        self._ask(node.yes, f"{label}y")

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
        p.label("nodes")
        for start in range(0, len(self._table), 16):
            p.data(self._table[start : start + 16])

    def _compare(self) -> None:
        """A: a question. Leaves the carry set if the answer is yes."""
        p, m = self.program, self.layout
        p("tay")
        p("and", value(MOST_THRESHOLD))
        p("sta", m.step, "the threshold")
        p("tya")
        for _ in range(4):
            p("lsr")
        p("tay")
        p("lda", at(m.features, "y"))
        p("cmp", m.step)

    def _walk(self) -> None:
        p = self.program
        p("ldx", value(0))
        p.label("walk")
        p("lda", at("nodes", "x"))
        p("cmp", value(LEAF))
        p("bcs", "leaf")
        self._compare()
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
        self._compare()
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
