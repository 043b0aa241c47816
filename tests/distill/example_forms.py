"""A form of every kind, made by hand or at random: what is true of compiled players is true of any of them."""

from __future__ import annotations

import random

from mario_rl.distill.binary import Binary
from mario_rl.distill.drops import FEATURES, MOST
from mario_rl.distill.form import Form
from mario_rl.distill.linear import Linear
from mario_rl.distill.lookup import Lookup
from mario_rl.distill.tables import Tables
from mario_rl.distill.tiny import Tiny
from mario_rl.distill.tree import Leaf, Node, Question, Tree

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
    asked = [name for name in FEATURES if name not in ("one_colour", "from_wall", "upright")]

    def grow(count: int) -> Node:
        if count == 1:
            return Leaf(rng.choice(palette))
        feature = rng.choice(asked)
        left = rng.randint(1, count - 1)
        return Question(feature, rng.randint(1, min(MOST[feature], 15)), grow(left), grow(count - left))

    return grow(leaves)


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
)
