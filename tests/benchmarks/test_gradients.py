"""The benchmark of gradients: every way of exchanging them is right, times are counted as they should be."""

from __future__ import annotations

import time
from array import array
from pathlib import Path

import pytest

from benchmarks.gradient_exchange import EXCHANGES
from benchmarks.gradient_training import TimedBell, TimedExchange, TrainingMeasurement
from benchmarks.gradients import exchange_share
from benchmarks.measurement import System
from mario_rl.distributed.doorbell import Doorbell
from mario_rl.distributed.shared_memory import leftovers


@pytest.mark.parametrize("way", EXCHANGES)
def test_all_ways_give_the_same_sum(way: str) -> None:
    exchange = EXCHANGES[way](1000)
    try:
        answer = exchange.measure(seconds=0.05)  # raises if the sum is wrong
        assert answer["units"] > 0
        assert exchange.sum.tolist() == [3.0] * 1000
        exchange.sum.fill(0)
        assert exchange.measure(seconds=0.05)["units"] > 0
    finally:
        exchange.close()
    assert not exchange.partner.is_alive()


def test_the_share_is_the_median_of_the_rounds() -> None:
    answers = [{"exchange_s": part, "worker_s": 2.0} for part in (0.02, 0.04, 1.9)]
    training = System("training", "python", "x", ["laptop2"], answers={"laptop2": answers})
    assert exchange_share(training, "laptop2") == 0.02
    assert exchange_share(training, "default2") is None


class ExchangeThatWaits:
    """Computes a little and waits for the bell; or does nothing at all."""

    def __init__(self, bell: TimedBell):
        self.bell = bell

    def send(self, seconds: float) -> str:
        self.bell.wait(seconds)
        return "sent"


def test_sleep_and_work_within_the_exchange_are_counted_and_only_those() -> None:
    bell = TimedBell(Doorbell())
    stopwatch = memoryview(array("d", [0.0, 0.0]))
    exchange = TimedExchange(ExchangeThatWaits(bell), bell, stopwatch)  # type: ignore[arg-type]
    exchange.send(0.0)
    before = stopwatch.tolist()
    busy_until = time.thread_time() + 0.05
    while time.thread_time() < busy_until:
        pass
    time.sleep(0.3)  # neither work nor waiting for the coordinator
    assert exchange.send(0.2) == "sent"
    in_exchange, whole = (after - earlier for earlier, after in zip(before, stopwatch, strict=True))
    assert 0.19 < in_exchange < whole - 0.04
    assert whole - in_exchange < bell.slept, "the other sleep does not count"


def test_a_real_run_is_measured_and_leaves_nothing(smb_rom: Path) -> None:
    run = TrainingMeasurement(str(smb_rom), workers=1, preset="laptop", warm_up_gradients=1)
    try:
        answer = run.measure(seconds=1.0)
        assert answer["units"] > 0
        assert 0 < answer["exchange_s"] < answer["worker_s"]
    finally:
        run.close()
    assert not [name for name in leftovers() if "bench.training" in name]
