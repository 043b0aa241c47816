"""A form of every kind, made by hand or at random: what is true of compiled players is true of any of them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from mario_rl.distill.binary import Binary
from mario_rl.distill.drops import FEATURES, MOST
from mario_rl.distill.form import Form
from mario_rl.distill.half_tree import LEAST_LEAF, MOST_LEAF, OF_HALVES, HalfTree
from mario_rl.distill.linear import Linear
from mario_rl.distill.lookup import Lookup
from mario_rl.distill.questions import Leaf, Node, Question
from mario_rl.distill.tables import Tables
from mario_rl.distill.tiny import Tiny
from mario_rl.distill.tree import Tree

TABLES = Tables(
    {
        ("upright", "wanted", "ground"): tuple(number * 7 % 23 for number in range(42)),
        ("run_viruses",): (0, 3, 5, 6), ("ground", "beside"): tuple(number * 5 % 11 for number in range(28)),
        ("top_row",): tuple(34 - 2 * row for row in range(17)), ("clears",): (0, 15),
        ("viruses_gone",): tuple(range(8)),
        ("gap",): tuple(max(0, 10 - 2 * cells) for cells in range(16)), ("whim",): tuple(range(8)),
    },
    columns_a_frame=1,
)  # fmt: skip

LINEAR = Linear(
    {
        "ground_low": 9, "ground_high": 9, "beside_low": 4, "beside_high": 4, "wanted_low": 3, "wanted_high": 3,
        "top_row": -2, "gap": -1, "whim": 1,
    },
    bias=60,
    columns_a_frame=2,
)  # fmt: skip

BINARY = Binary(
    inputs=("run_viruses_low", "run_viruses_high", "ground_low", "ground_high", "beside_low", "beside_high",
            "wanted_low", "wanted_high"),
    weights=((1, 1, 1, 1, 1, 1, 1, 1), (-1, 1, -1, -1, 1, -1, 1, -1), (1, -1, 1, 1, -1, 1, -1, -1)),
    thresholds=(2, 9, -3),
    signs=(1, -1, 1),
    shift=1,
    start=100,
)  # fmt: skip


def random_tree(rng: random.Random, leaves: int, scores: int = 16) -> Node:
    """Of so many leaves; it asks about up to 15 features, as a table can."""
    palette = rng.sample(range(3, 256), scores)
    left_out = ("one_colour", "from_wall", "upright")
    return _grown(rng, leaves, palette, {name: MOST[name] for name in FEATURES if name not in left_out})


def random_half_tree(rng: random.Random, leaves: int) -> Node:
    """A tree about halves, of so many leaves."""
    return _grown(rng, leaves, range(LEAST_LEAF, MOST_LEAF + 1), OF_HALVES)


def _grown(rng: random.Random, leaves: int, scores: Sequence[int], most: Mapping[str, int]) -> Node:
    if leaves == 1:
        return Leaf(rng.choice(scores))
    feature = rng.choice(list(most))
    left = rng.randint(1, leaves - 1)
    answers = (_grown(rng, count, scores, most) for count in (left, leaves - left))
    return Question(feature, rng.randint(1, min(most[feature], 15)), *answers)


_RNG = random.Random(4)
FORMS: tuple[Form, ...] = (
    Tiny(),
    TABLES,
    LINEAR,
    BINARY,
    Lookup(tuple(_RNG.randrange(32) for _ in range(256))),
    Tree(random_tree(_RNG, 12), inline=True),
    Tree(random_tree(_RNG, 60)),
    Tree(random_tree(_RNG, 400), columns_a_frame=2),
    HalfTree(random_half_tree(_RNG, 8), inline=True, columns_a_frame=2),
    HalfTree(random_half_tree(_RNG, 40)),
)
