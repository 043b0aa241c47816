"""One lane's part of what all lanes see and are told."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

Seen = npt.NDArray[Any] | dict[str, npt.NDArray[Any]]  # the observations of all lanes, or of one
Info = dict[str, Any]


def seen_by_one(seen: Seen, index: int) -> Seen:
    """One lane's part of what all see, as arrays of their own."""
    if isinstance(seen, dict):
        return {name: values[index].copy() for name, values in seen.items()}
    return seen[index].copy()


def told_about_one(info: Info) -> Info:
    """The info of the only lane there is: plain numbers and text, and arrays where they are rows."""
    one: Info = {}
    for key, values in info.items():
        if isinstance(values, dict):
            one[key] = told_about_one(values)
        else:
            one[key] = values[0].item() if values.ndim == 1 else values[0]
    return one
