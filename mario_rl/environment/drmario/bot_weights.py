"""What the bots find good and bad in a field: weights of the engine's BOARD_FEATURES, found by playing.

The packaged ones, bot_weights.json, were written by `mario-rl bench drmario --tune`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mario_rl.environment.drmario.rules import BOARD_FEATURES

Weights = npt.NDArray[np.float32]
"""float32[len(BOARD_FEATURES)]"""

PACKAGED = "bot_weights.json"


def load_weights(bot: str, file: Path | None = None) -> Weights:
    """The weights of a bot, from a file that `--tune` wrote or the packaged one; a ValueError says what is wrong."""
    source = files(__package__).joinpath(PACKAGED) if file is None else file
    try:
        found = json.loads(source.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise ValueError(f"cannot read the weights in {source}: {problem}") from problem
    if not isinstance(found, dict) or not isinstance(found.get(bot), dict):
        raise ValueError(f"{source} has no weights for the bot {bot!r}")
    return from_names(found[bot].get("weights"), str(source))


def from_names(named: Any, source: str) -> Weights:
    """Weights by name in the order of BOARD_FEATURES; all of them have to be there."""
    if not isinstance(named, Mapping) or set(named) != set(BOARD_FEATURES):
        raise ValueError(f"{source}: the weights are not those of this version's features; tune them again")
    values = [named[name] for name in BOARD_FEATURES]
    if not all(isinstance(value, int | float) and abs(value) <= 1000 for value in values):
        raise ValueError(f"{source}: a weight is no number between -1000 and 1000")
    return np.array(values, np.float32)


def by_name(weights: Weights) -> dict[str, float]:
    """The weights as they are written to a file."""
    return {name: round(float(weight), 4) for name, weight in zip(BOARD_FEATURES, weights, strict=True)}
