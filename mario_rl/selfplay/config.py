"""What can be set for a run of self-play: small dataclasses whose field docs are the help of `mario-rl selfplay train`.

What the user does not set comes from `--preset`, then from the defaults here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mario_rl.environment.drmario.memory import HIGHEST_LEVEL, SPEEDS
from mario_rl.environment.drmario.settings import BOTS
from mario_rl.settings import ConfigError, Ranges, check_settings, demand, of_dict

STRATEGIES = ("latest", "uniform", "prioritised", "diverse")
COMMAND = "mario-rl selfplay train"


@dataclass(frozen=True, kw_only=True)
class GameMix:
    """Which games are played."""

    level: str = "0-10"
    """Virus levels of games for two, one or a range (5, 0-10); each round draws one."""
    speed: str = "med"
    """Speed of games for two: low, med, hi, or several (med,hi)."""
    solo_level: str = "0-20"
    """Virus levels of games for one, which come first and go on beside the others."""
    solo_speed: str = "med,hi"
    """Speeds of games for one."""
    solo_share: float = 0.25
    """Part of the games that are for one, once there are games for two."""
    solo_hard: float = 0.5
    """Part of the games for one that are at the three highest levels, once there are games for two."""
    solo_first: float = 0.9
    """Solo levels rise while this part of the hardest is cleared; games for two begin after the highest."""
    solo_steps: int = 1_000_000
    """At the latest after this many decisions games for two begin."""


@dataclass(frozen=True, kw_only=True)
class Rewards:
    """What is paid; a round for two is worth 1."""

    win: float = 1.0
    """For two: a win; a loss costs as much."""
    virus: float = 0.01
    """For two: per virus by which it gains on the opponent."""
    solo_clear: float = 0.5
    """For one: a cleared bottle; topping out costs as much."""
    solo_virus: float = 0.1
    """For one: a virus."""
    solo_frames: float = 0.0002
    """For one: what a frame costs."""


@dataclass(frozen=True, kw_only=True)
class PoolSettings:
    """Whom it plays against."""

    self_prob: float = 0.8
    """Chance that the opponent is the current policy itself; else it comes from the pool."""
    pool_size: int = 10
    """Past selves that are kept."""
    snapshot_every: int = 250_000
    """Decisions between two looks at the candidate for the pool."""
    pool_gate: float = 0.65
    """A past self joins the pool once the current policy scores this much against it."""
    pool_strategy: str = "prioritised"
    """Who is drawn: latest, uniform, prioritised (those it loses to), or diverse (kept apart by behaviour)."""
    pool_bots: str = "greedy"
    """Bots that belong to the pool for ever: random, greedy, search, several (greedy,search), or none."""
    opponents: int = 3
    """Members of the pool that are invited at the same time: each costs a forward pass a step."""


@dataclass(frozen=True, kw_only=True)
class PpoSettings:
    """MaskablePPO."""

    envs: int = 192
    """Games side by side, all workers together."""
    rollout: int = 16_384
    """Decisions that are collected before each update."""
    batch_size: int = 2_048
    """Decisions in a minibatch."""
    epochs: int = 3
    """Passes over the collected decisions."""
    lr: float = 1.5e-3
    """Learning rate at the start."""
    lr_min: float = 1e-4
    """Learning rate at the end; it falls along a cosine."""
    gamma: float = 0.995
    """Discount of a decision."""
    gae_lambda: float = 0.95
    """Lambda of the generalised advantage estimate."""
    clip_range: float = 0.2
    """How far the probability ratio counts."""
    entropy: float = 0.005
    """Weight of the entropy bonus at the start; it falls to a tenth with the learning rate."""
    value_weight: float = 0.5
    """Weight of the value loss."""
    max_grad_norm: float = 0.5
    """Gradients are scaled down to this norm."""
    hidden: int = 32
    """Units of the scorer's layers."""
    value_hidden: int = 64
    """Units of the value's layers."""


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """The run as a whole."""

    env: str = "placement"
    """What the agent decides: placement (where a capsule goes) or frames (the buttons, every few frames)."""
    steps: int = 20_000_000
    """Decisions to learn from."""
    minutes: float | None = None
    """End after this many minutes of training, too, and let the learning rate fall over them."""
    workers: int = 0
    """Processes that collect while the learner learns; 0 does both in turn, reproducible bit for bit."""
    seed: int = 0
    """Seed of everything random."""
    name: str | None = None
    """Name of the run's directory; a timestamp if not set."""
    checkpoints: str = "checkpoints"
    """Directory that holds the runs."""
    checkpoint_every: int = 1_000_000
    """Decisions between checkpoints."""
    keep: int = 2
    """Numbered checkpoints that are kept besides the latest."""
    evaluate_every: int = 2_000_000
    """Decisions between evaluations against the bots (0: none)."""
    evaluate_games: int = 100
    """Games of such an evaluation, against each bot."""


