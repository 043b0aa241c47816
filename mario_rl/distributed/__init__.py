"""How gradients and weights move between the processes of a run, and who keeps those processes alive."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mario_rl.distributed.coordinator import TrainingCoordinator
    from mario_rl.distributed.events import EventPublisher, EventSubscriber
    from mario_rl.distributed.gradient_pool import SharedGradientPool
    from mario_rl.distributed.heartbeat import SharedHeartbeat
    from mario_rl.distributed.supervisor import Supervisor
    from mario_rl.distributed.weights import SharedWeights
    from mario_rl.distributed.worker import TrainingWorker

__all__ = [
    "EventPublisher",
    "EventSubscriber",
    "SharedGradientPool",
    "SharedHeartbeat",
    "SharedWeights",
    "Supervisor",
    "TrainingCoordinator",
    "TrainingWorker",
]

_MODULES = {
    "EventPublisher": "events",
    "EventSubscriber": "events",
    "SharedGradientPool": "gradient_pool",
    "SharedHeartbeat": "heartbeat",
    "SharedWeights": "weights",
    "Supervisor": "supervisor",
    "TrainingCoordinator": "coordinator",
    "TrainingWorker": "worker",
}

if not TYPE_CHECKING:  # which would else believe in every name

    def __getattr__(name: str) -> object:
        """Only who asks for the worker or the coordinator imports torch: events, signs of life and the shared memory
        need none of it."""
        if name in _MODULES:
            return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
