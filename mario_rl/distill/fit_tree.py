"""A regression tree that rates drops as a teacher does, grown by scikit-learn and pruned to a number of bytes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mario_rl.distill.chooser import LEAST_SCORE
from mario_rl.distill.counting import pair_of
from mario_rl.distill.drops import FEATURES
from mario_rl.distill.form import MOST_SCORE
from mario_rl.distill.lessons import Lessons
from mario_rl.distill.tree import MOST_SCORES, MOST_THRESHOLD, Leaf, Node, Question, Tree, leaves_of

WORST = -10.0
"""Below this a rating does not matter: nobody would play it."""
LEAST_WEIGHT = 0.05
MOST_LEAVES = 2000
MOST_LEAVES_AS_CODE = 40  # a table is smaller long before


def fit_tree(lessons: Lessons, names: Sequence[str], most_bytes: int, columns_a_frame: int, seed: int) -> Tree:
    """The largest tree on these features that fits; a ValueError if none does."""
    from sklearn.tree import DecisionTreeRegressor  # type: ignore[import-untyped]

    used = [number for number, feature in enumerate(FEATURES) if pair_of(feature) in names]
    best = np.where(lessons.rated, lessons.ratings, -np.inf).max(axis=1, keepdims=True)
    wanted = np.maximum(lessons.ratings - best, WORST)[lessons.rated]
    rows = np.minimum(lessons.drops.features[lessons.rated], MOST_THRESHOLD)[:, used]
    # Which of the good ones is best matters more than how bad a bad one is.
    weights = (LEAST_WEIGHT + lessons.probabilities)[lessons.rated]

    def grown(leaves: int) -> Tree:
        fitted = DecisionTreeRegressor(max_leaf_nodes=leaves, min_samples_leaf=20, random_state=seed)
        fitted.fit(rows, wanted, weights)
        return smallest(_node(fitted.tree_, 0, used), columns_a_frame)

    fewest, most = 2, MOST_LEAVES
    tree = grown(fewest)
    if len(tree.compile().code) > most_bytes:
        raise ValueError(f"the smallest tree takes {len(tree.compile().code)} bytes, more than {most_bytes}")
    while fewest < most:
        middle = (fewest + most + 1) // 2
        larger = grown(middle)
        if len(larger.compile().code) <= most_bytes:
            fewest, tree = middle, larger
            if larger.leaves < middle:  # there are no more bottles to tell apart
                break
        else:
            most = middle - 1
    return tree


def _node(fitted: object, number: int, used: Sequence[int]) -> Node:
    """A node of scikit-learn's, its leaves still with real numbers (times a thousand)."""
    left, right = fitted.children_left[number], fitted.children_right[number]  # type: ignore[attr-defined]
    if left == right:
        return Leaf(round(1000 * float(fitted.value[number].ravel()[0])))  # type: ignore[attr-defined]
    feature = FEATURES[used[fitted.feature[number]]]  # type: ignore[attr-defined]
    threshold = int(np.floor(fitted.threshold[number])) + 1  # type: ignore[attr-defined]
    return Question(feature, threshold, _node(fitted, left, used), _node(fitted, right, used))


def smallest(root: Node, columns_a_frame: int) -> Tree:
    """The tree with its leaves in bytes, as code or as a table, whichever is smaller."""
    values = np.array([leaf.score for leaf in leaves_of(root)], np.float64)
    trees = []
    for inline, levels in ((False, MOST_SCORES), (True, MOST_SCORE)):
        if inline and len(values) > MOST_LEAVES_AS_CODE:
            continue
        scores = in_levels(values, levels)
        trees.append(Tree(with_scores(root, scores), inline, columns_a_frame=columns_a_frame))
    return min(trees, key=lambda tree: len(tree.compile().code))


def in_levels(values: npt.NDArray[np.float64], levels: int) -> list[int]:
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
        different = np.unique(values)
    span = max(float(different[-1] - different[0]), 1e-9)
    scores = np.round((values - different[0]) / span * (MOST_SCORE - LEAST_SCORE)).astype(int) + LEAST_SCORE
    return scores.tolist()


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
