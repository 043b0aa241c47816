"""The action sets: what an agent may hold down on the pad, as lists of pad bytes.

"right_only" clears most levels fastest; "simple" adds standing jumps and walking left; "complex" has everything the
mazes and pipes need. The sets and their order are those known from gym-super-mario-bros.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mario_rl.emulators.base import DOWN, LEFT, RIGHT, UP, A, B

NOOP = 0
RIGHT_ONLY = (NOOP, RIGHT, RIGHT | A, RIGHT | B, RIGHT | A | B)
SIMPLE = (*RIGHT_ONLY, A, LEFT)
COMPLEX = (*SIMPLE, LEFT | A, LEFT | B, LEFT | A | B, DOWN, UP)
ACTION_SETS: dict[str, tuple[int, ...]] = {"right_only": RIGHT_ONLY, "simple": SIMPLE, "complex": COMPLEX}

_BUTTON_NAMES = {RIGHT: "right", LEFT: "left", DOWN: "down", UP: "up", A: "A", B: "B"}


def pad_table(name: str) -> npt.NDArray[np.uint8]:
    """uint8[actions]: the pad byte of each action of a set."""
    if name not in ACTION_SETS:
        raise ValueError(f"unknown actions {name!r}; use one of {', '.join(ACTION_SETS)}")
    return np.array(ACTION_SETS[name], np.uint8)


def action_names(name: str) -> list[str]:
    """The actions of a set in words, such as "right+A"."""
    pads = pad_table(name)
    return ["+".join(word for bit, word in _BUTTON_NAMES.items() if pad & bit) or "noop" for pad in pads]
