"""What is told about training: rounds as they end, by level and by opponent."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from mario_rl.selfplay.frames.vec_env import PlayedRound
from mario_rl.selfplay.opponent_pool import Behaviour

WINDOW = 100  # rounds that averages are of

Facts = dict[str, deque[float]]


class Tracking:
    """Averages over the last rounds."""

    def __init__(self) -> None:
        self._facts: Facts = defaultdict(lambda: deque(maxlen=WINDOW))
        self.rounds = 0

    def alone(self, finished: PlayedRound) -> None:
        """A round without an opponent."""
        cleared = float(finished.result == "win")
        self._add("clear_rate", cleared)
        self._add(f"clear_rate_level_{finished.level}", cleared)
        if cleared:
            self._add("capsules_per_clear", finished.capsules)
            self._add(f"capsules_per_clear_level_{finished.level}", finished.capsules)
        self._any(finished)

    def for_two(self, finished: PlayedRound, against_itself: bool) -> None:
        """A round for two; who plays against itself wins half of the time, which says nothing."""
        if not against_itself:
            self._add("win_rate_pool", float(finished.result == "win"))
        self._any(finished)

    def _any(self, finished: PlayedRound) -> None:
        self.rounds += 1
        self._add("viruses_per_game", finished.viruses)
        self._add("game_frames", finished.frames)
        self._add("capsules_per_game", finished.capsules)
        self._add("attack", finished.sent)
        self._add("height", finished.height)

    def _add(self, name: str, value: float) -> None:
        self._facts[name].append(float(value))

    def averages(self) -> dict[str, float]:
        """By name, for TensorBoard."""
        return {name: float(np.mean(values)) for name, values in sorted(self._facts.items())}

    def behaviour(self) -> Behaviour:
        """How the policy plays lately."""
        found = self.averages()
        capsules = max(found.get("capsules_per_game", 1.0), 1.0)
        attack, speed = (100 * found.get(name, 0.0) / capsules for name in ("attack", "viruses_per_game"))
        return Behaviour(attack, speed, found.get("height", 0.0))

    def state_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"rounds": self.rounds, "facts": {name: list(values) for name, values in self._facts.items()}}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly there."""
        self.rounds = int(state["rounds"])
        self._facts.clear()
        for name, values in state["facts"].items():
            self._facts[name].extend(values)
