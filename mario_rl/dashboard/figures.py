"""How numbers are written for people: short, of steady width, with a dash where there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mario_rl.dashboard.session import TrainingSession

NONE = "-"


def count(value: float | None) -> str:
    """A count in at most five characters: 950, 12.3k, 4.57M."""
    if value is None or not math.isfinite(value):
        return NONE
    if abs(value) < 9_999.5:
        return f"{value:.0f}"
    for limit, unit in ((1e3, "k"), (1e6, "M"), (1e9, "G")):
        scaled = value / limit
        if abs(scaled) < 999.5:
            return f"{scaled:.{2 if abs(scaled) < 9.995 else 1 if abs(scaled) < 99.95 else 0}f}{unit}"
    return f"{value:.0e}"


def number(value: float | None) -> str:
    """Any number to three digits or more, below 0.001 to two: 12.34, 0.0123, 0.00195, 5.0e-05."""
    if value is None or math.isnan(value):
        return NONE
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    size = abs(value)
    if size >= 9_999.5:
        return count(value)
    if size >= 100:
        return f"{value:.1f}"
    if size >= 1:
        return f"{value:.2f}"
    if size >= 0.1:
        return f"{value:.3f}"
    if size >= 0.01:
        return f"{value:.4f}"
    if size >= 0.001:
        return f"{value:.5f}"
    return f"{value:.1e}" if size > 1e-99 else "0"


def small(value: float | None) -> str:
    """A number from 0 to 1 in five characters: 0.527."""
    return NONE if value is None or math.isnan(value) else f"{value:.3f}"


def percent(share: float | None) -> str:
    """A share: 87 %. Only what is all of it is 100 %, only what is nothing is 0 %."""
    if share is None or math.isnan(share):
        return NONE
    rounded = round(share * 100)
    if rounded == 100 and share < 1:
        rounded = 99
    if rounded == 0 and share > 0:
        return "<1 %"
    return f"{rounded} %"


def duration(seconds: float | None) -> str:
    """A time span: 45 s, 3 m 20 s, 2 h 05 m, 3 d 4 h."""
    if seconds is None or not math.isfinite(seconds):
        return NONE
    whole = max(0, round(seconds))
    minutes, hours = whole // 60, whole // 3600
    if minutes == 0:
        return f"{whole} s"
    if hours == 0:
        return f"{minutes} m {whole % 60:02d} s"
    if hours < 48:
        return f"{hours} h {minutes % 60:02d} m"
    return f"{hours // 24} d {hours % 24} h"


def one_line(text: str) -> str:
    """Text of somebody else (an error, say) on one line, without the control codes that would upset a terminal."""
    return " ".join("".join(c if c.isprintable() or c.isspace() else "?" for c in text).split())


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    steps: int
    goal: int
    steps_per_second: float | None
    at_most: bool  # the run may end earlier, when it is good enough
    flag_rate: float | None
    practice_flag_rate: float | None  # of episodes that a curriculum began in the middle of a level
    best_x: float | None
    loss: float | None
    workers: int  # that are at work
    workers_wanted: int

    @classmethod
    def of(cls, session: TrainingSession) -> Progress:
        """As of the last tick."""
        config, aggregator = session.config, session.aggregator
        standings = [aggregator.standing(worker).status for worker in aggregator.workers]
        return cls(
            steps=aggregator.steps,
            goal=config.steps,
            steps_per_second=aggregator.steps_per_second,
            at_most=config.stop_at is not None,
            flag_rate=aggregator.flag_rate,
            practice_flag_rate=aggregator.practice_flag_rate,
            best_x=aggregator.best_x,
            loss=aggregator.loss,
            workers=sum(status in ("collecting", "learning", "paused") for status in standings),
            workers_wanted=max(config.workers, 1),
        )

    @property
    def share(self) -> float:
        """Of the steps, 0 to 1."""
        return min(self.steps / self.goal, 1.0)

    @property
    def seconds_left(self) -> float | None:
        """At the speed of now; None if nothing moves."""
        if not self.steps_per_second:
            return None
        return max(self.goal - self.steps, 0) / self.steps_per_second

    def left(self) -> str:
        """The time left in words."""
        if self.seconds_left is None:
            return f"{NONE} left"
        return f"{'at most ' if self.at_most else ''}{duration(self.seconds_left)} left"
