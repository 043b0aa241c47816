"""Numbers for people: short, and never wrong by more than their rounding."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mario_rl.dashboard.figures import Progress, count, duration, number, one_line, percent, small

UNITS = {"k": 1e3, "M": 1e6, "G": 1e9}


def read(text):
    return float(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else float(text)


@given(st.floats(0, 9e11))
def test_a_count_is_short_and_true(value):
    text = count(value)
    assert len(text) <= 5
    assert read(text) == pytest.approx(value, rel=0.0051, abs=0.5)


@given(st.floats(-1e9, 1e9) | st.floats(0.0005, 0.02))
def test_a_number_is_short_and_true(value):
    text = number(value)
    assert len(text) <= 8
    assert read(text) == pytest.approx(value, rel=0.05 if abs(value) < 0.001 else 0.006, abs=1e-99)


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (950, "950"), (12_345, "12.3k"), (400_000, "400k"), (1.5e6, "1.50M"), (None, "-")]
)
def test_counts(value, text):
    assert count(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5e-5, "5.0e-05"),
        (0.0123, "0.0123"),
        (0.001953, "0.00195"),
        (12.345, "12.35"),
        (math.nan, "-"),
        (-math.inf, "-inf"),
    ],
)
def test_numbers(value, text):
    assert number(value) == text


@given(st.floats(0, 1))
def test_only_all_is_100_percent_and_only_nothing_is_0(share):
    text = percent(share)
    assert (text == "100 %") == (share == 1)
    assert (text == "0 %") == (share == 0)
    if text != "<1 %":
        assert float(text[:-2]) == pytest.approx(share * 100, abs=1)


def test_text_of_others_cannot_upset_a_terminal():
    assert one_line("a\x1b[2Jb\r\n\tKeyError:  'größer'\x07") == "a?[2Jb KeyError: 'größer'?"


def test_small():
    assert (small(0.52749), small(None), small(1.0)) == ("0.527", "-", "1.000")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 m 00 s"),
        (200, "3 m 20 s"),
        (7500, "2 h 05 m"),
        (270_000, "3 d 3 h"),
        (math.inf, "-"),
    ],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_progress_of_a_run_that_has_not_begun(session):
    progress = Progress.of(session)
    assert (progress.share, progress.seconds_left, progress.workers, progress.workers_wanted) == (0, None, 0, 4)
    assert progress.left() == "- left"


def test_progress_of_a_run_under_way(session):
    session.go_on(steps=100_000)
    session.events("supervisor").worker_status(2, "given up", "died 5 times")
    progress = Progress.of(session)
    assert progress.share == 0.25
    assert progress.seconds_left == pytest.approx(300_000 / 3616)
    assert progress.left() == "1 m 23 s left"
    assert (progress.workers, progress.workers_wanted) == (3, 4)
    session.go_on(steps=500_000)  # workers finish their round: a little more than the goal
    assert (Progress.of(session).share, Progress.of(session).seconds_left) == (1, 0)
