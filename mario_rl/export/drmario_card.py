"""The model card of a player of Dr. Mario."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mario_rl.export.card import Card, Figure, python, shell
from mario_rl.export.onnx_file import Agreement
from mario_rl.export.published_settings import training_command
from mario_rl.selfplay import config as placement_config
from mario_rl.selfplay.config import COMMAND, PRESETS, SelfPlayConfig
from mario_rl.selfplay.frames.config import FramesConfig
from mario_rl.selfplay.placement_player import LONG_GAME

if TYPE_CHECKING:
    from mario_rl.export.drmario import Exported

IDS = {"placements": "mario_rl/DrMarioPlacement-v0", "frames": "mario_rl/DrMario-v0"}
WHAT = {
    "placements": "A player of Dr. Mario that chooses where each capsule goes, trained by PPO against itself and its "
    "past with mario-rl. One small network scores every place the capsule can reach, from what the bottle would look "
    "like afterwards and from the situation of both players, and it takes the best one. It does not search.",
    "frames": "A player of Dr. Mario that presses the buttons of the pad, from what is in the bottle, trained by "
    "imitation and PPO with mario-rl. It looks for the best place to land and steers there.",
}


def card_of(
    name: str,
    kind: str,
    config: SelfPlayConfig | FramesConfig | None,
    found: Exported,
    figures: Mapping[str, Any],
    agreement: Agreement,
    with_video: bool,
) -> Card:
    """The card of an exported player."""
    matches = figures["matches"]
    what = WHAT[kind] + (" [replay.mp4](replay.mp4) shows a round of it." if with_video else "")
    return Card(
        name=name,
        what=what,
        library="stable-baselines3",
        tags=["dr-mario", "nes", "self-play", "ppo", "sb3-contrib" if kind == "placements" else "stable-baselines3"],
        figures=[_figure(match, kind) for match in matches],
        unit="won or cleared",
        measured="Alone, a success is a cleared bottle; against others the share is that of wins and half the draws, "
        "the players change seats after every game, and both have the same viruses and capsules. Played on the rules "
        "engine of mario-rl, which agrees with its cartridge on every frame. Intervals are Wilson's.",
        evaluate=[match["command"] for match in matches],
        trained=_trained(found),
        train=_command(config, kind),
        agreement=agreement,
        loading=_loading(kind),
        files=_files(kind, with_video),
        notes=_notes(kind),
    )


def _figure(match: Mapping[str, Any], kind: str) -> Figure:
    alone = match["b"] is None
    seeds = match["seeds"]
    capsules = match["capsules_per_clear"]
    details = f"{match['seconds']:.0f} s a game" + (f", {capsules:.1f} capsules a clear" if capsules else "")
    counts = f"{match['wins']} of {match['games']}"
    return Figure(
        protocol="alone" if alone else f"against {match['b']}",
        counts=counts if alone else f"{counts}, {match['draws']} drawn",
        seeds=f"boards {seeds[0]} to {seeds[-1]}",
        rate=match["rate"],
        low=match["low"],
        high=match["high"],
        details=details,
        metric="clear_rate" if alone else "score",
        environment=f"Dr. Mario, level {match['level']} {match['speed'].upper()}",
        environment_id=IDS[kind],
    )


def _trained(found: Exported) -> str:
    card = found.state["card"]
    unit = "decisions" if found.kind == "placements" else "environment steps"
    minutes = card.get("minutes")
    took = f" in {minutes:g} minutes" if minutes else ""
    how = f" ({card['trained']})" if "trained" in card else ""
    seed = f", seed {found.config.seed}" if found.config is not None else ""
    return f"{found.steps:,} {unit}{took}{seed}{how}."


def _command(config: SelfPlayConfig | FramesConfig | None, kind: str) -> str:
    if isinstance(config, SelfPlayConfig):
        return training_command(COMMAND, config, lambda chosen, preset: placement_config.build(chosen, preset), PRESETS)
    if config is None:
        return COMMAND + (" --env frames" if kind == "frames" else "")
    return training_command(
        f"{COMMAND} --env frames", config, lambda chosen, preset: FramesConfig.from_dict(chosen), ()
    )


def _loading(kind: str) -> list[str]:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    parts = [
        "With mario-rl (its own free cartridge and its rules engine are enough, no ROM is needed):",
        shell(
            "mario-rl selfplay evaluate weights.pt search",
            "mario-rl watch drmario --agent weights.pt --opponent greedy",
        ),
    ]
    if kind == "frames":
        return [
            *parts,
            "With onnxruntime; the player is asked every few frames, while a capsule is falling:",
            python(BUTTONS_ONNX),
            "With Stable-Baselines3. The policy is a class of mario-rl's, which has to be installed:",
            python(BUTTONS_SB3),
        ]
    return [
        *parts,
        "With onnxruntime, on the rules engine:",
        python(PLACEMENTS_ONNX),
        "With sb3-contrib. The policy's class is in the file, as bytecode of Python "
        f"{version}, so mario-rl need not be installed. Under another Python install it, and pass "
        '`custom_objects={"policy_class": mario_rl.selfplay.scorer.ScorerPolicy}` to `load`.',
        python(PLACEMENTS_SB3),
    ]


PLACEMENTS_ONNX = """
import numpy as np
import onnxruntime
from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.environment.drmario.rules import RulesBatch

