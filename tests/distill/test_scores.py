"""The scores of forms on the 6502, one by one: every leaf everywhere in its box, every number of every table."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import numpy as np
import pytest

from mario_rl.distill.assembler import Program
from mario_rl.distill.counting import Counting
from mario_rl.distill.drops import FEATURES, MOST
from mario_rl.distill.form import ScoringForm
from mario_rl.distill.half_counting import PAIRS, slots
from mario_rl.distill.half_tree import OF_HALVES, START, HalfTree
from mario_rl.distill.layout import ANTIDOTE
from mario_rl.distill.machine import ThinkingMachine
from mario_rl.distill.questions import Leaf, Node, Question, answer
from mario_rl.distill.tables import Tables
from mario_rl.distill.tree import Tree
from mario_rl.distill.writers import COUNTED, COUNTED_FIRST
from tests.distill.example_forms import BINARY, LINEAR, TABLES, random_half_tree, random_tree
from tests.distill.machine import Machine

LEAST = {"top_row": 1}  # of other features 0
Features = dict[str, int]
Box = dict[str, tuple[int, int]]


def row_of(features: Features) -> np.ndarray:
    return np.array([features.get(name, 0) for name in FEATURES], np.uint8)


def anything(rng: random.Random, uses: tuple[str, ...]) -> Features:
    return {name: rng.randint(LEAST.get(name, 0), MOST[name]) for name in uses}


# --- forms that keep their features until all are counted ---------------------------------------------------------


class Scored(ThinkingMachine):
    """A compiled form that is asked what it thinks of features."""

    def __init__(self, form: ScoringForm):
        super().__init__(form)
        self.kept = slots(form.uses)

    def score(self, features: Features) -> int:
        start = self.names["features"]
        self.memory[start : start + len(self.kept)] = [features.get(name, 0) for name in self.kept]
        self.memory[self.names["best"]] = 0
        self.call("counted")
        return int(self.memory[self.names["best"]])


def boxes(node: Node, box: Box) -> Iterator[tuple[int, Box]]:
    """The score of every leaf that can be reached, and the least and greatest value of each feature on the way.

    The box is that of the root: all values there are.
    """
    if isinstance(node, Leaf):
        yield node.score, box
        return
    least, most = box[node.feature]
    if least < node.threshold:
        yield from boxes(node.no, box | {node.feature: (least, min(most, node.threshold - 1))})
    if most >= node.threshold:
        yield from boxes(node.yes, box | {node.feature: (max(least, node.threshold), most)})


def corners(box: Box, rng: random.Random) -> list[Features]:
    """The lowest and the highest corner, and a place inside."""
    lowest, highest = ({name: ends[end] for name, ends in box.items()} for end in (0, 1))
    return [lowest, highest, {name: rng.randint(*ends) for name, ends in box.items()}]


@pytest.mark.parametrize(("leaves", "inline"), [(1, True), (1, False), (15, True), (60, False), (500, False)])
def test_every_leaf_has_its_score_everywhere_in_its_box(leaves: int, inline: bool) -> None:
    rng = random.Random(leaves)
    tree = Tree(random_tree(rng, leaves), inline)
    machine, reached = Scored(tree), 0
    for score, box in boxes(tree.root, {name: (0, MOST[name]) for name in FEATURES}):
        reached += 1
        for features in corners(box, rng):
            assert machine.score(features) == tree.score(row_of(features)) == score
    assert reached > leaves / 4


@pytest.mark.parametrize("form", [LINEAR, BINARY], ids=lambda form: form.kind)
def test_weights_and_networks_score_alike_whatever_the_features(form: ScoringForm) -> None:
    rng, machine = random.Random(5), Scored(form)
    ends = [{name: MOST[name] * end for name in form.uses} for end in (0, 1)]
    for features in [*ends, *(anything(rng, form.uses) for _ in range(2000))]:
        assert machine.score(features) == form.score(row_of(features))


# --- forms that add up what they find, half by half ---------------------------------------------------------------


class AddedUp(Machine):
    """The code of a form around features that are given, not counted: the high half, the low one, then the rest."""

    def __init__(self, form: Tables | HalfTree):
        p = Program(0xE000)
        layout = ANTIDOTE.layout(p)
        writer = form.writer(p, layout, Counting(p, layout, form.uses))
        self._given = {name: 0x600 + number for number, name in enumerate(FEATURES)}
        of_halves = [name for name in COUNTED if name in PAIRS and f"{name}_low" in form.uses]
        p.label("all")
        writer.begin()
        for half in ("high", "low"):
            for name in of_halves:
                p("lda", self._given[f"{name}_{half}"])
                p("sta", 0x700 + of_halves.index(name))
            p("jsr", "a_half")
        for name in COUNTED:
            if name in form.uses and name != COUNTED_FIRST:
                p("lda", self._given[name])
                writer.take(name)
        writer.finish()
        p("rts")
        p.label("a_half")
        for name in of_halves:
            p("lda", 0x700 + of_halves.index(name))
            writer.take(name)
        writer.end_half()
        writer.routines()
        super().__init__(p.assemble())

    def score(self, features: Features) -> int:
        for name, number in features.items():
            # Code for tables counts rows from the top.
            self.memory[self._given[name]] = 16 - number if name == "top_row" else number
        self.memory[self.names["rotation"]] = features.get("upright", 0)
        self.call("all")
        return int(self.mpu.a)


def test_every_number_of_every_table_counts() -> None:
    rng, machine = random.Random(1), AddedUp(TABLES)
    for names in TABLES.tables:
        for half in ("low", "high") if any(name in PAIRS for name in names) else ("",):
            own = [f"{name}_{half}" if name in PAIRS else name for name in names]
            for case in itertools.product(*(range(LEAST.get(name, 0), MOST[name] + 1) for name in own)):
                features = anything(rng, TABLES.uses) | dict(zip(own, case, strict=True))
                assert machine.score(features) == TABLES.score(row_of(features))


@pytest.mark.parametrize(("leaves", "inline"), [(2, True), (15, True), (2, False), (60, False), (80, False)])
def test_every_leaf_of_a_tree_about_halves_counts_for_either_half(leaves: int, inline: bool) -> None:
    rng = random.Random(leaves)
    tree = HalfTree(Question("ground", 4, random_half_tree(rng, leaves - 1), Leaf(9)), inline)
    machine, reached = AddedUp(tree), 0
    for score, box in boxes(tree.root, {name: (0, most) for name, most in OF_HALVES.items()}):
        for corner, half in itertools.product(corners(box, rng), ("low", "high")):
            reached += 1
            other = "high" if half == "low" else "low"
            own = {f"{name}_{half}" if name in PAIRS else name: number for name, number in corner.items()}
            features = anything(rng, FEATURES) | own
            both = machine.score(features)
            assert both == tree.score(row_of(features))
            others = {name: features[f"{name}_{other}" if name in PAIRS else name] for name in OF_HALVES}
            (of_other,) = answer(tree.root, {name: np.array([number]) for name, number in others.items()})
            assert both == START + score + of_other + features["whim"]
    assert reached > leaves / 2


def test_a_table_that_names_its_own_numbers_is_left_out_and_counts_all_the_same() -> None:
    plain = Tables({("ground",): (0,) * 7, ("beside",): (0, 1, 2, 3), ("run_viruses",): (0, 1, 2, 3)})
    bent = Tables(plain.tables | {("run_viruses",): (0, 1, 2, 4)})
    assert len(plain.compile().code) < len(bent.compile().code)
    rng = random.Random(2)
    for form in (plain, bent):
        machine = AddedUp(form)
        for _ in range(200):
            features = anything(rng, form.uses)
            assert machine.score(features) == form.score(row_of(features))


def test_more_cells_beside_a_half_than_a_table_knows_are_as_many_as_it_knows() -> None:
    """The code does not clamp them: the table is wider instead."""
    machine = AddedUp(TABLES)
    rng = random.Random(3)
    for beside in range(4, 8):
        features = anything(rng, TABLES.uses)
        clamped = features | {"beside_low": 3}
        assert machine.score(features | {"beside_low": beside}) == TABLES.score(row_of(clamped))


def test_a_table_is_smaller_than_code_but_for_small_trees() -> None:
    sizes = {
        (leaves, inline): len(Tree(random_tree(random.Random(7), leaves), inline).compile().code)
        for leaves, inline in itertools.product((2, 40), (True, False))
    }
    assert sizes[2, True] < sizes[2, False]
    assert sizes[40, True] > sizes[40, False]
