"""Curves and bars show the numbers they were given: read back from the characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mario_rl.dashboard.drawing import EIGHTHS, bars, progress_bar, spark, squeezed, stretched


@given(st.lists(st.floats(0, 1), max_size=30), st.integers(1, 12))
def test_bars_are_as_high_as_their_values(values, height):
    rows = bars(values, height, 1.0)
    assert len(rows) == height and {len(row) for row in rows} == {len(values)}
    for column, value in enumerate(values):
        from_bottom = [EIGHTHS.index(row[column]) for row in reversed(rows)]
        filled = sum(from_bottom) / 8
        assert filled == pytest.approx(value * height, abs=1 / 8)
        assert (filled > 0) == (value > 0)
        assert from_bottom == sorted(from_bottom, reverse=True)  # no holes


def test_bars_of_nothing_and_beyond_the_top():
    assert bars([0, 0], 2, 0) == ["  ", "  "]
    assert bars([5, -1], 2, 1) == ["█ ", "█ "]


@given(st.lists(st.floats(-1e6, 1e6), max_size=50), st.integers(0, 20))
def test_a_spark_line_keeps_the_order_of_the_newest(values, width):
    line = spark(values, width)
    newest = values[-width:] if width else []
    assert len(line) == len(newest)
    heights = [EIGHTHS.index(character) for character in line]
    by_value = [height for _, height in sorted(zip(newest, heights, strict=True))]
    assert by_value == sorted(by_value)
    assert 0 not in heights


def test_a_spark_line_leaves_out_what_is_not_finite():
    assert spark([0.0, float("nan"), float("inf"), 1.0], 10) == "▁█"


@given(st.floats(-0.5, 1.5), st.integers(1, 100))
def test_the_progress_bar_is_as_long_as_its_share(share, width):
    bar = progress_bar(share, width)
    assert len(bar) == width
    assert (bar.count("━") + bar.count("╸") / 2) / width == pytest.approx(min(max(share, 0), 1), abs=0.26 / width)


@given(st.lists(st.tuples(st.integers(0, 1000), st.floats(0, 1)), max_size=30), st.integers(1, 20))
def test_a_stretched_curve_shows_the_last_value_up_to_each_column(points, columns):
    points = sorted(points)
    shown = stretched(points, columns, 1000)
    for column, value in enumerate(shown, start=1):
        before = [y for x, y in points if x <= 1000 * column / columns]
        assert value == (before[-1] if before else 0)


@given(
    st.dictionaries(st.integers(-4, 140).map(lambda n: n * 25), st.integers(1, 9), min_size=1), st.integers(1, 120)
)  # fmt: skip
def test_squeezed_counts_fit_and_none_is_lost(counts, columns):
    sums, first, pixels = squeezed(counts, 25, columns)
    assert len(sums) <= columns and pixels % 25 == 0 and first <= 0
    for column, total in enumerate(sums):
        left = first + column * pixels
        assert total == sum(n for edge, n in counts.items() if left <= edge < left + pixels)
    assert sum(sums) == sum(counts.values())


def test_nothing_squeezed_is_nothing():
    assert squeezed({}, 25, 80)[0] == []
