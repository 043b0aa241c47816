"""Settings and actions that are none get a ValueError in one line, which says what would be one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces


def whole_number(name: str, value: object, least: int, most: int) -> None:
    """Complain about anything but a whole number in this range."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{name} is a whole number from {least} to {most}, not {value!r}")


def one_of(name: str, value: object, known: Collection[str]) -> None:
    """Complain about a name that is not known."""
    if value not in known:
        raise ValueError(f"unknown {name} {value!r}; use one of {', '.join(known)}")


def checked_actions(
    actions: object, lanes: int, space: spaces.Discrete | spaces.MultiDiscrete
) -> npt.NDArray[np.integer[Any]]:
    """One action a lane, as an array."""
    array = np.asarray(actions)
    shape = (lanes, *(space.shape or ()))
    if array.shape != shape or array.dtype.kind not in "iu":
        each = "" if len(shape) == 1 else f" times {shape[1]}"
        raise ValueError(f"actions are {lanes}{each} whole numbers, not {array.dtype} of shape {array.shape}")
    count = space.n if isinstance(space, spaces.Discrete) else space.nvec
    if ((array < 0) | (array >= count)).any():
        most = np.asarray(count - 1).tolist()
        raise ValueError(f"an action is a number from 0 to {most}, not {array.tolist()}")
    return array
