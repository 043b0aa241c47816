"""What is told about a run: how to train it again, and nothing about the machine."""

from __future__ import annotations

import shlex

import pytest
import torch

from mario_rl import config as configuration
from mario_rl.config import TrainingConfig
from mario_rl.export.published_settings import fingerprint, published, training_command
from mario_rl.presets import PRESETS


def test_paths_devices_and_accounts_are_not_told() -> None:
    config = TrainingConfig(
        rom="/home/me/smb.nes", checkpoints="/data/runs", routes="routes", device="cuda:1", wandb="team", lanes=3
    )
    assert published(config) == TrainingConfig(lanes=3)


@pytest.mark.parametrize(
    ("chosen", "preset"),
    [
        ({"model": "ppo"}, "laptop"),
        ({"model": "ppo"}, "robust"),
        ({"model": "dreamer", "seed": 4, "level": "1-2"}, "laptop"),
        ({"model": "ddqn", "lr": 5e-4, "save_replay": False, "level": "1-1,1-2"}, None),
        ({"model": "ppo", "curriculum": "demo"}, None),
        ({"model": "ppo", "curriculum": "demo", "sticky": 0.0}, "laptop"),
    ],
)
def test_the_command_trains_the_same_again(chosen: dict[str, object], preset: str | None) -> None:
    config = configuration.build(chosen, preset)
    words = shlex.split(training_command("mario-rl train", config, configuration.build, PRESETS))
    assert words[:2] == ["mario-rl", "train"]
    options, named = words[2:], None
    if options[0] == "--preset":
        named, options = options[1], options[2:]
    assert named == preset
    again: dict[str, object] = {}
    while options:
        name = options.pop(0).removeprefix("--").replace("-", "_")
        if name.startswith("no_"):
            again[name.removeprefix("no_")] = False
            continue
        kind = next(kind for kind in configuration.kinds_of(name) if kind is not type(None))
        again[name] = True if kind is bool else kind(options.pop(0))
    assert configuration.build(again, named) == config


def test_a_fingerprint_tells_weights_apart() -> None:
    weights = {"b": torch.zeros(3), "a": torch.ones(2, 2)}
    assert fingerprint(weights) == fingerprint(dict(reversed(weights.items())))
    assert fingerprint(weights) != fingerprint(weights | {"b": torch.tensor([0.0, 0.0, 1e-9])})
    assert fingerprint(weights) != fingerprint({"b": torch.zeros(3), "c": torch.ones(2, 2)})
