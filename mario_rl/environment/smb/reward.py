"""The reward: five small named terms, each with a weight.

| term     | paid                                               | default weight            |
|----------|----------------------------------------------------|---------------------------|
| progress | every step, per pixel Mario moved to the right     | 0.1 (to the left: -0.1)   |
| clock    | every step, per unit of the level's clock gone by  | -0.1                      |
| death    | once, when Mario dies                              | -2.5                      |
| flag     | once, at the flagpole or the axe                   | +5                        |
| stuck    | once, when the episode ends for want of progress   | -2.5                      |

The defaults are those of the recipe that clears 1-1 in minutes. A warp zone ends the episode and pays nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from mario_rl.environment.smb.episode import Outcome

# Mario runs at 2.5 pixels a frame; anything above this is a jump of the map, not of Mario.
FASTEST_PIXELS_PER_FRAME = 4


@dataclass(frozen=True)
class RewardWeights:
    """What each term of the reward is worth."""

    progress: float = 0.1
    clock: float = -0.1
    death: float = -2.5
    flag: float = 5.0
    stuck: float = -2.5

    @classmethod
    def of(cls, weights: RewardWeights | Mapping[str, float] | None) -> RewardWeights:
        """The weights as given, or the defaults with some of them replaced by name."""
        if isinstance(weights, RewardWeights):
            return weights
        names = [field.name for field in fields(cls)]
        for name in weights or {}:
            if name not in names:
                raise ValueError(f"unknown reward term {name!r}; the terms are {', '.join(names)}")
        return cls(**(weights or {}))


def reward(outcome: Outcome, weights: RewardWeights, frame_skip: int) -> npt.NDArray[np.float32]:
    """The weighted sum of the terms, float32[lanes]."""
    fastest = FASTEST_PIXELS_PER_FRAME * frame_skip
    total = np.maximum(np.minimum(outcome.pixels, fastest), -fastest) * np.float32(weights.progress)
    total += outcome.clock * np.float32(weights.clock)
    if outcome.any_ended:  # the other terms are 0 in all other steps
        total += outcome.death * np.float32(weights.death)
        total += outcome.flag * np.float32(weights.flag)
        total += outcome.stuck * np.float32(weights.stuck)
    return total