policy = onnxruntime.InferenceSession("policy.onnx")
games = RulesBatch(1)
games.reset(seeds=2, levels=5)
games.skip_intro()
first = np.zeros(1, np.int32)  # of the only game, and of its only seat
waiting = games.next_decision()
capsules = 0
while waiting[0] and capsules < 300:
    prospects = games.prospects(first, first)
    possible = prospects.ids >= 0
    seen = {"prospects": prospects.features, "situation": prospects.situations, "possible": possible}
    (scores,) = policy.run(["log_probabilities"], seen)
    waiting = games.place(prospects.ids[[0], scores.argmax(axis=1)])
    capsules += 1
print("clear" if GameMemory(games.ram).cleared()[0, 0] else "not clear", "after", capsules, "capsules")
"""

PLACEMENTS_SB3 = """
import numpy as np
from sb3_contrib import MaskablePPO

model = MaskablePPO.load("sb3.zip", device="cpu")
seen = np.zeros((1, *model.observation_space.shape), np.uint8)  # all prospects, then the situation
slot, _ = model.predict(seen, action_masks=np.ones((1, 64), bool), deterministic=True)
"""

BUTTONS_ONNX = """
import numpy as np
import onnxruntime
from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.environment.drmario.rules import RulesBatch
from mario_rl.selfplay.frames.observation import look

policy = onnxruntime.InferenceSession("policy.onnx")
games = RulesBatch(1)
games.reset(seeds=2, levels=0)
games.skip_intro()
games.next_decision()  # until the first capsule falls
(steering,) = policy.run(["steering_log_probabilities"], look(GameMemory(games.ram), 0))
action = steering[0].argmax()  # one of the 12 in mario_rl.environment.drmario.buttons.DISCRETE
"""

BUTTONS_SB3 = """
from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.environment.drmario.rules import RulesBatch
from mario_rl.selfplay.frames.observation import look
from stable_baselines3 import PPO

model = PPO.load("sb3.zip", device="cpu")
games = RulesBatch(1)
games.reset(seeds=2, levels=0)
games.skip_intro()
games.next_decision()
action, _ = model.predict(look(GameMemory(games.ram), 0), deterministic=True)
"""


def _files(kind: str, with_video: bool) -> list[tuple[str, str]]:
    load = "MaskablePPO.load` of sb3-contrib" if kind == "placements" else "PPO.load` of Stable-Baselines3"
    files = [
        ("weights.pt", "the player, as mario-rl reads it; verified, and loading it runs no code"),
        ("policy.onnx", "the policy for any other program"),
        ("sb3.zip", f"the policy for `{load}; like every such file it is a pickle, so load it only if you trust it"),
        ("config.yaml", "the settings it was trained with"),
        ("evaluation.json", "the figures above, and more of them"),
        ("export.json", "versions, the check of the ONNX file, the weights' SHA-256"),
    ]
    return [*files, ("replay.mp4", "a round, every frame of it")] if with_video else files


def _notes(kind: str) -> list[str]:
    if kind == "frames":
        return ["It presses the same buttons in the same situation, so a mistake can repeat itself."]
    return [
        f"In mario-rl the player draws its placements from the {LONG_GAME}th capsule of a game on, so that it does not "
        "go round in circles; `policy.onnx` and `sb3.zip` leave that to you.",
        "It was measured against the players above and nobody else.",
    ]
