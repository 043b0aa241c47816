"""The parent's picture of the run, put together from the events of all processes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mario_rl.metrics.schema import Values

COORDINATOR = "coordinator"
RECENT = 100  # values of each metric that are kept per source
CURVE_POINTS = 512  # the flag-rate curve has between half of this and this many points
LOG_LINES = 1000


class LogLine(NamedTuple):
    """A line of the log."""

    time: float  # unix seconds
    level: str
    source: str
    text: str


@dataclass
class Standing:
    """What a worker or the learner last said it does."""

    status: str = "starting"
    text: str = ""
    since: float = 0.0  # unix seconds
    heard: float | None = None  # unix seconds of its own last event of any kind
    restarts: int = 0

    def say(self, status: str, text: str, when: float) -> None:
        """It does something else now."""
        self.status, self.text, self.since = status, text, when

    def work(self, doing: str, when: float) -> None:
        """It sent metrics: whoever does that is done with what comes before and between, unless they are older."""
        self.heard = when
        if self.status in ("starting", "restarting", "saving", "evaluating") and when > self.since:
            self.say(doing, "", when)


@dataclass
class Series:
    """A curve of bounded length: when it is full, every second point goes and from then on half as many come in."""

    limit: int = CURVE_POINTS
    points: list[tuple[float, float]] = field(default_factory=list)
    _every: int = 1
    _seen: int = 0

    def add(self, x: float, y: float) -> None:
        """One more point."""
        if self._seen % self._every == 0:
            self.points.append((x, y))
            if len(self.points) >= self.limit:
                del self.points[1::2]
                self._every *= 2
        self._seen += 1


class MetricAggregator:
    """Feed it events (`update`); ask it anything. Metrics nobody has sent yet are None."""

    def __init__(self) -> None:
        self.learner = Standing()
        self.log: deque[LogLine] = deque(maxlen=LOG_LINES)
        self.log_count = 0  # lines ever, so that a reader knows how many are new
        self.flag_curve = Series()  # flag rate of all workers over environment steps
        self._latest: dict[str, Values] = {}
        self._recent: dict[tuple[str, str], deque[float]] = {}
        self._standings: dict[int, Standing] = {}

    # --- events in ------------------------------------------------------------------------------------------------

    def update(self, event: dict[str, Any]) -> None:
        """Take one event in; types it does not know are none of its business."""
        source, when = event["source"], event["time"]
        worker = _worker_of(source)
        if worker is not None:
            self._standings.setdefault(worker, Standing()).heard = when
        match event:
            case {"type": "metrics", "values": values}:
                self._update_metrics(source, values)
                if worker is not None:
                    self._standings[worker].work("collecting", when)
                elif source == COORDINATOR:
                    self.learner.work("learning", when)
            case {"type": "log", "level": level, "text": text}:
                self.log.append(LogLine(when, level, source, text))
                self.log_count += 1
            case {"type": "worker_status", "worker": number, "status": status, "text": text}:
                standing = self._standings.setdefault(number, Standing())
                standing.restarts += status == "restarting"
                standing.say(status, text, when)
            case {"type": "learner_status", "status": status, "text": text}:
                self.learner.say(status, text, when)

    def update_all(self, events: Iterable[dict[str, Any]]) -> None:
        """Take several events in."""
        for event in events:
            self.update(event)

    def _update_metrics(self, source: str, values: Values) -> None:
        self._latest.setdefault(source, {}).update(values)
        for name, value in values.items():
            self._recent.setdefault((source, name), deque(maxlen=RECENT)).append(value)
        # workers alone give a point each; once the coordinator speaks, it knows better
        knows_best = source == COORDINATOR or COORDINATOR not in self._latest
        if knows_best and "flag_rate" in values and self.flag_rate is not None:
            self.flag_curve.add(self.steps, self.flag_rate)

    # --- one source -----------------------------------------------------------------------------------------------

    @property
    def workers(self) -> list[int]:
        """The numbers of the workers that were ever heard of."""
        return sorted(self._standings)

    def standing(self, worker: int) -> Standing:
        """What a worker last said it does."""
        return self._standings.get(worker, Standing())

    def latest(self, source: str, name: str) -> float | None:
        """The newest value of a source's metric."""
        return self._latest.get(source, {}).get(name)

    def recent(self, source: str, name: str) -> list[float]:
        """The newest 100 values of a source's metric, oldest first."""
        return list(self._recent.get((source, name), ()))

    def rolling(self, source: str, name: str) -> float | None:
        """The mean of the newest 100 values of a source's metric."""
        recent = self._recent.get((source, name))
        return sum(recent) / len(recent) if recent else None

    def recent_of_workers(self, name: str) -> list[float]:
        """The newest values of a metric, oldest first, each the mean over the workers that have the metric."""
        columns = [recent for worker in self.workers if (recent := self.recent(f"worker_{worker}", name))]
        length = min(map(len, columns), default=0)
        rows = zip(*(recent[-length:] for recent in columns), strict=True)
        return [sum(row) / len(row) for row in rows] if length else []

    # --- all workers ----------------------------------------------------------------------------------------------

    def each(self, name: str) -> list[float]:
        """The newest value of every worker that has one."""
        found = (self.latest(f"worker_{worker}", name) for worker in self.workers)
        return [value for value in found if value is not None]

    def mean(self, name: str) -> float | None:
        """The mean over the workers."""
        values = self.each(name)
        return sum(values) / len(values) if values else None

    def total(self, name: str) -> float | None:
        """The sum over the workers."""
        values = self.each(name)
        return sum(values) if values else None

    def maximum(self, name: str) -> float | None:
        """The largest of the workers."""
        return max(self.each(name), default=None)

    # --- the run --------------------------------------------------------------------------------------------------

    @property
    def steps(self) -> int:
        """Environment steps of all workers."""
        return int(self._of_run("steps", self.total("steps")) or 0)

    @property
    def episodes(self) -> int:
        """Episodes of all workers."""
        return int(self._of_run("episodes", self.total("episodes")) or 0)

    @property
    def steps_per_second(self) -> float | None:
        """Environment steps a second of all workers."""
        return self._of_run("steps_per_second", self.total("steps_per_second"))

    @property
    def best_x(self) -> float | None:
        """The furthest anyone came."""
        return self._of_run("best_x", self.maximum("best_x"))

    @property
    def flag_rate(self) -> float | None:
        """The share of the workers' latest episodes (100 each) that ended at the flag."""
        return self._of_run("flag_rate", self._share_of_workers("flag_rate", "episodes"))

    @property
    def practice_flag_rate(self) -> float | None:
        """The share of the workers' latest practice episodes (100 each) that ended at the flag."""
        return self._share_of_workers("practice_flag_rate", "practice_episodes")

    @property
    def loss(self) -> float | None:
        """The loss."""
        return self._of_run("loss", self.mean("loss"))

    def overall(self) -> Values:
        """The run in numbers: "all/..." in TensorBoard."""
        numbers = {
            "steps_per_second": self.steps_per_second,
            "flag_rate": self.flag_rate,
            "best_x": self.best_x,
            "episodes": self.episodes,
            "reward_mean": self.mean("reward_mean"),
            "x_mean": self.mean("x_mean"),
            "episode_length": self.mean("episode_length"),
            "flags": self.total("flags"),
            "deaths": self.total("deaths"),
            "practice_episodes": self.total("practice_episodes") or None,
            "practice_flag_rate": self.practice_flag_rate,
        }
        return {name: value for name, value in numbers.items() if value is not None}

    def _of_run(self, name: str, of_workers: float | None) -> float | None:
        """The coordinator counts for all workers, over restarts too; before it speaks, the workers' own sum serves."""
        value = self.latest(COORDINATOR, name)
        return of_workers if value is None else value

    def _share_of_workers(self, share: str, of: str) -> float | None:
        """Each worker's share weighs as many episodes as it is about."""
        weighed, episodes = 0.0, 0.0
        for worker in self.workers:
            rate = self.latest(f"worker_{worker}", share)
            count = min(self.latest(f"worker_{worker}", of) or 0, RECENT)
            if rate is not None:
                weighed += rate * count
                episodes += count
        return weighed / episodes if episodes else None


def _worker_of(source: str) -> int | None:
    name, _, number = source.partition("_")
    return int(number) if name == "worker" and number.isdecimal() else None
