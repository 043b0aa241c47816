"""A session without any training: it says what a test lets it say, and remembers what it was asked for."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from mario_rl.config import TrainingConfig
from mario_rl.distributed.events import LocalEvents
from mario_rl.metrics.aggregator import MetricAggregator
from mario_rl.snapshots.hotspots import DeathHotspotAggregate

PRACTICE = {
    "practice_episodes": 132,
    "practice_flag_rate": 0.14,
    "saves": 12,
    "restores": 8,
    "curriculum_progress": 0.35,
}


DREAMING = {"wm_loss": 21.5, "recon_mse": 0.004, "ssim": 0.85, "ends_foreseen": 0.75, "value_mean": 24.5}


class FakeSession:
    def __init__(self, model="ddqn", workers=4, curriculum="off"):
        self.config = TrainingConfig(model=model, workers=workers, steps=400_000, curriculum=curriculum)
        self.aggregator = MetricAggregator()
        self.hotspots = DeathHotspotAggregate()
        self.run_directory = Path("checkpoints/first-run")
        self.asked = []
        self.ticks = 0
        self.ticks_left = None  # until the run is over
        self.failure = None

    def tick(self):
        self.ticks += 1
        if self.failure is not None:
            raise self.failure
        if self.ticks_left is not None:
            self.ticks_left -= 1
            return self.ticks_left > 0
        return True

    def pause(self, paused):
        self.asked.append(("pause", paused))

    def save(self):
        self.asked.append("save")

    def stop(self):
        self.asked.append("stop")

    def stop_at_once(self):
        self.asked.append("stop at once")

    def events(self, source):
        return LocalEvents(source, self.take)

    def take(self, event):
        self.aggregator.update(event)
        for level, area, x in event.get("deaths", ()):
            self.hotspots.record_death(level, x, area)

    def go_on(self, steps=180_800):
        """A run that is well under way."""
        for worker in range(self.config.workers):
            own = self.events(f"worker_{worker}")
            own.metrics(
                {
                    **{"steps": steps / self.config.workers, "episodes": 200 + worker, "reward_mean": 31.25},
                    **{"best_x": 3000 + worker, "deaths": 77, "grads_sent": 1234, "saves": 0, "restores": 0},
                    **{"flag_rate": 0.5, "steps_per_second": 900, "cpu_percent": 98, "memory_mb": 412, "x_mean": 2000},
                    **({"epsilon": 0.125, "q_mean": 6.5, "td_error": 0.25} if self.config.model == "ddqn" else {}),
                    **({"entropy": 1.25, "policy_loss": -0.01} if self.config.model == "ppo" else {}),
                    **(DREAMING if self.config.model == "dreamer" else {}),
                    **(PRACTICE | {"stuck": worker % 3} if self.config.curriculum != "off" else {}),
                }
            )
            own.deaths([("1-1", 37, 1130)] * 5 + [("1-1", 37, 2400)])
        coordinator = self.events("coordinator")
        for part in range(1, 11):
            coordinator.metrics(
                {
                    **{"steps": steps * part / 10, "steps_per_second": 3616, "flag_rate": part / 10, "best_x": 3161},
                    **{"loss": 0.02 + part / 1000, "lr": 5e-4 / part, "updates_per_second": 240, "updates": 60 * part},
                    **{"episodes": 812, "first_flag_steps": 12_345},
                }
            )
        coordinator.log("info", "first flag after 12345 steps, 31 s")
        self.events("supervisor").log("warning", "worker 2 was killed by signal 9")


@pytest.fixture
def session():
    return FakeSession()


@pytest.fixture
def ppo_session():
    return FakeSession("ppo", workers=2)


@pytest.fixture
def dreaming_session():
    return FakeSession("dreamer", workers=2)


@pytest.fixture
def practising_session():
    """Gives a session under way whose episodes begin where a curriculum wants them to."""

    @cache
    def under_way(curriculum, workers=4):
        session = FakeSession("ppo", workers, curriculum)
        session.go_on()
        return session

    return under_way
