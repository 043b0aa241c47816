"""The kinds of metrics, and how a collector groups them.

A `MetricSchema` is a class whose attributes are metrics; their names are the columns of the CSV file, the tags of
TensorBoard and the words of the dashboard. A metric without a value yet is left out of `values`.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Protocol

Values = dict[str, float]


class Metric(Protocol):
    """One number that changes."""

    @property
    def value(self) -> float | None:
        """What it is now; None as long as there is nothing to say."""

    def state(self) -> list[float]:
        """What to save so that `load` goes on from here."""

    def load(self, state: list[float]) -> None:
        """Go on from a saved state."""

    def continue_from(self, value: float) -> None:
        """Go on from the value alone: all that is known of a process that was killed."""


class Counter:
    """How often something happened; it only grows."""

    def __init__(self) -> None:
        self.value = 0

    def add(self, count: int = 1) -> None:
        """It happened, or happened `count` times."""
        self.value += count

    def state(self) -> list[float]:
        """The count."""
        return [self.value]

    def load(self, state: list[float]) -> None:
        """Go on from a saved count."""
        self.value = int(state[0])

    def continue_from(self, value: float) -> None:
        """Go on counting from here."""
        self.value = int(value)


class Gauge:
    """The latest value of something that goes up and down."""

    def __init__(self, value: float | None = None) -> None:
        self.value = value

    def set(self, value: float) -> None:
        """It is this now."""
        self.value = value

    def raise_to(self, value: float) -> None:
        """It is at least this: for the best so far."""
        if self.value is None or value > self.value:
            self.value = value

    def state(self) -> list[float]:
        """The value, or nothing."""
        return [] if self.value is None else [self.value]

    def load(self, state: list[float]) -> None:
        """Take a saved value over."""
        self.value = state[0] if state else None

    def continue_from(self, value: float) -> None:
        """It was this last."""
        self.value = value


class Rolling:
    """The mean of the latest `window` values."""

    def __init__(self, window: int = 100) -> None:
        self.recent: deque[float] = deque(maxlen=window)

    def add(self, value: float) -> None:
        """One more value; the oldest goes when the window is full."""
        self.recent.append(float(value))

    @property
    def value(self) -> float | None:
        """The mean, None before the first value."""
        return sum(self.recent) / len(self.recent) if self.recent else None

    def state(self) -> list[float]:
        """The values in the window, oldest first."""
        return list(self.recent)

    def load(self, state: list[float]) -> None:
        """Take a saved window over."""
        self.recent.clear()
        self.recent.extend(state)

    def continue_from(self, value: float) -> None:
        """A mean does not say what it was the mean of: the window fills anew."""
        self.recent.clear()


class Rate:
    """How often a second, over the latest `seconds`. Time that nobody was there to count is not saved."""

    def __init__(self, seconds: float = 10.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._marks: deque[tuple[float, float]] = deque([(clock(), 0.0)])  # (when, the count by then)
        self._count = 0.0

    def add(self, count: float = 1) -> None:
        """It happened `count` times, just now."""
        self._count += count

    @property
    def value(self) -> float | None:
        """Happenings a second since the beginning or, later, since the look that was about `seconds` ago."""
        now = self._clock()
        while len(self._marks) > 1 and self._marks[1][0] <= now - self._seconds:
            self._marks.popleft()
        began, before = self._marks[0]
        if now - self._marks[-1][0] >= self._seconds / 20:
            self._marks.append((now, self._count))
        return (self._count - before) / (now - began) if now > began else None

    def state(self) -> list[float]:
        """Nothing: a rate belongs to the process that measured it."""
        return []

    def load(self, state: list[float]) -> None:
        """Nothing to take over."""

    def continue_from(self, value: float) -> None:
        """Nothing to take over."""


class MetricSchema:
    """A group of metrics: the attributes of a subclass, in the order in which it sets them."""

    def metrics(self) -> dict[str, Metric]:
        """The metrics by name."""
        return dict(vars(self))

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(vars(self))

    def values(self) -> Values:
        """The values there are, by name."""
        present = ((name, metric.value) for name, metric in self.metrics().items())
        return {name: value for name, value in present if value is not None}

    def state_dict(self) -> dict[str, Any]:
        """Everything, in plain lists of numbers."""
        return {name: metric.state() for name, metric in self.metrics().items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved state; metrics it does not know keep what they have."""
        for name, metric in self.metrics().items():
            if name in state:
                metric.load(state[name])

    def continue_from(self, values: Mapping[str, float]) -> None:
        """Go on from the last values alone (`logger.last_values`), after a process was killed."""
        for name, metric in self.metrics().items():
            if name in values:
                metric.continue_from(values[name])
