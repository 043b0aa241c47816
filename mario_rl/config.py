"""What can be set for a training run: small dataclasses whose field docs are the help of `mario-rl train`.

`TrainingConfig` is all of them in one flat namespace, so that a flag, a line of a YAML file and a field have one name.
What the user does not set comes from `--config`, then from `--preset`, then from the defaults here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mario_rl import settings as generic
from mario_rl.config_checks import CLUSTERS, check, is_cluster
from mario_rl.presets import PRESETS
from mario_rl.settings import ConfigError, flag

__all__ = [
    "CLUSTERS",
    "ConfigError",
    "TrainingConfig",
    "build",
    "check",
    "docs",
    "flag",
    "from_dict",
    "is_cluster",
    "kinds_of",
    "read_yaml",
    "write_yaml",
]


@dataclass(frozen=True, kw_only=True)
class EnvironmentSettings:
    """The game the lanes play (docs/environment.md)."""

    level: str = "1-1"
    """A level (1-1 to 8-4), several (1-1,1-2: one is drawn for each episode), or random for all 32."""
    observation: str = "tiles"
    """What the agent sees: tiles or pixels."""
    actions: str = "right_only"
    """What the agent can press: right_only, simple or complex."""
    frame_skip: int = 4
    """Frames an action is held."""
    sticky: float = 0.0
    """The chance that a training step repeats the action before; 0.1 with --curriculum demo, unless chosen."""
    noop_max: int = 30
    """Each episode starts with 0 to this many frames of waiting."""
    stuck_steps: int = 60
    """Steps without progress that end an episode."""
    reward_scale: float = 0.1
    """Every reward is multiplied by this before learning."""
    rom: str | None = None
    """ROM file to use instead of the one that is found."""


@dataclass(frozen=True, kw_only=True)
class WorkerSettings:
    """Who collects, and how often gradients are computed."""

    workers: int = 4
    """Worker processes; 0 runs everything in one process, reproducible bit for bit."""
    lanes: int = 16
    """Games that each worker plays side by side."""
    collect_steps: int = 64
    """Steps per lane between two rounds of learning."""
    gradients_per_collect: int = 1
    """Gradients each worker sends after a collection (not ppo: there they follow from epochs and batch-size)."""
    accumulate_grads: int = 1
    """Minibatches whose gradients a worker averages before it sends."""
    device: str = "cpu"
    """Where workers and coordinator compute: cpu, cuda, cuda:1, ..."""


@dataclass(frozen=True, kw_only=True)
class ClusterSettings:
    """Where workers and coordinator run (docs/cluster.md)."""

    cluster: str = "off"
    """Where: off (this machine's processes), local (Ray, here), auto (the Ray cluster of this node), or ray://host:port."""
    precision: str = "float32"
    """What gradients and weights travel as on a cluster: float32, or float16 with half the bytes."""
    gpu_share: float = 0.25
    """Share of a GPU that the coordinator and each worker reserve on a cluster, if device is cuda."""


@dataclass(frozen=True, kw_only=True)
class OptimiserSettings:
    """How the coordinator turns gradients into weights."""

    lr: float = 1e-4
    """Learning rate at the start (dreamer: of the world model)."""
    lr_min: float = 1e-5
    """Learning rate at the end of the cosine."""
    lr_steps: int | None = None
    """Environment steps over which the learning rate falls; steps if not set."""
    max_grad_norm: float = 10.0
    """Averaged gradients are scaled down to this norm."""
    adam_eps: float = 1e-5
    """Adam's epsilon."""
    average: float = 0.0
    """Share of the weights that goes into their average at each update; it is what is evaluated and kept (0: none)."""


@dataclass(frozen=True, kw_only=True)
class NetworkSettings:
    """The network behind the heads."""

    torso: str = "auto"
    """Network that sees: mlp or cnn for tiles, small or nature for pixels; auto takes mlp and small."""
    hidden: int = 128
    """Units of a hidden layer (dreamer's follow from size)."""


@dataclass(frozen=True, kw_only=True)
class LearningSettings:
    """What every algorithm has."""

    gamma: float = 0.99
    """Discount of a step."""
    batch_size: int = 32
    """Transitions in a minibatch (dreamer: sequences)."""


@dataclass(frozen=True, kw_only=True)
class DdqnSettings:
    """Dueling double DQN."""

    n_step: int = 3
    """Rewards in a return before it is bootstrapped."""
    buffer_size: int = 10_000
    """Transitions each worker remembers."""
    learning_starts: int = 1_000
    """Transitions a worker collects before its first gradient."""
    q_scale: float = 20.0
    """Q-values are bounded to this by a softsign; several times the largest true value."""
    priority_alpha: float = 0.5
    """Exponent of prioritised replay; 0 samples uniformly."""
    priority_beta: float = 0.4
    """Exponent of the importance weights at the start; it grows to 1 over the run."""
    tau: float = 0.005
    """Share of the online network that goes into the target network at each update."""
    tau_min: float | None = None
    """That share at the end of the schedule, where it falls with the learning rate (default: it stays the same)."""
    target_every: int = 0
    """Copy the online network into the target network every so many updates instead (0: use tau)."""
    target_epsilon: float = 0.0
    """Chance of a random action in the policy whose value is learned (0: Q-learning); more keeps away from cliffs."""
    epsilon_max: float = 0.4
    """Chance of a random action in the most curious lane."""
    epsilon_min: float = 0.003
    """Chance of a random action in the least curious lane; the lanes of all workers lie geometrically between."""
    epsilon_steps: int = 15_000
    """Environment steps over which every lane's chance falls from 1 to its own."""
    max_staleness: int = 32
    """A gradient computed on weights this many updates old is dropped."""


@dataclass(frozen=True, kw_only=True)
class DreamerSettings:
    """Dreamer: a world model, and behaviour learned in it."""

    size: str = "XS"
    """How large the world model is: XS (a laptop's CPU), S, or M (a GPU)."""
    sequence_length: int = 16
    """Steps of a replayed sequence."""
    new_steps: int = 0
    """Environment steps at the start during which only half of gradients-per-collect are computed."""
    terminal_share: float = 0.25
    """Share of the replayed sequences that are chosen to hold the end of an episode."""
    imagined: int = 128
    """States of a minibatch from which the actor plays on in imagination."""
    horizon: int = 15
    """Steps it plays on."""
    return_lambda: float = 0.95
    """Lambda of the imagined returns."""
    actor_lr: float = 5e-4
    """Learning rate of the actor at the start; it falls with lr."""
    critic_lr: float = 5e-4
    """Learning rate of the critic at the start; it falls with lr."""
    behaviour_grad_norm: float = 10.0
    """The gradients of actor and critic are scaled down to this norm each."""


@dataclass(frozen=True, kw_only=True)
class PpoSettings:
    """Proximal policy optimisation."""

    epochs: int = 6
    """Passes over each rollout."""
    gae_lambda: float = 0.95
    """Lambda of the generalised advantage estimate."""
    clip_range: float = 0.2
    """How far the probability ratio counts."""
    entropy: float = 0.01
    """Weight of the entropy bonus at the start (ppo, dreamer); 0.003 with --curriculum demo, unless chosen."""
    entropy_min: float = 0.0
    """Weight of the entropy bonus at the end; it falls with the learning rate."""
    value_weight: float = 0.5
    """Weight of the value loss."""


# Unless chosen otherwise: a route that is to become a policy must not be learned as a tape, and who is shown the way
# has less to find out, be it by chance or by beginning at the start again.
DEMO_DEFAULTS = {"sticky": 0.1, "entropy": 0.003, "fresh": 0.1}


@dataclass(frozen=True, kw_only=True)
class CurriculumSettings:
    """Where episodes begin (docs/snapshots.md)."""

    curriculum: str = "off"
    """Where episodes begin: off (level starts), snapshots (near deaths), archive (explored places), demo (a route)."""
    fresh: float = 0.25
    """Share of episodes that begin at the level's start under a curriculum; 0.1 with demo, unless chosen."""
    half_life: int = 200_000
    """Environment steps after which a death counts half as a hotspot."""
    routes: str | None = None
    """Directory of routes to learn from (level.json, as explore writes them); without it, the run explores first."""
    explore_frames: int = 5_000_000
    """Frames after which an exploration for archive or demo gives up on a level."""
    clone_steps: int = 400
    """Minibatches of cloning before a run with demo begins."""
    imitation: float = 0.1
    """Weight of the imitation loss at the start of a run with demo."""
    imitation_until: float = 0.5
    """Share of the run after which that weight has fallen to 0."""


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """The run as a whole."""

    model: str = "ddqn"
    """The model: ddqn, dreamer or ppo."""
    steps: int = 1_000_000
    """Environment steps to train for, all workers together."""
    minutes: float | None = None
    """Minutes of training after which a run ends at the latest, resumes included (default: steps decide alone)."""
    seed: int = 0
    """Seed of everything random."""
    name: str | None = None
    """Name of the run's directory; a timestamp if not set."""
    checkpoints: str = "checkpoints"
    """Directory that holds the runs."""
    checkpoint_minutes: float = 1.0
    """Minutes between checkpoints."""
    keep: int = 3
    """Numbered checkpoints that are kept besides the latest."""
    save_replay: bool | None = None
    """Put what the workers remember into every checkpoint; by default with --workers 0 only."""
    evaluate_every: int = 20_000
    """Environment steps between evaluations during training (0: none); the best weights are kept."""
    evaluate_episodes: int = 32
    """Episodes of such an evaluation."""
    evaluate_protocol: str = "stochastic"
    """What they are played with: stochastic (as trained), greedy, or sticky (greedy, actions stick: chance 0.25)."""
    stop_at: float | None = None
    """End the run when an evaluation, confirmed by 600 other episodes, reaches this share of flags."""
    wandb: str | None = None
    """Log what TensorBoard gets to this project of Weights & Biases, too (docs/export.md)."""


@dataclass(frozen=True, kw_only=True)
class TrainingConfig(
    RunSettings,
    EnvironmentSettings,
    CurriculumSettings,
    WorkerSettings,
    ClusterSettings,
    OptimiserSettings,
    NetworkSettings,
    LearningSettings,
    DdqnSettings,
    DreamerSettings,
    PpoSettings,
):
    """Everything about one training run."""

    def __post_init__(self) -> None:
        check(self)

    @property
    def saves_replay(self) -> bool:
        """Whether checkpoints hold what the workers remember."""
        return self.workers == 0 if self.save_replay is None else self.save_replay

    @property
    def schedule_steps(self) -> int:
        """Environment steps over which schedules run."""
        return self.lr_steps or self.steps

    def environment(self) -> dict[str, Any]:
        """The keywords of the Super Mario Bros. environment."""
        level: str | list[str] = [name.strip() for name in self.level.split(",")] if "," in self.level else self.level
        names = ("observation", "actions", "frame_skip", "sticky", "noop_max", "stuck_steps", "rom")
        return {"level": level} | {name: getattr(self, name) for name in names}


def kinds_of(name: str) -> tuple[type, ...]:
    """The types a setting may have."""
    return generic.kinds_of(TrainingConfig, name)


def docs() -> Mapping[str, str]:
    """What each setting means: the strings below the fields."""
    return generic.docs_of(TrainingConfig)


def build(
    chosen: Mapping[str, Any], preset: str | None = None, file: Path | None = None, base: TrainingConfig | None = None
) -> TrainingConfig:
    """The configuration of a run: `chosen` over `file` over `preset` over `base` (the defaults)."""
    from_file = read_yaml(file) if file is not None else {}
    preset = preset or from_file.pop("preset", None)
    start = dataclasses.asdict(base) if base is not None else {}
    model = chosen.get("model") or from_file.get("model") or start.get("model") or TrainingConfig.model
    settings: dict[str, Any] = dict(start)
    if preset is not None:
        if preset not in PRESETS:
            raise ConfigError(f"unknown preset {preset!r}; use one of {', '.join(PRESETS)}")
        settings |= PRESETS[preset].get(model, {})
    settings |= from_file | dict(chosen)
    if settings.get("curriculum") == "demo":
        settings = DEMO_DEFAULTS | settings
    return from_dict(settings)


def from_dict(settings: Mapping[str, Any]) -> TrainingConfig:
    """A configuration of these settings; a ConfigError names one that does not exist."""
    return generic.of_dict(TrainingConfig, settings, "mario-rl train")


def read_yaml(file: Path) -> dict[str, Any]:
    """The settings of a YAML file: one `name: value` a line, names as on the command line, with _ or -."""
    return generic.read_settings(file, TrainingConfig)


def write_yaml(config: TrainingConfig, file: Path) -> None:
    """Save a configuration so that `read_yaml` gives it back."""
    generic.write_settings(config, file)
