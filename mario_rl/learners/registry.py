"""Every algorithm by name. A new one is a file in `models`, a file in `learners`, and a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gymnasium import spaces

from mario_rl.config import ConfigError, TrainingConfig
from mario_rl.learners.base import Experience, Learner
from mario_rl.learners.ddqn import DdqnExperience, DdqnLearner
from mario_rl.learners.dreamer import DreamerLearner
from mario_rl.learners.dreamer_experience import DreamerExperience
from mario_rl.learners.ppo import PpoExperience, PpoLearner
from mario_rl.models.actor_critic import ActorCriticModel
from mario_rl.models.base import Model
from mario_rl.models.ddqn import DdqnModel
from mario_rl.models.dreamer import DreamerModel

__all__ = ["ALGORITHMS", "Algorithm", "algorithm", "build_experience", "build_learner", "build_model"]


@dataclass(frozen=True)
class Algorithm:
    """How the parts of an algorithm are made."""

    model: Callable[[TrainingConfig, spaces.Box, int], Model]
    learner: Callable[[TrainingConfig, Model], Learner]
    experience: Callable[[TrainingConfig, Any, spaces.Box, int], Experience]
    lockstep: bool  # as its experience has it


ALGORITHMS: dict[str, Algorithm] = {
    "ddqn": Algorithm(DdqnModel.of, DdqnLearner, DdqnExperience, DdqnExperience.lockstep),
    "dreamer": Algorithm(DreamerModel.of, DreamerLearner, DreamerExperience, DreamerExperience.lockstep),
    "ppo": Algorithm(ActorCriticModel.of, PpoLearner, PpoExperience, PpoExperience.lockstep),
}


def algorithm(config: TrainingConfig) -> Algorithm:
    """The algorithm a configuration names."""
    if config.model not in ALGORITHMS:
        raise ConfigError(f"unknown model {config.model!r}; use one of {', '.join(ALGORITHMS)}")
    return ALGORITHMS[config.model]


def build_model(config: TrainingConfig, space: spaces.Box, actions: int) -> Model:
    """An untrained model for this observation space and number of actions."""
    return algorithm(config).model(config, space, actions)


def build_learner(config: TrainingConfig, model: Model) -> Learner:
    """The learner of that model."""
    return algorithm(config).learner(config, model)


def build_experience(config: TrainingConfig, learner: Learner, space: spaces.Box, worker: int) -> Experience:
    """The experience of worker number `worker`, empty."""
    return algorithm(config).experience(config, learner, space, worker)
