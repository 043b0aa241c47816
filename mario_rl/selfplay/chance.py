"""The state of everything random in a run, for exact resuming: torch's and NumPy's generators, and a run's own.

SB3 shuffles its rollouts with NumPy's global generator and draws actions with torch's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch


def start(seed: int) -> np.random.Generator:
    """Seed the global generators; returns the run's own."""
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    return np.random.default_rng(seed)


def state_of(random: np.random.Generator) -> dict[str, Any]:
    """Tensors and plain values."""
    shuffling = np.random.get_state(legacy=False)  # noqa: NPY002
    assert isinstance(shuffling, dict)
    inner = shuffling["state"]
    return {
        "torch": torch.get_rng_state(),
        "numpy": [torch.from_numpy(inner["key"].astype(np.int64)), int(inner["pos"])],
        "own": dict(random.bit_generator.state),
    }


def restore(state: Mapping[str, Any], random: np.random.Generator) -> None:
    """Go on exactly there."""
    torch.set_rng_state(state["torch"])
    keys, position = state["numpy"]
    np.random.set_state(("MT19937", keys.numpy().astype(np.uint32), position, 0, 0.0))  # noqa: NPY002
    random.bit_generator.state = state["own"]
