"""What can be set in a Super Mario Bros. environment, checked once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mario_rl.environment.actions import ACTION_SETS
from mario_rl.environment.checks import one_of, whole_number
from mario_rl.environment.smb.levels import parse_levels
from mario_rl.environment.smb.observation import OBSERVATIONS
from mario_rl.environment.smb.reward import RewardWeights

__all__ = ["SmbSettings"]

# No level harms a Mario who stands still for this many frames (a test checks all 32).
LONGEST_NOOP = 60
# Every ride through a pipe takes longer than this, so no step can miss one.
LONGEST_FRAME_SKIP = 16


@dataclass(frozen=True)
class SmbSettings:
    """The settings of an environment; every keyword of `gymnasium.make` that is not Gymnasium's own."""

    level: str | Sequence[str] = "1-1"
    """A level ("1-1" to "8-4"), "random" for all 32, or a list: one of them is drawn at each reset."""
    observation: str = "tiles"
    """What the agent sees: "tiles", "pixels" or "ram"."""
    actions: str = "right_only"
    """What the agent can press: "right_only", "simple" or "complex"."""
    frame_skip: int = 4
    """Frames an action is held."""
    sticky: float = 0.0
    """The chance that a step repeats the action before instead of the one asked for."""
    noop_max: int = 30
    """Each episode starts with 0 to this many frames of waiting, drawn at random."""
    stuck_steps: int | None = 60
    """Steps without progress that end an episode (None: never)."""
    max_steps: int | None = None
    """Steps after which an episode is truncated (None: the level's own clock ends it)."""
    rewards: RewardWeights | Mapping[str, float] | None = None
    """Weights of the reward's terms: all of them, or some by name."""
    rom: str | os.PathLike[str] | None = None
    """The ROM file (None: found as `mario-rl rom list` shows)."""

    levels: tuple[str, ...] = field(init=False)
    weights: RewardWeights = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", parse_levels(self.level))
        object.__setattr__(self, "weights", RewardWeights.of(self.rewards))
        one_of("observation", self.observation, OBSERVATIONS)
        one_of("actions", self.actions, ACTION_SETS)
        whole_number("frame_skip", self.frame_skip, 1, LONGEST_FRAME_SKIP)
        whole_number("noop_max", self.noop_max, 0, LONGEST_NOOP)
        if not 0 <= self.sticky < 1:
            raise ValueError(f"sticky is a probability, from 0 to below 1, not {self.sticky!r}")
        if self.stuck_steps is not None:
            whole_number("stuck_steps", self.stuck_steps, 1, 10**9)
        if self.max_steps is not None:
            whole_number("max_steps", self.max_steps, 1, 10**9)
