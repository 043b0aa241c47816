"""Trees of questions: does a feature have at least this value? At the end of every path there is a score.

How they are asked, kept in files, said in words, and written for the 6502: as code, or as bytes and a walk through
them, which is smaller for all but the smallest trees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mario_rl.distill.assembler import Program
from mario_rl.distill.operands import Address, at, value
from mario_rl.distill.words import question

MOST_THRESHOLD = 15  # half a byte

Values = Mapping[str, npt.NDArray[np.uint8]]
"""Of every feature, [n]."""


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


def nodes(root: Node) -> Iterator[Node]:
    """All of them, a question before its answers, no before yes."""
    yield root
    if isinstance(root, Question):
        yield from nodes(root.no)
        yield from nodes(root.yes)


def leaves_of(root: Node) -> list[Leaf]:
    """All of them, no before yes."""
    return [node for node in nodes(root) if isinstance(node, Leaf)]


def features_asked(root: Node) -> set[str]:
    """What the questions are about."""
    return {node.feature for node in nodes(root) if isinstance(node, Question)}


def check_questions(root: Node, most: Mapping[str, int]) -> None:
    """A ValueError unless all questions are about features that have these greatest values, and both answers occur."""
    if unknown := features_asked(root) - set(most):
        raise ValueError(f"no feature is called {min(unknown)}")
    for node in nodes(root):
        if isinstance(node, Question):
            highest = min(most[node.feature], MOST_THRESHOLD)
            if not 1 <= node.threshold <= highest:
                raise ValueError(f"a threshold of {node.feature} is from 1 to {highest}, not {node.threshold}")


def answer(root: Node, values: Values) -> npt.NDArray[np.int64]:
    """int64[n]: the scores."""
    count = len(next(iter(values.values())))
    found = np.zeros(count, np.int64)
    _fill(root, values, np.arange(count), found)
    return found


def _fill(node: Node, values: Values, chosen: npt.NDArray[np.intp], found: npt.NDArray[np.int64]) -> None:
    if isinstance(node, Leaf):
        found[chosen] = node.score
        return
    yes = values[node.feature][chosen] >= node.threshold
    _fill(node.no, values, chosen[~yes], found)
    _fill(node.yes, values, chosen[yes], found)


# --- in files, and in words ---------------------------------------------------------------------------------------


def node_of(found: Any) -> Node:
    """A tree of the plain values of JSON; a ValueError if it is none."""
    if isinstance(found, int) and not isinstance(found, bool):
        return Leaf(found)
    if not (isinstance(found, list) and len(found) == 4 and isinstance(found[0], str) and isinstance(found[1], int)):
        raise ValueError(f"a node is a score, or [feature, threshold, no, yes], not {found!r:.60}")
    return Question(found[0], found[1], node_of(found[2]), node_of(found[3]))


def as_plain_values(node: Node) -> Any:
    """The same the other way round."""
    if isinstance(node, Leaf):
        return node.score
    return [node.feature, node.threshold, as_plain_values(node.no), as_plain_values(node.yes)]


def explained(node: Node, indent: str = "") -> Iterator[str]:
    """Lines of questions and answers."""
    if isinstance(node, Leaf):
        yield f"{indent}{node.score} points"
        return
    yield f"{indent}{question(node.feature, node.threshold)}"
    for said, then in (("yes", node.yes), ("no", node.no)):
        if isinstance(then, Leaf):
            yield f"{indent}  {said}: {then.score} points"
        else:
            yield f"{indent}  {said}:"
            yield from explained(then, f"{indent}    ")


# --- on the 6502 --------------------------------------------------------------------------------------------------


def write_as_code(p: Program, root: Node, places: Mapping[str, Address], end: str) -> None:
    """Questions as instructions that lead on to a label, which comes next, with the score, at least 1, in A."""
    _ask(p, root, places, end, "ask", is_last=True)


def _ask(p: Program, node: Node, places: Mapping[str, Address], end: str, label: str, is_last: bool) -> None:
    if isinstance(node, Leaf):
        p("lda", value(node.score))
        if not is_last:
            p("bne", end)
        return
    p("lda", places[node.feature], node.feature.replace("_", " "))
    p("cmp", value(node.threshold))
    p("bcs", f"{label}y")
    _ask(p, node.no, places, end, f"{label}n", is_last=False)
    p.label(f"{label}y")
    _ask(p, node.yes, places, end, f"{label}y", is_last)


def table_of(root: Node, slots: Mapping[str, int], leaves: Mapping[int, int], distance_bytes: int = 1) -> bytes:
    """A tree in bytes: a question is feature and threshold, and how far away the nodes are for which the answer is yes;
    those for no follow at once. A leaf is one byte, given for its score.
    """
    if isinstance(root, Leaf):
        return bytes([leaves[root.score]])
    no, yes = (table_of(node, slots, leaves, distance_bytes) for node in (root.no, root.yes))
    # A distance too long for a byte cannot be in a table that one index reaches; such a table is not used.
    distance = min(len(no), 256**distance_bytes - 1)
    return bytes([slots[root.feature] << 4 | root.threshold]) + distance.to_bytes(distance_bytes, "little") + no + yes


def write_comparison(p: Program, features: Address, threshold: Address) -> None:
    """A: the first byte of a question. Leaves the carry set if the answer is yes; X stays, Y and a byte are used."""
    p("tay")
    p("and", value(MOST_THRESHOLD))
    p("sta", threshold)
    p("tya")
    for _ in range(4):
        p("lsr")
    p("tay")
    p("lda", at(features, "y"))
    p("cmp", threshold)


def write_step(p: Program) -> None:
    """Behind a comparison: X, an index into `nodes`, goes on to the answer, and the walk back to `walk`."""
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


def write_table(p: Program, table: bytes) -> None:
    """The bytes of a tree."""
    p.label("nodes")
    for start in range(0, len(table), 16):
        p.data(table[start : start + 16])
