"""The parent's picture of a run is what its processes said."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mario_rl.distributed.events import LocalEvents
from mario_rl.metrics.aggregator import MetricAggregator, Series


@pytest.fixture
def aggregator():
    return MetricAggregator()


def source(aggregator, name):
    return LocalEvents(name, aggregator.update)


def test_an_empty_run_has_nothing_to_say(aggregator):
    assert aggregator.workers == []
    assert (aggregator.steps, aggregator.episodes) == (0, 0)
    assert aggregator.flag_rate is aggregator.best_x is aggregator.loss is aggregator.steps_per_second is None
    assert aggregator.mean("reward") is aggregator.total("reward") is aggregator.maximum("reward") is None
    assert aggregator.latest("worker_0", "reward") is aggregator.rolling("worker_0", "reward") is None
    assert aggregator.overall() == {"episodes": 0}


def test_mean_sum_and_maximum_over_workers(aggregator):
    for number, reward in ((0, 10.0), (1, 20.0), (12, 60.0)):
        source(aggregator, f"worker_{number}").metrics({"reward": -1.0, "steps": 5})
        source(aggregator, f"worker_{number}").metrics({"reward": reward})
    source(aggregator, "coordinator").metrics({"reward": 1e9})
    assert aggregator.workers == [0, 1, 12]
    assert (aggregator.mean("reward"), aggregator.total("reward"), aggregator.maximum("reward")) == (30, 90, 60)
    assert aggregator.latest("worker_1", "steps") == 5  # not said again, still so


def test_the_coordinator_s_word_goes_before_the_workers(aggregator):
    source(aggregator, "worker_0").metrics({"steps": 64, "episodes": 2, "best_x": 300, "steps_per_second": 10})
    source(aggregator, "worker_1").metrics({"steps": 128, "episodes": 1, "best_x": 200, "steps_per_second": 20})
    assert (aggregator.steps, aggregator.episodes, aggregator.best_x, aggregator.steps_per_second) == (192, 3, 300, 30)
    # it counts what workers did that were killed since
    source(aggregator, "coordinator").metrics({"steps": 5000, "episodes": 40, "best_x": 3161})
    assert (aggregator.steps, aggregator.episodes, aggregator.best_x, aggregator.steps_per_second) == (
        5000,
        40,
        3161,
        30,
    )


def test_the_flag_rate_weighs_episodes(aggregator):
    source(aggregator, "worker_0").metrics({"flag_rate": 1.0, "episodes": 10})
    source(aggregator, "worker_1").metrics({"flag_rate": 0.5, "episodes": 5000})  # of the latest 100
    source(aggregator, "worker_2").metrics({"steps": 5})
    assert aggregator.flag_rate == pytest.approx((10 * 1.0 + 100 * 0.5) / 110)


def test_practice_counts_apart(aggregator):
    source(aggregator, "worker_0").metrics({"flag_rate": 1.0, "episodes": 10, "practice_episodes": 0})
    assert aggregator.practice_flag_rate is None and "practice_episodes" not in aggregator.overall()
    source(aggregator, "worker_0").metrics({"practice_flag_rate": 0.25, "practice_episodes": 300})  # of the latest 100
    source(aggregator, "worker_1").metrics({"practice_flag_rate": 1.0, "practice_episodes": 50})
    assert aggregator.flag_rate == 1.0
    assert aggregator.practice_flag_rate == pytest.approx((100 * 0.25 + 50 * 1.0) / 150)
    assert aggregator.overall()["practice_episodes"] == 350


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=250))
def test_rolling_is_over_the_newest_hundred(values):
    aggregator = MetricAggregator()
    for value in values:
        source(aggregator, "worker_0").metrics({"loss": value})
    assert aggregator.recent("worker_0", "loss") == values[-100:]
    assert aggregator.rolling("worker_0", "loss") == pytest.approx(sum(values[-100:]) / len(values[-100:]), abs=1e-6)


def test_the_flag_curve_is_the_run_s(aggregator):
    source(aggregator, "worker_0").metrics({"steps": 100, "episodes": 100, "flag_rate": 0.2})
    source(aggregator, "coordinator").metrics({"steps": 200, "flag_rate": 0.4})
    source(aggregator, "worker_0").metrics({"steps": 150, "episodes": 150, "flag_rate": 1.0})  # the coordinator knows
    source(aggregator, "coordinator").metrics({"steps": 300, "flag_rate": 0.5})
    assert aggregator.flag_curve.points == [(100, 0.2), (200, 0.4), (300, 0.5)]


@given(st.integers(0, 5000))
def test_a_series_stays_short_and_spans_all(count):
    series = Series(limit=16)
    for x in range(count):
        series.add(x, -x)
    xs = [x for x, _ in series.points]
    assert len(xs) <= 16
    assert all(y == -x for x, y in series.points)
    assert xs == sorted(xs)
    if count:
        gaps = {after - before for before, after in pairwise(xs)}
        assert xs[0] == 0 and len(gaps) <= 1
        assert count - 1 - xs[-1] < max(gaps, default=count) and (count < 16 or len(xs) >= 8)


def test_standings_and_restarts(aggregator):
    supervisor = source(aggregator, "supervisor")
    supervisor.worker_status(0, "starting")
    assert aggregator.standing(0).heard is None
    source(aggregator, "worker_0").worker_status(0, "learning")
    heard = aggregator.standing(0).heard
    assert heard is not None
    for _ in range(2):
        supervisor.worker_status(0, "restarting", "killed by signal 9")
    standing = aggregator.standing(0)
    assert (standing.status, standing.text, standing.restarts) == ("restarting", "killed by signal 9", 2)
    assert standing.heard == heard  # what others say about it is no sign of its life
    source(aggregator, "coordinator").learner_status("evaluating", "32 episodes")
    assert (aggregator.learner.status, aggregator.learner.text) == ("evaluating", "32 episodes")


def test_metrics_are_a_sign_of_work_unless_they_are_older_than_the_restart(aggregator):
    metrics = {"type": "metrics", "source": "worker_0", "values": {"steps": 1}}
    restart = {"type": "worker_status", "source": "supervisor", "worker": 0, "status": "restarting", "text": "killed"}
    aggregator.update(restart | {"time": 10.0})
    aggregator.update(metrics | {"time": 9.0})  # overtaken on its way
    assert aggregator.standing(0).status == "restarting"
    aggregator.update(metrics | {"time": 12.0})
    assert aggregator.standing(0).status == "collecting"
    aggregator.update(restart | {"time": 13.0, "status": "given up"})
    aggregator.update(metrics | {"time": 14.0})
    assert aggregator.standing(0).status == "given up"
    source(aggregator, "coordinator").metrics({"steps": 1})
    assert aggregator.learner.status == "learning"


def test_the_log_keeps_the_newest_lines(aggregator):
    for number in range(1500):
        source(aggregator, "supervisor").log("warning", f"line {number}")
    assert aggregator.log_count == 1500 and len(aggregator.log) == 1000
    assert aggregator.log[-1][1:] == ("warning", "supervisor", "line 1499")


def test_recent_values_of_all_workers_are_lined_up_at_the_newest(aggregator):
    for value in (9.0, 1.0, 2.0):
        source(aggregator, "worker_0").metrics({"loss": value})
    for value in (3.0, 6.0):
        source(aggregator, "worker_1").metrics({"loss": value})
    source(aggregator, "worker_2").metrics({"steps": 1.0})
    assert aggregator.recent_of_workers("loss") == [2.0, 4.0]
    assert aggregator.recent_of_workers("entropy") == []


def test_events_of_the_future_are_ignored(aggregator):
    aggregator.update({"type": "weather", "source": "worker_x", "time": 1.0})
    assert aggregator.workers == []
