"""What can be set in a Dr. Mario environment, checked once."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mario_rl.emulators.base import Emulator
from mario_rl.environment.checks import whole_number
from mario_rl.environment.drmario.buttons import BUTTONS
from mario_rl.environment.drmario.memory import HIGHEST_LEVEL, SPEEDS
from mario_rl.environment.drmario.observation import observation_of
from mario_rl.environment.drmario.reward import RewardWeights

if TYPE_CHECKING:
    from mario_rl.environment.drmario.planner import Chooser

BOTS = ("random", "greedy", "search")
"""The names of the bots (bots.py), the weakest first."""

# In a longer step a lock, its match and the next capsule could all happen unseen by the agent.
LONGEST_FRAME_SKIP = 16

Levels = int | Sequence[int]
Speeds = int | str | Sequence[int | str]
Policy = Callable[..., Any]
Backend = str | Emulator | Sequence[Emulator]


@dataclass(frozen=True, kw_only=True)
class GameSettings:
    """The settings both kinds of environment share; every keyword of `gymnasium.make` that is not Gymnasium's own."""

    level: Levels = 0
    """Virus level 0 to 20, or a list or range of them: one is drawn at each reset."""
    speed: Speeds = "med"
    """"low", "med" or "hi" (or 0 to 2), or a list of them: one is drawn at each reset."""
    opponent: str | Policy | Chooser | None = None
    """Who plays the other seat: a bot or its name, a policy (observation -> action), or nobody."""
    players: int | None = None
    """1 or 2 (None: 2 if there is an opponent). With 2 and no opponent the other seat's capsules just fall."""
    player_id: int = 1
    """The seat of the agent: 1 or 2."""
    opponent_level: Levels | None = None
    """The opponent's level (None: the agent's)."""
    opponent_speed: Speeds | None = None
    """The opponent's speed (None: the agent's)."""
    max_frames: int | None = 36_000
    """Frames after which an episode is truncated (None: never). 36,000 are ten minutes of play."""
    rewards: RewardWeights | str | Mapping[str, float | str] | None = None
    """The reward: a preset ("first" or "scaled"), weights of terms by name, or RewardWeights."""
    backend: Backend = "rules"
    """What the game runs on: "rules", "embedded", "mednafen", "http://...", or a console of one's own."""
    rom: str | os.PathLike[str] | None = None
    """The cartridge for "embedded" and "mednafen" (None: found as `mario-rl rom list` shows)."""

    levels: tuple[int, ...] = field(init=False)
    speeds: tuple[int, ...] = field(init=False)
    opponent_levels: tuple[int, ...] | None = field(init=False)
    opponent_speeds: tuple[int, ...] | None = field(init=False)
    weights: RewardWeights = field(init=False)
    seats: int = field(init=False)

    def __post_init__(self) -> None:
        seats = self.players if self.players is not None else 1 if self.opponent is None else 2
        whole_number("players", seats, 1, 2)
        whole_number("player_id", self.player_id, 1, 2)
        if seats == 1 and (self.opponent is not None or self.player_id == 2):
            raise ValueError("an opponent, or player_id=2, needs players=2")
        if self.max_frames is not None:
            whole_number("max_frames", self.max_frames, 1, 10**9)
        nobody_or_named = self.opponent is None or isinstance(self.opponent, str)
        if not (nobody_or_named or callable(self.opponent) or hasattr(self.opponent, "choose")):
            raise ValueError(f"opponent is a bot or its name, a function or None, not {self.opponent!r}")
        derived = {
            "levels": parse_levels(self.level),
            "speeds": parse_speeds(self.speed),
            "opponent_levels": None if self.opponent_level is None else parse_levels(self.opponent_level),
            "opponent_speeds": None if self.opponent_speed is None else parse_speeds(self.opponent_speed),
            "weights": RewardWeights.of(self.rewards),
            "seats": seats,
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    @property
    def seat(self) -> int:
        """The agent's seat as an index: 0 or 1."""
        return self.player_id - 1


@dataclass(frozen=True, kw_only=True)
class PlacementSettings(GameSettings):
    """The settings of the environment in which an agent chooses where each capsule goes."""

    observation: str = "planes"
    """What the agent sees: "planes", "flat", or "placements" (the features of every placement)."""
    features: bool = False
    """With "planes": a Dict that also has the vector of features."""
    tucks: bool = False
    """Choose among all 512 placements (x, y, rotation), instead of the highest for each column and rotation."""
    distinct: bool = False
    """Leave out placements that look like another one (capsules of one colour have two for every place)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.observation != "placements":
            observation_of(self.observation, self.features)
        elif self.features:
            raise ValueError('features=True goes with observation="planes"')


@dataclass(frozen=True, kw_only=True)
class ButtonSettings(GameSettings):
    """The settings of the environment in which an agent presses buttons."""

    observation: str = "planes"
    """What the agent sees: "planes" or "flat"."""
    features: bool = False
    """With "planes": a Dict that also has the vector of features."""
    actions: str = "discrete"
    """"discrete" (12 actions) or "multidiscrete" ([d-pad, rotate, drop])."""
    frame_skip: int = 4
    """Frames an action is held, 1 to 16."""

    def __post_init__(self) -> None:
        super().__post_init__()
        observation_of(self.observation, self.features)
        one_of("actions", self.actions, BUTTONS)
        whole_number("frame_skip", self.frame_skip, 1, LONGEST_FRAME_SKIP)


def parse_levels(level: object) -> tuple[int, ...]:
    """The levels to draw from."""
    levels = tuple(level) if isinstance(level, Sequence) and not isinstance(level, str) else (level,)
    if not levels:
        raise ValueError("level is an empty list: it needs at least one level")
    for number in levels:
        whole_number("level", number, 0, HIGHEST_LEVEL)
    return levels


def parse_speeds(speed: object) -> tuple[int, ...]:
    """The speeds to draw from, 0 to 2."""
    speeds = tuple(speed) if isinstance(speed, Sequence) and not isinstance(speed, str) else (speed,)
    if not speeds:
        raise ValueError("speed is an empty list: it needs at least one speed")
    return tuple(_speed(one) for one in speeds)


def _speed(speed: object) -> int:
    if isinstance(speed, str) and speed.lower() in SPEEDS:
        return SPEEDS.index(speed.lower())
    if isinstance(speed, int) and not isinstance(speed, bool) and 0 <= speed < len(SPEEDS):
        return speed
    raise ValueError(f"unknown speed {speed!r}; use one of {', '.join(SPEEDS)}")


def one_of(name: str, value: object, known: Mapping[str, object]) -> None:
    """A ValueError that names the choices."""
    if value not in known:
        raise ValueError(f"unknown {name} {value!r}; use one of {', '.join(known)}")