@dataclass(frozen=True, kw_only=True)
class SelfPlayConfig(RunSettings, GameMix, PoolSettings, PpoSettings, Rewards):
    """Everything about one run of self-play with placements."""

    def __post_init__(self) -> None:
        check(self)

    @property
    def bots(self) -> list[str]:
        """The bots of the pool."""
        return [] if self.pool_bots == "none" else [name.strip() for name in self.pool_bots.split(",")]

    @property
    def rewards(self) -> dict[str, float]:
        """What is paid, by name."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(Rewards)}


_RANGES = Ranges(
    at_least_one=[
        *("steps", "envs", "rollout", "batch_size", "epochs", "hidden", "value_hidden", "pool_size"),
        *("snapshot_every", "opponents", "checkpoint_every", "evaluate_games", "keep"),
    ],
    at_least_zero=["workers", "seed", "evaluate_every", "solo_steps"],
    positive=["lr", "clip_range", "max_grad_norm", "win"],
    not_negative=["lr_min", "entropy", "value_weight", "virus", "solo_clear", "solo_virus", "solo_frames"],
    shares=["self_prob", "solo_share", "solo_hard", "solo_first", "pool_gate", "gamma", "gae_lambda"],
    choices={"pool_strategy": STRATEGIES, "env": ("placement",)},
)


def check(config: SelfPlayConfig) -> None:
    """Raise a ConfigError about the first setting that cannot be."""
    check_settings(config, _RANGES)
    demand(config.minutes is None or config.minutes > 0, config, "minutes", "above 0")
    demand(config.lr_min <= config.lr, config, "lr_min", f"at most lr ({config.lr})")
    for name in ("level", "solo_level"):
        demand(bool(levels(getattr(config, name))), config, name, f"0 to {HIGHEST_LEVEL}, or a range such as 0-10")
    for name in ("speed", "solo_speed"):
        demand(bool(speeds(getattr(config, name))), config, name, f"one or several of {', '.join(SPEEDS)}")
    demand(set(config.bots) <= set(BOTS), config, "pool_bots", f"none, or some of {', '.join(BOTS)}")
    demand(config.workers == 0 or config.envs % config.workers == 0, config, "envs", "a multiple of --workers")


def levels(text: str) -> tuple[int, ...]:
    """ "5" or "0-10" as numbers; nothing if that cannot be."""
    ends = text.split("-")
    if len(ends) > 2 or not all(end.strip().isdecimal() for end in ends):
        return ()
    first, last = int(ends[0]), int(ends[-1])
    return tuple(range(first, last + 1)) if last <= HIGHEST_LEVEL else ()


def speeds(text: str) -> tuple[int, ...]:
    """ "med,hi" as numbers; nothing if that cannot be."""
    names = [name.strip().lower() for name in text.split(",")]
    return tuple(SPEEDS.index(name) for name in names) if set(names) <= set(SPEEDS) else ()


# For two cores: one collects, one learns. Everything not named stays at its default.
PRESETS: dict[str, dict[str, Any]] = {
    "laptop": {"workers": 1, "level": "10", "minutes": 25.0, "steps": 100_000_000},
}


def build(chosen: Mapping[str, Any], preset: str | None = None, base: SelfPlayConfig | None = None) -> SelfPlayConfig:
    """The configuration of a run: `chosen` over `preset` over `base` (the defaults)."""
    if preset is not None and preset not in PRESETS:
        raise ConfigError(f"unknown preset {preset!r}; use one of {', '.join(PRESETS)}")
    start = dataclasses.asdict(base) if base is not None else {}
    return from_dict(start | (PRESETS[preset] if preset else {}) | dict(chosen))


def from_dict(settings: Mapping[str, Any]) -> SelfPlayConfig:
    """A configuration of these settings; a ConfigError names one that does not exist."""
    return of_dict(SelfPlayConfig, settings, COMMAND)
