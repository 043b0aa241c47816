"""A regression tree that rates drops as a teacher does, grown by scikit-learn and pruned to a number of bytes.

The tree about whole drops is fitted to the teacher's ratings. The one about halves is fitted to a network that scores
each half by itself, so that both together rate a drop as the teacher does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from mario_rl.distill.chooser import LEAST_SCORE
from mario_rl.distill.drops import FEATURES
from mario_rl.distill.form import MOST_SCORE
from mario_rl.distill.half_counting import pair_of
from mario_rl.distill.half_tree import LEAST_LEAF, MOST_LEAF, OF_HALVES, HalfTree, half_values
from mario_rl.distill.imitation import imitate
from mario_rl.distill.lessons import Lessons
from mario_rl.distill.questions import MOST_THRESHOLD, Leaf, Node, Question, leaves_of
from mario_rl.distill.tree import MOST_SCORES, Tree

WORST = -10.0
"""Below this a rating does not matter: nobody would play it."""
LEAST_WEIGHT = 0.05
MOST_LEAVES = 2000
MOST_LEAVES_AS_CODE = 40  # a table is smaller long before
EPOCHS, LEARNING_RATE, WIDTH = 6, 3e-3, 32

Grown = TypeVar("Grown", Tree, HalfTree)
Floats = npt.NDArray[np.float64]


def fit_tree(lessons: Lessons, names: Sequence[str], most_bytes: int, columns_a_frame: int, seed: int) -> Tree:
    """The largest tree on these features that fits; a ValueError if none does."""
    used = [feature for feature in FEATURES if pair_of(feature) in names]
    best = np.where(lessons.rated, lessons.ratings, -np.inf).max(axis=1, keepdims=True)
    wanted = np.maximum(lessons.ratings - best, WORST)[lessons.rated]
    rows = lessons.drops.features[lessons.rated][:, [FEATURES.index(feature) for feature in used]]

    def made(root: Node) -> Tree:
        return smallest(root, columns_a_frame)

    return _largest(_grower(rows, wanted, _weights(lessons), used, seed), made, most_bytes)


def fit_half_tree(lessons: Lessons, names: Sequence[str], most_bytes: int, columns_a_frame: int, seed: int) -> HalfTree:
    """The largest tree about halves, asking about these, that fits; a ValueError if none does."""
    torch.manual_seed(seed)
    network = _HalvesNetwork(names)
    imitate(network, lessons, EPOCHS, LEARNING_RATE, seed)
    drops = lessons.drops.features[lessons.rated]
    halves = [half_values(drops, half) for half in ("low", "high")]
    rows = np.concatenate([np.stack([values[name] for name in names], axis=1) for values in halves])
    with torch.no_grad():
        wanted = network.of_half(torch.from_numpy(rows)).double().numpy()
    weights = np.tile(_weights(lessons), 2)

    def made(root: Node) -> HalfTree:
        return smallest_about_halves(root, columns_a_frame)

    return _largest(_grower(rows, wanted, weights, names, seed), made, most_bytes)


class _HalvesNetwork(nn.Module):
    """Scores a drop by the sum of what it makes of its halves."""

    def __init__(self, names: Sequence[str]):
        super().__init__()
        sizes = [OF_HALVES[name] + 1 for name in names]
        self._names = names
        self._starts = torch.tensor([0, *np.cumsum(sizes)[:-1].tolist()])
        self.vectors = nn.EmbeddingBag(sum(sizes), WIDTH, mode="sum")
        self.layers = nn.Sequential(nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))

    def of_half(self, asked: Tensor) -> Tensor:
        """[n] of what is asked about halves, [n, names]."""
        return self.layers(self.vectors(asked.long() + self._starts)).squeeze(-1)

    def forward(self, features: Tensor) -> Tensor:
        """[n] of features [n, len(FEATURES)]."""
        rows = features.numpy()
        halves = [half_values(rows, half) for half in ("low", "high")]
        asked = [torch.from_numpy(np.stack([values[name] for name in self._names], axis=1)) for values in halves]
        return self.of_half(asked[0]) + self.of_half(asked[1])


def _weights(lessons: Lessons) -> Floats:
    """Which of the good drops is best matters more than how bad a bad one is."""
    return (LEAST_WEIGHT + lessons.probabilities)[lessons.rated].astype(np.float64)


def _grower(
    rows: npt.NDArray[np.uint8], wanted: npt.NDArray[Any], weights: Floats, names: Sequence[str], seed: int
) -> Callable[[int], Node]:
    """What grows a tree of at most so many leaves; their scores are still real numbers, times a thousand."""
    from sklearn.tree import DecisionTreeRegressor  # type: ignore[import-untyped]

    # Rows that are alike count as one: there are few different ones, and a tree is grown many times.
    alike, first, inverse = np.unique(np.minimum(rows, MOST_THRESHOLD), axis=0, return_index=True, return_inverse=True)
    together = np.bincount(inverse.ravel(), weights, len(first))
    means = np.bincount(inverse.ravel(), weights * wanted, len(first)) / together

    def grown(leaves: int) -> Node:
        fitted = DecisionTreeRegressor(max_leaf_nodes=leaves, random_state=seed)
        fitted.fit(alike, means, together)
        return _node(fitted.tree_, 0, names)

    return grown


def _largest(grown: Callable[[int], Node], made: Callable[[Node], Grown], most_bytes: int) -> Grown:
    """The tree with the most leaves that fits."""
    fewest, most = 2, MOST_LEAVES
    tree = made(grown(fewest))
    if len(tree.compile().code) > most_bytes:
        raise ValueError(f"the smallest tree takes {len(tree.compile().code)} bytes, more than {most_bytes}")
    while fewest < most:
        middle = (fewest + most + 1) // 2
        root = grown(middle)
        try:
            larger = made(root)
            fits = len(larger.compile().code) <= most_bytes
        except ValueError:  # more than a table can have
            fits = False
        if fits:
            fewest, tree = middle, larger
            if len(leaves_of(root)) < middle:  # there are no more drops to tell apart
                break
        else:
            most = middle - 1
    return tree


def _node(fitted: Any, number: int, names: Sequence[str]) -> Node:
    left, right = fitted.children_left[number], fitted.children_right[number]
    if left == right:
        return Leaf(round(1000 * float(fitted.value[number].ravel()[0])))
    threshold = int(np.floor(fitted.threshold[number])) + 1
    answers = (_node(fitted, child, names) for child in (left, right))
    return Question(names[fitted.feature[number]], threshold, *answers)


def smallest(root: Node, columns_a_frame: int) -> Tree:
    """The tree with its leaves in bytes, as code or as a table, whichever is smaller."""
    values = _values(root)
    trees = [Tree(with_scores(root, in_levels(values, MOST_SCORES)), columns_a_frame=columns_a_frame)]
    if len(values) <= MOST_LEAVES_AS_CODE:
        scores = in_levels(values, MOST_SCORE)
        trees.append(Tree(with_scores(root, scores), inline=True, columns_a_frame=columns_a_frame))
    return min(trees, key=lambda tree: len(tree.compile().code))


def smallest_about_halves(root: Node, columns_a_frame: int) -> HalfTree:
    """The same for a tree about halves."""
    values = _values(root)
    scored = with_scores(root, stretched(values, LEAST_LEAF, MOST_LEAF))
    trees = [
        HalfTree(scored, inline, columns_a_frame=columns_a_frame)
        for inline in (False, True)
        if not inline or len(values) <= MOST_LEAVES_AS_CODE
    ]
    return min(trees, key=lambda tree: len(tree.compile().code))


def _values(root: Node) -> Floats:
    return np.array([leaf.score for leaf in leaves_of(root)], np.float64)


def in_levels(values: Floats, levels: int) -> list[int]:
    """Scores in the order of the values, of at most so many different ones (as k-means in one dimension has them)."""
    different = np.unique(values)
    if len(different) > levels:
        centres = np.quantile(different, np.linspace(0, 1, levels))
        for _ in range(30):
            nearest = np.abs(values[:, None] - centres).argmin(axis=1)
            centres = np.array(
                [values[nearest == k].mean() if (nearest == k).any() else centres[k] for k in range(levels)]
            )
        values = np.sort(centres)[np.abs(values[:, None] - np.sort(centres)).argmin(axis=1)]
    return stretched(values, LEAST_SCORE, MOST_SCORE)


def stretched(values: Floats, least: int, most: int) -> list[int]:
    """Whole numbers from the least to the most, in proportion to the values."""
    span = max(float(values.max() - values.min()), 1e-9)
    return (np.round((values - values.min()) / span * (most - least)).astype(int) + least).tolist()


def with_scores(root: Node, scores: Sequence[int]) -> Node:
    """The tree with these scores in its leaves, no before yes."""
    remaining = iter(scores)

    def rebuilt(node: Node) -> Node:
        if isinstance(node, Leaf):
            return Leaf(next(remaining))
        no = rebuilt(node.no)
        return _merged(Question(node.feature, node.threshold, no, rebuilt(node.yes)))

    return rebuilt(root)


def _merged(node: Question) -> Node:
    """A question whose answer does not matter is not asked."""
    return node.no if node.no == node.yes and isinstance(node.no, Leaf) else node
