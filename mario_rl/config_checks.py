"""What the settings of a training run may be (config.py): their ranges, and how they must fit together."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mario_rl.settings import Ranges, check_settings, demand

if TYPE_CHECKING:
    from mario_rl.config import TrainingConfig

CLUSTERS = "off, local, auto or ray://host:port"
"""What --cluster may be, in words."""

_RANGES = Ranges(
    at_least_one=[
        "steps",
        "lanes",
        "collect_steps",
        "gradients_per_collect",
        "accumulate_grads",
        "frame_skip",
        "stuck_steps",
        "batch_size",
        "n_step",
        "buffer_size",
        "sequence_length",
        "imagined",
        "horizon",
        "epochs",
        "hidden",
        "evaluate_episodes",
        "max_staleness",
        "keep",
        "half_life",
        "explore_frames",
    ],
    at_least_zero=[
        "workers",
        "seed",
        "learning_starts",
        "new_steps",
        "target_every",
        "epsilon_steps",
        "evaluate_every",
        "noop_max",
        "clone_steps",
    ],
    positive=[
        "lr",
        "actor_lr",
        "critic_lr",
        "adam_eps",
        "q_scale",
        "max_grad_norm",
        "behaviour_grad_norm",
        "clip_range",
        "reward_scale",
        "checkpoint_minutes",
    ],
    not_negative=["lr_min", "entropy", "entropy_min", "value_weight", "priority_alpha", "imitation"],
    shares=[
        "gamma",
        "gae_lambda",
        "return_lambda",
        "terminal_share",
        "priority_beta",
        "average",
        "tau",
        "target_epsilon",
        "epsilon_max",
        "epsilon_min",
        "sticky",
        "fresh",
    ],
    choices={
        "observation": ("tiles", "pixels"),
        "torso": ("auto", "mlp", "cnn", "small", "nature"),
        "size": ("XS", "S", "M"),
        "evaluate_protocol": ("stochastic", "greedy", "sticky"),
        "curriculum": ("off", "snapshots", "archive", "demo"),
        "precision": ("float32", "float16"),
    },
)


def check(config: TrainingConfig) -> None:
    """Raise a ConfigError about the first setting that cannot be."""
    check_settings(config, _RANGES)
    demand(config.lr_min <= config.lr, config, "lr_min", f"at most lr ({config.lr})")
    demand(config.lr_steps is None or config.lr_steps >= 1, config, "lr_steps", "a whole number from 1 on")
    demand(config.tau_min is None or 0 < config.tau_min <= 1, config, "tau_min", "above 0 and at most 1")
    demand(config.minutes is None or config.minutes > 0, config, "minutes", "above 0")
    demand(config.stop_at is None or 0 < config.stop_at <= 1, config, "stop_at", "above 0 and at most 1")
    demand(0 < config.gpu_share <= 1, config, "gpu_share", "above 0 and at most 1")
    demand(is_cluster(config.cluster), config, "cluster", CLUSTERS)
    if config.cluster != "off":
        demand(config.workers >= 1, config, "workers", "at least 1 with --cluster")
        demand(not config.save_replay, config, "save_replay", "left out with --cluster: replays stay on their nodes")
    demand(0 < config.imitation_until <= 1, config, "imitation_until", "above 0 and at most 1")
    smallest = config.lanes * (config.n_step + 2)
    demand(config.buffer_size >= smallest, config, "buffer_size", f"at least {smallest} for so many lanes and n-step")
    if config.model == "dreamer":
        smallest = config.lanes * (config.sequence_length + 1)
        wanted = f"at least {smallest} for so many lanes and such sequences"
        demand(config.buffer_size >= smallest, config, "buffer_size", wanted)
    torsos = ("auto", "mlp", "cnn") if config.observation == "tiles" else ("auto", "small", "nature")
    demand(config.torso in torsos, config, "torso", f"one of {', '.join(torsos)} for {config.observation}")


def is_cluster(text: str) -> bool:
    """Whether this names a place to run."""
    return text in ("off", "local", "auto") or re.fullmatch(r"ray://[^\s/:]+:\d{1,5}", text) is not None
