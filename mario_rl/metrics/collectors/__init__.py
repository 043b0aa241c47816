"""Who collects which numbers."""

from mario_rl.metrics.collectors.composite import CompositeCollector, WorkerCollector, worker_collectors
from mario_rl.metrics.collectors.coordinator import CoordinatorCollector
from mario_rl.metrics.collectors.mario import MarioCollector
from mario_rl.metrics.collectors.protocol import MetricCollector
from mario_rl.metrics.collectors.system import SystemCollector

__all__ = [
    "CompositeCollector",
    "CoordinatorCollector",
    "MarioCollector",
    "MetricCollector",
    "SystemCollector",
    "WorkerCollector",
    "worker_collectors",
]
