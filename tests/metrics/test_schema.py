"""Metrics mean what their names say, and go on after a resume as if nothing had happened."""

from __future__ import annotations

import io

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mario_rl.metrics.schema import Counter, Gauge, MetricSchema, Rate, Rolling


class Sample(MetricSchema):
    def __init__(self):
        self.happened = Counter()
        self.level = Gauge()
        self.mean = Rolling(3)


numbers = st.floats(-1e6, 1e6)


@given(st.lists(numbers), st.integers(1, 7))
def test_rolling_is_the_mean_of_the_latest(values, window):
    rolling = Rolling(window)
    for seen, value in enumerate(values, start=1):
        rolling.add(value)
        latest = values[max(0, seen - window) : seen]
        assert rolling.value == pytest.approx(sum(latest) / len(latest))
    if not values:
        assert rolling.value is None


@given(st.lists(numbers, min_size=1))
def test_a_raised_gauge_is_the_maximum(values):
    gauge = Gauge()
    for value in values:
        gauge.raise_to(value)
    assert gauge.value == max(values)


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_rate_forgets_what_is_long_ago():
    clock = Clock()
    rate = Rate(seconds=10, clock=clock)
    assert rate.value is None  # no time has passed
    for _ in range(100):
        clock.now += 0.25
        rate.add(5)
        assert rate.value == pytest.approx(20)
    for _ in range(100):  # half as fast: the window is soon full of that
        clock.now += 0.5
        rate.add(5)
        value = rate.value
    assert value == pytest.approx(10)
    clock.now += 1000  # looked at again after a long pause: what happened in it counts over all of it
    assert rate.value == pytest.approx(0, abs=0.2)


def test_a_schema_leaves_out_what_has_no_value():
    sample = Sample()
    assert sample.names == ("happened", "level", "mean")
    assert sample.values() == {"happened": 0}
    sample.level.set(-1)
    sample.mean.add(4)
    assert sample.values() == {"happened": 0, "level": -1, "mean": 4}


@given(st.lists(numbers, max_size=8), st.lists(numbers, max_size=8))
def test_a_saved_schema_goes_on_as_if_nothing_had_happened(before, after):
    def feed(sample, values):
        for value in values:
            sample.happened.add(2)
            sample.level.set(value)
            sample.mean.add(value)

    whole, first, second = Sample(), Sample(), Sample()
    feed(whole, before + after)
    feed(first, before)
    file = io.BytesIO()
    torch.save(first.state_dict(), file)
    file.seek(0)
    second.load_state_dict(torch.load(file, weights_only=True))
    feed(second, after)
    assert second.values() == whole.values()


def test_after_a_kill_counts_go_on_and_means_start_anew():
    sample = Sample()
    sample.continue_from({"happened": 7.0, "level": 3.5, "mean": 2.0, "unknown": 1.0})
    sample.happened.add()
    assert sample.values() == {"happened": 8, "level": 3.5}
