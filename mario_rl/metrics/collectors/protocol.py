"""What a collector is: it watches a worker (or the coordinator) and knows the numbers worth telling.

A worker calls `on_steps` after every step of its lanes and `on_gradient` for every gradient it computed; `values` is
what is written to its CSV file and published. Collectors only watch: nothing they do changes the training.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from mario_rl.metrics.schema import Gauge, MetricSchema, Rolling, Values

if TYPE_CHECKING:  # learners bring torch along, which collectors have no need for
    from mario_rl.learners.base import LaneSteps


class MetricCollector(Protocol):
    """Watches and counts."""

    @property
    def names(self) -> tuple[str, ...]:
        """All metrics this collector may ever give: the columns of a CSV file."""

    def on_steps(self, lane_steps: LaneSteps, infos: dict[str, Any]) -> None:
        """All lanes went one step; `infos` is what the vector environment said about it."""

    def on_gradient(self, metrics: Mapping[str, float]) -> None:
        """A gradient was computed; `metrics` is what is known about it, more than any one collector wants."""

    def values(self) -> Values:
        """The metrics that have a value, by name."""

    def state_dict(self) -> dict[str, Any]:
        """Everything counted so far; loads with `weights_only=True`."""

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from `state_dict`."""

    def continue_from(self, values: Mapping[str, float]) -> None:
        """Go on from the last known values alone, after a process was killed."""


Schema = TypeVar("Schema", bound=MetricSchema)


class SchemaCollector(Generic[Schema]):
    """A collector whose numbers are those of one schema. It ignores what it is told; subclasses listen."""

    def __init__(self, metrics: Schema):
        self.metrics = metrics

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the schema."""
        return self.metrics.names

    def on_steps(self, lane_steps: LaneSteps, infos: dict[str, Any]) -> None:
        """Nothing to learn from a step."""

    def on_gradient(self, metrics: Mapping[str, float]) -> None:
        """Nothing to learn from a gradient."""

    def values(self) -> Values:
        """The metrics that have a value, by name."""
        return self.metrics.values()

    def state_dict(self) -> dict[str, Any]:
        """Everything counted so far."""
        return {"metrics": self.metrics.state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from `state_dict`."""
        self.metrics.load_state_dict(state["metrics"])

    def continue_from(self, values: Mapping[str, float]) -> None:
        """Go on from the last known values alone."""
        self.metrics.continue_from(values)


class NamedInGradients(SchemaCollector[Schema]):
    """Takes from `on_gradient` what bears the name of one of its metrics; a dropped gradient says nothing."""

    def on_gradient(self, metrics: Mapping[str, float]) -> None:
        """One more gradient for the means."""
        if metrics.get("dropped"):
            return
        for name, metric in self.metrics.metrics().items():
            if name not in metrics:
                continue
            if isinstance(metric, Rolling):
                metric.add(metrics[name])
            elif isinstance(metric, Gauge):
                metric.set(metrics[name])
