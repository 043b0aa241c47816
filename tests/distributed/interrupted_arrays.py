"""Arrays in whose copies something happens: the deterministic way to look at a process in the middle of a copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


class Killed(Exception):
    """Stands for the death of a process in the middle of a copy."""


class InterruptedArray(np.ndarray):  # type: ignore[type-arg]
    """Does half of any copy or addition it is part of, then calls `meanwhile` once, then does the rest."""

    meanwhile: Callable[[], None]

    def __array_function__(self, function: Any, types: Any, arguments: Any, keywords: Any) -> Any:
        assert function is np.copyto, "another way of copying: these tests must follow it"
        target, source = (np.asarray(array) for array in arguments)
        self._by_halves(lambda half: np.copyto(target[half], source[half]))

    def __array_ufunc__(self, function: Any, method: str, *arguments: Any, out: Any) -> Any:
        plain, (target,) = [np.asarray(array) for array in arguments], (np.asarray(array) for array in out)
        self._by_halves(lambda half: function(*(array[half] for array in plain), out=target[half]))
        return out[0]

    def _by_halves(self, work: Callable[[slice], Any]) -> None:
        middle = len(self) // 2
        work(slice(None, middle))
        meanwhile, self.meanwhile = self.meanwhile, lambda: None
        meanwhile()
        work(slice(middle, None))


def interrupted(array: Floats, meanwhile: Callable[[], None]) -> Floats:
    """The same memory, with something to happen in the middle of its next copy."""
    view = array.view(InterruptedArray)
    view.meanwhile = meanwhile
    return view


def dying(array: Floats) -> Floats:
    """Whoever copies this dies half-way."""

    def die() -> None:
        raise Killed

    return interrupted(array, die)
