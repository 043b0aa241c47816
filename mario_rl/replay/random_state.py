"""The state of a NumPy generator in a form that `torch.load(weights_only=True)` gives back."""

from __future__ import annotations

from typing import Any

import numpy as np


def saved(random: np.random.Generator) -> dict[str, Any]:
    """As text and small numbers: its 128-bit numbers are nothing that every reader of pickles knows."""
    state = random.bit_generator.state
    return {
        "random": [str(state["state"]["state"]), str(state["state"]["inc"])],
        "random_half": [int(state["has_uint32"]), int(state["uinteger"])],
    }


def restore(random: np.random.Generator, state: dict[str, Any]) -> None:
    """Go on where `saved` was taken (of a PCG64)."""
    number, increment = state["random"]
    has_half, half = state["random_half"]
    random.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": int(number), "inc": int(increment)},
        "has_uint32": has_half,
        "uinteger": half,
    }
