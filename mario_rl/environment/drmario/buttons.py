"""What an agent may hold down on its pad in a step: the 12 discrete actions, or [d-pad, rotate, drop]."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from mario_rl.emulators.base import DOWN, LEFT, RIGHT, A, B

NOOP = 0
DISCRETE = (
    *(NOOP, LEFT, RIGHT, DOWN, A, B),
    *(LEFT | A, RIGHT | A, LEFT | B, RIGHT | B),
    *(DOWN | LEFT, DOWN | RIGHT),
)
D_PAD = (NOOP, LEFT, RIGHT)
ROTATE = (NOOP, A, B)  # A turns clockwise, B counter-clockwise
DROP = (NOOP, DOWN)


class Discrete:
    """One of the 12 actions."""

    space = spaces.Discrete(len(DISCRETE))
    _pads = np.array(DISCRETE, np.uint8)

    def pads(self, actions: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.uint8]:
        """uint8[n]: the pad bytes of n actions."""
        return self._pads[actions]


class MultiDiscrete:
    """Three choices at once: nothing, left or right; nothing, A or B; nothing or down."""

    space = spaces.MultiDiscrete([len(D_PAD), len(ROTATE), len(DROP)])
    _d_pad, _rotate, _drop = (np.array(choices, np.uint8) for choices in (D_PAD, ROTATE, DROP))

    def pads(self, actions: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.uint8]:
        """uint8[n]: the pad bytes of n actions, [n, 3]."""
        return self._d_pad[actions[:, 0]] | self._rotate[actions[:, 1]] | self._drop[actions[:, 2]]


BUTTONS: dict[str, Discrete | MultiDiscrete] = {"discrete": Discrete(), "multidiscrete": MultiDiscrete()}
