"""The parts of a saved state that the lanes of every game have: what it is of, and their arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]


def check_identity(saved: Mapping[str, str | None], ours: Mapping[str, str | None]) -> None:
    """Complain about a state that was saved with other settings."""
    for name, own in ours.items():
        if saved.get(name) != own:
            raise ValueError(f"this state of the environment was saved with {name} {saved.get(name)}, ours is {own}")


def packed(arrays: Arrays) -> dict[str, bytes]:
    """Arrays as bytes, which every way of saving takes."""
    return {name: array.tobytes() for name, array in arrays.items()}


def unpacked(saved: Mapping[str, bytes], arrays: Arrays) -> Arrays:
    """The saved values of these arrays, in their shapes; a ValueError if they are of other ones."""
    values = {name: np.frombuffer(saved[name], array.dtype) for name, array in arrays.items()}
    return {name: array.reshape(arrays[name].shape) for name, array in values.items()}
