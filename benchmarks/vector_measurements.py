"""What is measured of a vector environment, whoever made it: steps with random actions, resets included."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.worker import Answer, timed

WARM_UP_STEPS = 20
STEPS_BETWEEN_CLOCK_READS = 8


class VectorMeasurement:
    """A Gymnasium vector environment kept running from round to round, so that its lanes are spread over the level."""

    def __init__(self, vector_env: Any) -> None:
        self._vector_env = vector_env
        self._lanes = vector_env.num_envs
        self._dice = np.random.default_rng(0)
        self._episodes = 0
        vector_env.reset(seed=0)
        self._run(WARM_UP_STEPS)

    def measure(self, seconds: float) -> Answer:
        """Environment steps (all lanes together) in some wall time, and how many episodes ended in it."""
        self._episodes = 0
        answer = timed(lambda: self._run(STEPS_BETWEEN_CLOCK_READS), seconds)
        return {**answer, "episodes": self._episodes}

    def _run(self, steps: int) -> int:
        actions = self._vector_env.single_action_space.n
        for _ in range(steps):
            choice = self._dice.integers(0, actions, self._lanes)
            _, _, terminated, truncated, _ = self._vector_env.step(choice)
            self._episodes += int(np.count_nonzero(terminated | truncated))
        return steps * self._lanes
