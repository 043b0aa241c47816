"""Every form on the 6502 against itself in Python: its scores, and what it chooses on thousands of bottles."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import numpy as np
import pytest

from mario_rl.distill.chooser import Scorer, compile_player
from mario_rl.distill.counting import PAIRS, slots
from mario_rl.distill.drops import FEATURES
from mario_rl.distill.mirror import ScoringForm, Targets
from mario_rl.distill.tables import MOST, Tables
from mario_rl.distill.tree import Leaf, Node, Question, Tree, from_values, nodes
from mario_rl.environment.drmario.memory import GameMemory
from tests.distill.boards import Board, boards_of_games, random_board
from tests.distill.machine import Machine


def random_tables(rng: random.Random, names: list[str]) -> Tables:
    room = 200 // sum(2 if name in PAIRS else 1 for name in names)
    tables = {
        name: tuple(
            rng.randint(-room // 2, room // 2) for _ in range(MOST[f"{name}_low" if name in PAIRS else name] + 1)
        )
        for name in names
    }
    return Tables(tables, bias=110)


def random_tree(rng: random.Random, leaves: int, scores: int = 16) -> Node:
    palette = rng.sample(range(1, 256), scores)
    if leaves == 1:
        return Leaf(rng.choice(palette))

    def grow(count: int) -> Node:
        if count == 1:
            return Leaf(rng.choice(palette))
        feature = rng.choice([name for name in FEATURES if name != "one_colour"])
        left = rng.randint(1, count - 1)
        return Question(feature, rng.randint(1, min(MOST[feature], 15)), grow(left), grow(count - left))

    return grow(leaves)


class FormMachine(Machine):
    """A compiled form, asked for scores and for choices."""

    def __init__(self, form: Scorer):
        self.made = compile_player(0xE000, form, 1)
        self.kept = slots(form.uses)
        super().__init__(self.made)

    def score(self, features: dict[str, int]) -> int:
        """Of a drop with these features."""
        names = self.made.names
        for number, name in enumerate(self.kept):
            self.memory[names["features"] + number] = features.get(name, 0)
        self.memory[names["best"]] = 0
        self.call("score")
        return int(self.memory[names["best"]])

    def choose(self, board: Board, colours: tuple[int, int]) -> tuple[int, int]:
        """Column and rotation, for the second seat."""
        memory, names = self.memory, self.made.names
        memory[0x400:0x600] = [0xFF] * 0x200
        memory[0x500:0x580] = board.flatten().tolist()
        memory[0x381:0x383] = list(colours)
        self.call("player_start", x=1)
        memory[0x397] = 3
        self.call("player_frame", x=1)
        memory[0x397] = 0
        while not memory[names["column"]] & 0x80:
            assert self.call("player_frame", x=1) <= 10_000
        return memory[names["target_x"]], memory[names["target_rotation"]]


def expected_choice(targets: Targets, board: Board, colours: tuple[int, int]) -> tuple[int, int]:
    ram = np.zeros((1, 2048), np.uint8)
    game = GameMemory(ram)
    game.fields[0, 1], game.colours[0, 1] = board, colours
    x, rotation, _ = targets.of(game, np.array([0]), 1)[0].tolist()
    return x, rotation


def compare_choices(form: ScoringForm, bottles: list[tuple[Board, tuple[int, int]]]) -> None:
    machine, targets = FormMachine(form), Targets(form)  # type: ignore[arg-type]
    for board, colours in bottles:
        assert machine.choose(board, colours) == expected_choice(targets, board, colours)


def random_bottles(rng: random.Random, count: int) -> list[tuple[Board, tuple[int, int]]]:
    return [(random_board(rng), (rng.randrange(3), rng.randrange(3))) for _ in range(count)]


SETS = (
    ["contact", "top_row"],
    ["contact", "run", "run_viruses", "beside", "top_row", "clears", "gap", "upright"],
    ["contact", "run", "beside", "top_row", "clears", "gap", "upright", "from_wall", "column_viruses", "viruses_gone"],
)


@pytest.mark.parametrize("names", SETS, ids=len)
def test_tables_choose_alike(names: list[str]) -> None:
    rng = random.Random(len(names))
    compare_choices(random_tables(rng, names), [*random_bottles(rng, 60), *boards_of_games(60)])


@pytest.mark.parametrize(
    ("leaves", "inline"), [(2, True), (12, True), (2, False), (40, False), (80, False), (400, False)]
)
def test_trees_choose_alike(leaves: int, inline: bool) -> None:
    rng = random.Random(leaves)
    compare_choices(Tree(random_tree(rng, leaves), inline), [*random_bottles(rng, 50), *boards_of_games(50)])


def test_every_number_of_every_table_counts() -> None:
    rng = random.Random(1)
    tables = random_tables(rng, SETS[2])
    machine = FormMachine(tables)
    for name in tables.uses:
        for number in range(MOST[name] + 1):
            features = {other: rng.randint(0, MOST[other]) for other in tables.uses} | {name: number}
            row = np.array([features.get(other, 0) for other in FEATURES], np.uint8)
            assert machine.score(features) == tables.score(row)


def boxes(node: Node, box: dict[str, tuple[int, int]]) -> Iterator[tuple[int, dict[str, tuple[int, int]]]]:
    """The score of every leaf, and the least and greatest value of each feature that leads to it."""
    if isinstance(node, Leaf):
        yield node.score, box
        return
    least, most = box.get(node.feature, (0, MOST[node.feature]))
    if least < node.threshold:
        yield from boxes(node.no, box | {node.feature: (least, min(most, node.threshold - 1))})
    if most >= node.threshold:
        yield from boxes(node.yes, box | {node.feature: (max(least, node.threshold), most)})


@pytest.mark.parametrize(("leaves", "inline"), [(15, True), (60, False), (500, False)])
def test_every_leaf_has_its_score_everywhere_in_its_box(leaves: int, inline: bool) -> None:
    rng = random.Random(leaves)
    tree = Tree(random_tree(rng, leaves), inline)
    machine, reached = FormMachine(tree), 0
    for score, box in boxes(tree.root, {}):
        reached += 1
        inside = {name: rng.randint(*ends) for name, ends in box.items()}
        elsewhere = {name: rng.randint(0, MOST[name]) for name in tree.uses}
        for place in (
            {name: ends[0] for name, ends in box.items()},
            {name: ends[1] for name, ends in box.items()},
            inside,
        ):
            features = elsewhere | place
            assert machine.score(features) == score
            assert tree.score(np.array([features.get(name, 0) for name in FEATURES], np.uint8)) == score
    assert reached > leaves / 4


def test_a_table_is_smaller_than_code_but_for_small_trees() -> None:
    sizes = {
        (leaves, inline): len(compile_player(0xE000, Tree(random_tree(random.Random(7), leaves), inline), 1).code)
        for leaves, inline in itertools.product((2, 30), (True, False))
    }
    assert sizes[2, True] < sizes[2, False]
    assert sizes[30, True] > sizes[30, False]


def test_scores_that_would_wrap_are_refused() -> None:
    for tables, bias in (({"upright": (0, 200)}, 100), ({"upright": (0, -1)}, 1), ({"contact": (0, 0, 0, 0, 127)}, 2)):
        with pytest.raises(ValueError, match="do not fit into a byte"):
            Tables(tables, bias)
    with pytest.raises(ValueError, match="has 3 numbers"):
        Tables({"upright": (0, 1, 2)}, 1)
    for root in (Leaf(0), Leaf(256), Question("upright", 0, Leaf(1), Leaf(2)), Question("colour", 1, Leaf(1), Leaf(2))):
        with pytest.raises(ValueError):
            Tree(root)
    with pytest.raises(ValueError, match="16 different scores"):
        Tree(random_tree(random.Random(1), 400, scores=17))


def test_trees_survive_json() -> None:
    tree = Tree(random_tree(random.Random(2), 30))
    assert Tree(from_values(tree.as_values()["root"])) == tree
    assert tree.leaves == 30 == len(list(nodes(tree.root))) - 29
    for wrong in ([1, 2], ["upright", 1, 2], {"a": 1}, True, ["upright", "1", 1, 2]):
        with pytest.raises(ValueError, match="a node is"):
            from_values(wrong)
