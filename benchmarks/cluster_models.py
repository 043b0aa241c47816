"""What a gradient of each model takes on its way: how many numbers there and back."""

from __future__ import annotations

from typing import Any

from mario_rl import config as configuration
from mario_rl.distributed.coordinator import TrainingCoordinator
from mario_rl.learners.registry import ALGORITHMS

PRESETS = (None, "laptop")


def vectors() -> dict[str, Any]:
    """Of every model with its defaults and with the laptop's preset."""
    return {"vectors": [vector(model, preset) for model in ALGORITHMS for preset in PRESETS]}


def vector(model: str, preset: str | None) -> dict[str, Any]:
    """How long its gradient is, how long its weights are, and what a worker fetches of these for a gradient.

    Who waits for each update fetches all of them each time. Others fetch those that are trained after each gradient,
    and those that follow (target networks) once a round.
    """
    config = configuration.build({"model": model}, preset)
    coordinator = TrainingCoordinator(config)
    trained, whole = coordinator.flat.trained_size, coordinator.flat.size
    waits = ALGORITHMS[model].experience.waits
    fetched = whole if waits else trained + (whole - trained) / config.gradients_per_collect
    return {"model": model, "preset": preset, "gradient": trained, "weights": whole, "fetched": round(fetched)}
