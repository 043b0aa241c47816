"""Several collectors as one, and those of a worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mario_rl.metrics.collectors.ddqn import DdqnCollector
from mario_rl.metrics.collectors.dreamer import DreamerCollector
from mario_rl.metrics.collectors.gradients import GradientCollector
from mario_rl.metrics.collectors.mario import Death, MarioCollector
from mario_rl.metrics.collectors.ppo import PpoCollector
from mario_rl.metrics.collectors.protocol import MetricCollector
from mario_rl.metrics.collectors.system import SystemCollector
from mario_rl.metrics.schema import Values

if TYPE_CHECKING:
    from mario_rl.config import TrainingConfig
    from mario_rl.learners.base import LaneSteps

ALGORITHMS: dict[str, Callable[[], MetricCollector]] = {
    "ddqn": DdqnCollector,
    "dreamer": DreamerCollector,
    "ppo": PpoCollector,
}


class CompositeCollector:
    """Tells every part what happens, and gives the metrics of all."""

    def __init__(self, collectors: Sequence[MetricCollector]):
        self._collectors = {type(collector).__name__: collector for collector in collectors}
        names = [name for collector in collectors for name in collector.names]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice or len(self._collectors) < len(collectors):
            raise ValueError(f"two collectors give the same metrics: {', '.join(twice)}")
        self._names = tuple(names)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, part by part."""
        return self._names

    def on_steps(self, lane_steps: LaneSteps, infos: dict[str, Any]) -> None:
        """All lanes went one step."""
        for collector in self._collectors.values():
            collector.on_steps(lane_steps, infos)

    def on_gradient(self, metrics: Mapping[str, float]) -> None:
        """A gradient was computed."""
        for collector in self._collectors.values():
            collector.on_gradient(metrics)

    def values(self) -> Values:
        """The metrics of all parts."""
        return {name: value for collector in self._collectors.values() for name, value in collector.values().items()}

    def state_dict(self) -> dict[str, Any]:
        """The states of all parts, by the names of their classes."""
        return {name: collector.state_dict() for name, collector in self._collectors.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from `state_dict`; a part it does not know starts anew."""
        for name, collector in self._collectors.items():
            if name in state:
                collector.load_state_dict(state[name])

    def continue_from(self, values: Mapping[str, float]) -> None:
        """Go on from the last known values alone."""
        for collector in self._collectors.values():
            collector.continue_from(values)


class WorkerCollector(CompositeCollector):
    """What a worker collects: the game, its gradients, its algorithm (if that has a collector) and its process."""

    def __init__(self, config: TrainingConfig):
        self.mario = MarioCollector(config.lanes, config.reward_scale)
        algorithm = [ALGORITHMS[config.model]()] if config.model in ALGORITHMS else []
        super().__init__([self.mario, GradientCollector(), *algorithm, SystemCollector()])

    def take_deaths(self) -> list[Death]:
        """Where Mario died since the last call."""
        return self.mario.take_deaths()


def worker_collectors(config: TrainingConfig) -> WorkerCollector:
    """The collectors of a worker of this run."""
    return WorkerCollector(config)
