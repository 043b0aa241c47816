"""What the parts of a run on a cluster tell each other. Everything here is small, but for the vectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import ray

from mario_rl.cluster.shared_files import Files
from mario_rl.cluster.wire import Packed
from mario_rl.config import TrainingConfig
from mario_rl.distributed.coordinator import Totals
from mario_rl.distributed.events import Event

# Below this Ray puts an argument or an answer into the message itself, which is quicker than its object store.
SMALL_BYTES = 100 * 1024

Version = tuple[int, int]
"""Of weights: which life of the coordinator published them, and their number in it."""


@dataclass(frozen=True)
class ClusterPlan:
    """What every actor of a run knows."""

    config: TrainingConfig
    before: Totals  # what the run had done before it was resumed


@dataclass(frozen=True, slots=True)
class Sender:
    """Which worker speaks, and which of its lives: one that was replaced is not listened to any more."""

    worker: int
    life: int


@dataclass(frozen=True, slots=True)
class Report:
    """What a worker tells with everything it sends."""

    sender: Sender
    totals: Totals  # what it has done in this life
    events: list[Event] = field(default_factory=list)
    dropped: int = 0  # events that nobody took in time


@dataclass(frozen=True, slots=True)
class Weights:
    """Published weights, those that are trained; what follows them (target networks) is asked for once a round."""

    version: Version
    trained: Any  # a Packed, or a reference to a large one

    @staticmethod
    def stored(packed: Packed) -> Any:
        """The vector itself if it is small, else a reference: each node then fetches it once for all its workers."""
        return packed if packed.nbytes <= SMALL_BYTES else ray.put(packed)

    def fetched(self) -> Packed:
        """What is trained, from wherever it is."""
        packed: Packed = ray.get(self.trained) if isinstance(self.trained, ray.ObjectRef) else self.trained
        return packed


@dataclass(frozen=True, slots=True)
class Answer:
    """What the coordinator tells a worker."""

    stop: bool
    pause: bool
    joined: bool  # false: the coordinator does not count on this worker (any more); it may ask to join
    run_steps: int  # environment steps of the whole run
    weights: Weights | None  # the newest; None before the first


@dataclass(frozen=True, slots=True)
class Presence:
    """What the coordinator knows of a worker, for the supervisor."""

    life: int
    silent_seconds: float
    steps: int
    nonfinite_in_a_row: int


@dataclass(frozen=True)
class News:
    """What the coordinator tells the parent, several times a second."""

    events: list[Event]
    files: Files  # of the run's directory, those that are new
    stamp: int  # to ask with for the next ones
    workers: dict[int, Presence]
    silent_seconds: float | None  # since the coordinator's last sign of life; None before the first
