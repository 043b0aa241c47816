"""The model card of an agent that plays Super Mario Bros."""

from __future__ import annotations

from collections.abc import Mapping
from pprint import pformat
from typing import Any

from mario_rl import config as configuration
from mario_rl.config import TrainingConfig
from mario_rl.environment.actions import action_names
from mario_rl.export.card import Card, Figure, python, shell
from mario_rl.export.onnx_file import Agreement
from mario_rl.export.published_settings import training_command
from mario_rl.models.dreamer import DreamerModel
from mario_rl.presets import PRESETS
from mario_rl.runs.evaluate import evaluation_settings
from mario_rl.runs.trained_model import TrainedModel

ENVIRONMENT = "mario_rl/SuperMarioBros-v0"
ALGORITHMS = {
    "ddqn": "dueling double DQN",
    "dreamer": "Dreamer (a world model, and behaviour learned in it)",
    "ppo": "PPO",
}
SEEN = {
    "tiles": "tiles around Mario and numbers about what moves (`observation` float32[n, 1501])",
    "pixels": "the last four frames in grey (`observation` uint8[n, 4, 84, 84])",
}


def card_of(
    name: str,
    config: TrainingConfig,
    trained: TrainedModel,
    figures: Mapping[str, Any],
    agreement: Agreement,
    with_video: bool,
) -> Card:
    """The card of an exported run."""
    level = config.level
    algorithm = ALGORITHMS.get(config.model, config.model)
    actions = ", ".join(action_names(config.actions))
    what = (
        f"An agent that plays Super Mario Bros., level {level}, trained by {algorithm} with mario-rl. It sees "
        f"{SEEN[config.observation]} and holds one of {len(action_names(config.actions))} actions for "
        f"{config.frame_skip} frames: {actions}."
    )
    if with_video:
        what += " [replay.mp4](replay.mp4) is the best of ten episodes of its stochastic policy."
    measured = (
        "A success is an episode that reaches the flag. The stochastic policy is the one that was trained, with its "
        "randomness; greedy always does what the model finds best; with sticky actions the environment repeats the "
        f"action before with chance {figures['sticky']:g}. Episodes begin with 0 to {config.noop_max} frames of "
        "waiting. Intervals are Wilson's."
    )
    episodes = figures["protocols"]["greedy"]["episodes"]
    minutes = figures["minutes_trained"]
    took = "" if not minutes else f" in {minutes:.1f} minutes"
    return Card(
        name=name,
        what=what,
        library="mario-rl",
        tags=["super-mario-bros", "nes", config.model, config.observation],
        figures=_figures(config, figures),
        unit="flags",
        measured=measured,
        evaluate=[
            f"mario-rl evaluate . --episodes {episodes} --sticky {figures['sticky']:g} --seed {figures['seed']}",
        ],
        trained=f"{figures['steps_trained']:,} environment steps{took}, seed {config.seed}; these weights are those "
        f"after {trained.steps:,}. `config.yaml` has every setting.",
        train=training_command("mario-rl train", config, configuration.build, PRESETS),
        agreement=agreement,
        loading=_loading(config, isinstance(trained.model, DreamerModel)),
        files=_files(with_video),
        notes=[f"It was trained on level {level} and is measured there; elsewhere it will mostly fail."],
    )


def _figures(config: TrainingConfig, figures: Mapping[str, Any]) -> list[Figure]:
    protocols = {
        "stochastic": "stochastic policy",
        "greedy": "greedy",
        "sticky": f"greedy, sticky {figures['sticky']:g}",
    }
    return [
        Figure(
            protocol=protocols[protocol],
            counts=f"{found['successes']} of {found['episodes']} episodes",
            seeds=f"seed {figures['seed']}",
            rate=found["rate"],
            low=found["low"],
            high=found["high"],
            details=f"mean x {found['mean_x']:.0f}, {found['mean_steps']:.0f} steps",
            metric="flag_rate",
            environment=f"Super Mario Bros. {config.level}",
            environment_id=ENVIRONMENT,
        )
        for protocol, found in figures["protocols"].items()
    ]


def _loading(config: TrainingConfig, remembers: bool) -> list[str]:
    settings = {
        name: value for name, value in evaluation_settings(config, "greedy").items() if name not in ("rom", "sticky")
    }
    made = ",\n    ".join(f"{name}={pformat(value)}" for name, value in settings.items())
    opened = OPENED.replace("SETTINGS", made)
    step = (DREAMER_STEP if remembers else REFLEX_STEP).replace("NUMBERS", OUTPUTS.get(config.model, "action_logits"))
    return [
        "With mario-rl and a ROM of yours (`mario-rl rom import FILE`), this folder is a run:",
        shell("mario-rl watch .", "mario-rl record . -o flag.mp4", "mario-rl evaluate ."),
        "With onnxruntime, in the environment it was trained in (`pip install mario-rl onnxruntime`):",
        python(opened + step),
    ]


OUTPUTS = {"ddqn": "q_values", "ppo": "action_logits"}

OPENED = f"""
import gymnasium
import mario_rl
import numpy as np
import onnxruntime

policy = onnxruntime.InferenceSession("policy.onnx")
env = gymnasium.make(
    "{ENVIRONMENT}",
    SETTINGS,
)
observation, info = env.reset(seed=0)
ended = False
"""

REFLEX_STEP = """while not ended:
    (numbers,) = policy.run(["NUMBERS"], {"observation": observation[None]})
    observation, reward, terminated, truncated, info = env.step(numbers[0].argmax())
    ended = terminated or truncated
print("flag" if info["flag_get"] else "no flag", "at x", info["x_pos_max"])
"""

DREAMER_STEP = """shapes = {given.name: given.shape[1:] for given in policy.get_inputs()}
state = {name: np.zeros((1, *shapes[name]), np.float32) for name in ("deterministic", "stochastic")}
state |= {"last_action": np.zeros(1, np.int64), "began": np.array([True])}
noise = np.ones((1, *shapes["noise"]), np.float32)  # exponentially distributed numbers draw the state instead
while not ended:
    seen = {"observation": observation[None], "noise": noise, **state}
    names = ["action_probabilities", "next_deterministic", "next_stochastic"]
    probabilities, deterministic, stochastic = policy.run(names, seen)
    action = probabilities[0].argmax()
    state = {"deterministic": deterministic, "stochastic": stochastic}
    state |= {"last_action": np.array([action]), "began": np.array([False])}
    observation, reward, terminated, truncated, info = env.step(action)
    ended = terminated or truncated
print("flag" if info["flag_get"] else "no flag", "at x", info["x_pos_max"])
"""


def _files(with_video: bool) -> list[tuple[str, str]]:
    files = [
        ("weights.pt", "the weights, as mario-rl reads them; verified, and loading them runs no code"),
        ("policy.onnx", "the policy for any other program; its metadata names the actions and the environment"),
        ("config.yaml", "the settings it was trained with"),
        ("evaluation.json", "the figures above"),
        ("export.json", "versions, the check of the ONNX file, the weights' SHA-256"),
    ]
    return [*files, ("replay.mp4", "an episode, every frame of it")] if with_video else files
