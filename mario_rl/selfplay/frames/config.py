"""What can be set for training the agent that presses buttons; the strings below the fields are the help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mario_rl.environment.drmario.memory import HIGHEST_LEVEL, SPEEDS
from mario_rl.environment.drmario.settings import LONGEST_FRAME_SKIP
from mario_rl.selfplay.config import COMMAND, STRATEGIES, levels
from mario_rl.settings import Ranges, check_settings, demand, of_dict

NETWORKS = ("landing", "cnn")


@dataclass(frozen=True, kw_only=True)
class GameSettings:
    """The games that are played."""

    level: str = "0-10"
    """Virus levels, one or a range: the curriculum begins with the first, the teacher is followed on all of them."""
    speed: str = "med"
    """Speed of the capsules: low, med or hi."""
    frame_skip: int = 4
    """Frames that buttons are held."""
    envs: int = 8
    """Seats that are played side by side: one in a game alone, both in a game for two."""


@dataclass(frozen=True, kw_only=True)
class NetworkSettings:
    """The network (network.py)."""

    network: str = "landing"
    """What finds the target: landing (judges each place where a capsule could land) or cnn (convolutions)."""
    width: int = 64
    """Units of landing's first layer; twice the channels of cnn's convolutions."""
    certainty: float = 8.0
    """How much more than its doubts the agent follows its best target when it draws buttons."""


@dataclass(frozen=True, kw_only=True)
class ImitationSettings:
    """The warm start (imitation.py)."""

    imitation_rounds: int = 400
    """Rounds of playing 32 steps in every lane and learning from what the teacher says; 0 starts from nothing."""
    teacher: str = "greedy"
    """The bot whose ratings the teacher follows: greedy or search."""
    imitation_lanes: int = 128
    """Games the student plays side by side."""
    imitation_lr: float = 2e-3
    """Learning rate at the start of the stage; it falls to a tenth."""
    imitation_batch: int = 256
    """Lessons in a minibatch."""
    imitation_batches: int = 12
    """Minibatches a round."""
    imitation_keep: float = 0.5
    """The share of states of which the lesson is kept: those of one capsule are much alike."""
    lessons: int = 200_000
    """Lessons that are remembered."""


@dataclass(frozen=True, kw_only=True)
class PpoSettings:
    """PPO of Stable-Baselines3."""

    steps: int = 600_000
    """Environment steps of PPO; 0 ends after the imitation."""
    lr: float = 3e-4
    """Learning rate of the critic, and without a warm start of the actor, too."""
    warm_lr: float = 1e-5
    """Learning rate of the actor after the warm start, which the other one would undo within a rollout."""
    n_steps: int = 2_048
    """Steps of every game in a rollout."""
    batch_size: int = 64
    """Transitions in a minibatch."""
    epochs: int = 10
    """Passes over each rollout."""
    gamma: float = 0.99
    """Discount of a step."""
    gae_lambda: float = 0.95
    """Lambda of the generalised advantage estimate."""
    clip_range: float = 0.2
    """How far the probability ratio counts."""
    entropy: float = 0.0
    """Weight of the entropy bonus."""
    target_kl: float = 0.02
    """A rollout is no longer learned from once the policy has moved this far (0: never)."""
    critic_rollouts: int = 2
    """Rollouts at the start in which the critic alone learns: after the warm start only the actor knows anything."""


@dataclass(frozen=True, kw_only=True)
class SelfPlaySettings:
    """The curriculum, and the games against others after it."""

    pass_rate: float = 0.9
    """Clear rate at the hardest level so far that adds the next one."""
    solo_steps: int = 300_000
    """Steps of PPO after which, at the latest, games against others begin."""
    solo_share: float = 0.25
    """Share of the seats that stay without an opponent then (at least one); 1 means that there never is one."""
    self_prob: float = 0.8
    """Chance that the opponent is the current policy; otherwise it comes from the pool."""
    pool_size: int = 10
    """Past policies in the pool."""
    pool_strategy: str = "prioritised"
    """Who is drawn from the pool: latest, uniform, prioritised (those it loses to) or diverse."""
    pool_gate: float = 0.55
    """Score against the newest of the pool from which on the policy may join it."""
    snapshot_every: int = 100_000
    """Steps between two attempts to join the pool."""


@dataclass(frozen=True, kw_only=True)
class FramesConfig(SelfPlaySettings, PpoSettings, ImitationSettings, NetworkSettings, GameSettings):
    """Everything about one run of `train_frames`."""

    env: str = "frames"
    """What the agent decides: placement (where a capsule goes) or frames (the buttons, every few frames)."""
    minutes: float | None = None
    """End after this many minutes of training, too."""
    seed: int = 0
    """Seed of everything random."""
    name: str | None = None
    """Name of the run's directory; a timestamp if not set."""
    checkpoints: str = "checkpoints"
    """Directory that holds the runs."""
    checkpoint_minutes: float = 1.0
    """Minutes between checkpoints."""
    evaluate_every: int = 200_000
    """Steps of PPO between evaluations against the bots, the first one before them (0: none)."""
    evaluate_games: int = 20
    """Games of such an evaluation, against each bot."""

    def __post_init__(self) -> None:
        check_settings(self, _RANGES)
        demand(self.env == "frames", self, "env", "frames for this agent")
        demand(bool(levels(self.level)), self, "level", f"0 to {HIGHEST_LEVEL}, or a range such as 0-10")
        demand(self.minutes is None or self.minutes > 0, self, "minutes", "above 0")
        demand(self.frame_skip <= LONGEST_FRAME_SKIP, self, "frame_skip", f"at most {LONGEST_FRAME_SKIP}")
        demand(self.batch_size >= 2, self, "batch_size", "at least 2")
        demand(self.width >= 2, self, "width", "at least 2")

    @property
    def games_for_two(self) -> int:
        """How many games for two there are once there are any; the other seats play alone."""
        alone = max(1, round(self.solo_share * self.envs))
        return (self.envs - alone) // 2

    @property
    def levels(self) -> tuple[int, ...]:
        """All levels that are played."""
        return levels(self.level)

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> FramesConfig:
        """A configuration of these settings; a ConfigError names one that does not exist."""
        return of_dict(cls, settings, COMMAND)


_RANGES = Ranges(
    at_least_one=[
        *("frame_skip", "envs", "width", "imitation_lanes", "imitation_batch", "imitation_batches", "lessons"),
        *("n_steps", "batch_size", "epochs", "pool_size", "snapshot_every", "evaluate_games"),
    ],
    at_least_zero=["imitation_rounds", "steps", "critic_rollouts", "solo_steps", "seed", "evaluate_every"],
    positive=["certainty", "imitation_lr", "lr", "warm_lr", "clip_range", "imitation_keep"],
    not_negative=["entropy", "target_kl", "checkpoint_minutes"],
    shares=["imitation_keep", "gamma", "gae_lambda", "pass_rate", "solo_share", "self_prob", "pool_gate"],
    choices={"speed": SPEEDS, "network": NETWORKS, "teacher": ("greedy", "search"), "pool_strategy": STRATEGIES},
)
