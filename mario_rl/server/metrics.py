"""What the server tells Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from mario_rl.server.service import Service

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_STEP_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0)


class Metrics:
    """Counters of requests, and the sessions as they are when they are looked at."""

    def __init__(self, service: Service):
        self._registry = CollectorRegistry()
        self._registry.register(_OfSessions(service))
        self._requests = Counter(
            "mario_rl_requests", "HTTP requests answered, by status.", ["status"], registry=self._registry
        )
        self._by_status: dict[int, Counter] = {}
        self.step_seconds = Histogram(
            "mario_rl_step_seconds", "Time for a binary step.", buckets=_STEP_SECONDS, registry=self._registry
        )

    def answered(self, status: int) -> None:
        """Count a request."""
        counter = self._by_status.get(status)
        if counter is None:
            counter = self._by_status[status] = self._requests.labels(str(status))
        counter.inc()

    def text(self) -> bytes:
        """Everything, as Prometheus reads it."""
        return generate_latest(self._registry)


class _OfSessions(Collector):
    def __init__(self, service: Service):
        self._service = service

    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("mario_rl_console_up", "1 while the console runs.", labels=["session"])
        frames = CounterMetricFamily("mario_rl_frames", "Frames run since the launch.", labels=["session"])
        restarts = CounterMetricFamily(
            "mario_rl_console_restarts", "Times the console was lost and brought back.", labels=["session"]
        )
        sessions = self._service.sessions().sessions
        for status in sessions:
            up.add_metric([status.session], float(status.alive))
            frames.add_metric([status.session], float(status.frames))
            restarts.add_metric([status.session], float(status.restarts))
        yield GaugeMetricFamily("mario_rl_sessions", "Sessions there are.", value=len(sessions))
        yield up
        yield frames
        yield restarts
