"""The sum tree does what a plain list of priorities does."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mario_rl.replay.sum_tree import BRANCHES, SumTree


def plainly_found(priorities: list[float], value: float) -> int:
    """The first leaf at which the running sum is above the value."""
    return next(leaf for leaf, sum_ in enumerate(itertools.accumulate(priorities)) if sum_ > value)


@st.composite
def assignments(draw: st.DrawFn) -> tuple[int, list[list[tuple[int, int]]]]:
    """A number of leaves around the sizes at which the tree grows a level, and rounds of (leaf, priority)."""
    leaves = draw(st.sampled_from([1, 2, BRANCHES - 1, BRANCHES, BRANCHES + 1, BRANCHES**2, BRANCHES**2 + 3]))
    one = st.tuples(st.integers(0, leaves - 1), st.integers(0, 9))
    return leaves, draw(st.lists(st.lists(one, min_size=1, max_size=12), min_size=1, max_size=6))


@given(assignments(), st.randoms())
def test_it_agrees_with_a_list(case, random):
    """Whole numbers, so that sums are exact; leaves occur several times in a round."""
    leaves, rounds = case
    tree, plain = SumTree(leaves), [0.0] * leaves
    for pairs in rounds:
        tree.set(np.array([leaf for leaf, _ in pairs]), np.array([float(priority) for _, priority in pairs]))
        for leaf, priority in pairs:
            plain[leaf] = float(priority)
        assert tree.priorities.tolist() == plain
        assert tree.total == sum(plain)
        assert tree.largest == max(plain)
        assert tree.smallest == min((priority for priority in plain if priority), default=np.inf)
        if tree.total:
            borders = [sum_ for sum_ in itertools.accumulate(plain) if sum_ < tree.total]
            values = [0.0, *borders, *(random.uniform(0, tree.total * 0.999) for _ in range(5))]
            assert tree.find(np.array(values)).tolist() == [plainly_found(plain, value) for value in values]


@given(
    st.lists(st.one_of(st.just(0.0), st.floats(1e-12, 1e12)), min_size=1, max_size=300).filter(any),
    st.floats(0, 1),
)
def test_rounding_never_leads_to_a_leaf_without_priority(priorities, share):
    tree = SumTree(len(priorities))
    tree.set(np.arange(len(priorities)), np.array(priorities))
    leaf = tree.find(np.array([share * tree.total, np.nextafter(tree.total, 0), tree.total]))
    assert (tree.priorities[leaf] > 0).all()


def test_leaves_are_found_in_proportion_to_their_priorities():
    tree = SumTree(1000)
    priorities = np.random.default_rng(0).random(1000)
    tree.set(np.arange(1000), priorities)
    draws = 200_000
    found = tree.find((np.arange(draws) + 0.5) * (tree.total / draws))
    counts = np.bincount(found, minlength=1000)
    np.testing.assert_allclose(counts, draws * priorities / priorities.sum(), atol=1.01)


def test_errors_do_not_pile_up():
    """After a million changes the sum is still that of the leaves."""
    tree, random = SumTree(500), np.random.default_rng(1)
    for _ in range(1000):
        tree.set(random.integers(0, 500, 1000), 10.0 ** random.uniform(-6, 6, 1000))
    tree.set(np.arange(500), 1e-6)
    assert tree.total == pytest.approx(500e-6, rel=1e-12)


def test_what_cannot_be():
    with pytest.raises(ValueError, match="at least one leaf"):
        SumTree(0)
    with pytest.raises(ValueError, match="nothing to find"):
        SumTree(3).find(np.array([0.0]))
