"""What training tells people: collectors count, a logger writes, an aggregator puts all processes together."""

from mario_rl.metrics.aggregator import MetricAggregator
from mario_rl.metrics.collectors.protocol import MetricCollector
from mario_rl.metrics.logger import MetricLogger
from mario_rl.metrics.schema import Counter, Gauge, MetricSchema, Rate, Rolling
from mario_rl.metrics.tensorboard import TensorBoardWriter
from mario_rl.snapshots.hotspots import DeathHotspotAggregate

__all__ = [
    "Counter",
    "DeathHotspotAggregate",
    "Gauge",
    "MetricAggregator",
    "MetricCollector",
    "MetricLogger",
    "MetricSchema",
    "Rate",
    "Rolling",
    "TensorBoardWriter",
]
