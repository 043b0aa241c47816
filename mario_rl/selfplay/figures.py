"""What a run of self-play tells people: averages over the games since the last report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mario_rl.selfplay.collector import Played
from mario_rl.selfplay.dealer import LEARNER, NOBODY
from mario_rl.selfplay.opponent_pool import Behaviour

HARD_LEVEL = 18
FRAMES_PER_SECOND = 60.0988


def figures_of(played: Sequence[Played]) -> dict[str, float]:
    """Averages by name; what there were no games for is left out."""
    solo = [game for game in played if game.opponent == NOBODY]
    versus = [game for game in played if game.opponent != NOBODY]
    others = [game for game in versus if game.opponent != LEARNER]
    hard = [game for game in solo if game.level >= HARD_LEVEL]
    wanted: dict[str, list[Any]] = {
        "solo/clear_rate": [game.cleared for game in solo],
        "solo/clear_rate_hard": [game.cleared for game in hard],
        "solo/capsules_per_virus": [game.capsules / game.viruses for game in solo if game.cleared],
        "solo/viruses": [game.viruses for game in solo],
        "versus/capsules_per_clear": [game.capsules for game in versus if game.cleared],
        "versus/viruses": [game.viruses for game in versus],
        "versus/seconds": [game.frames / FRAMES_PER_SECOND for game in versus],
        "versus/attack": [game.attack for game in versus],
        "versus/decided_by_clear": [game.cleared for game in versus if game.score == 1],
        "win_rate/pool": [game.score for game in others],
    }
    return {name: float(np.mean(values)) for name, values in wanted.items() if values}


def behaviour_of(played: Sequence[Played]) -> Behaviour:
    """How the learner plays games for two."""
    versus = [game for game in played if game.opponent != NOBODY and game.capsules]
    if not versus:
        return Behaviour()
    capsules = sum(game.capsules for game in versus)
    return Behaviour(
        attack=100 * sum(game.attack for game in versus) / capsules,
        speed=100 * sum(game.viruses for game in versus) / capsules,
        height=float(np.mean([game.height for game in versus])),
    )
