"""Problems that a learner solves in seconds, played on several lanes like the real ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces

from mario_rl.config import TrainingConfig
from mario_rl.learners.base import Experience, LaneSteps
from mario_rl.learners.registry import build_experience, build_learner, build_model
from mario_rl.models.base import Model
from mario_rl.models.flat import FlatModel


class Corridor:
    """Cells in a row; action 1 goes right, 0 left. Only the last cell pays, and ends the episode."""

    cells = 6
    actions = 2
    best_return = 0.9**4  # discounted by 0.9: the reward comes with the fifth step
    gamma = 0.9

    def __init__(self, lanes: int):
        self.place = np.zeros(lanes, np.int64)
        self.age = np.zeros(lanes, np.int64)

    def observe(self) -> np.ndarray:
        return np.eye(self.cells, dtype=np.float32)[self.place]

    def step(self, actions: np.ndarray) -> LaneSteps:
        before = self.observe()
        self.place = np.clip(self.place + 2 * actions - 1, 0, self.cells - 1)
        self.age += 1
        terminated = self.place == self.cells - 1
        truncated = (self.age >= 30) & ~terminated
        after = self.observe()
        ended = terminated | truncated
        self.place[ended] = self.age[ended] = 0
        return LaneSteps(before, actions, terminated.astype(np.float32), after, terminated, truncated)


class Bandit:
    """One context out of four a step; the action of the same number pays."""

    cells = 4
    actions = 4

    def __init__(self, lanes: int):
        self.random = np.random.default_rng(0)
        self.context = self.random.integers(self.cells, size=lanes)

    def observe(self) -> np.ndarray:
        return np.eye(self.cells, dtype=np.float32)[self.context]

    def step(self, actions: np.ndarray) -> LaneSteps:
        before = self.observe()
        rewards = (actions == self.context).astype(np.float32)
        self.context = self.random.integers(self.cells, size=len(actions))
        every = np.ones(len(actions), np.bool_)
        return LaneSteps(before, actions, rewards, self.observe(), every, ~every)


def learn(problem: Any, config: TrainingConfig, rounds: int) -> tuple[Model, Experience]:
    """The plainest training loop: collect, then one optimiser step for each loss."""
    torch.manual_seed(config.seed)
    space = spaces.Box(0, 1, (problem.cells,), np.float32)
    model = build_model(config, space, problem.actions)
    learner = build_learner(config, model)
    experience = build_experience(config, learner, space, 0)
    flat = FlatModel(model)
    optimiser = torch.optim.Adam([flat.trained], config.lr)
    steps = 0
    for done in range(rounds):
        for _ in range(config.collect_steps):
            steps += config.lanes
            experience.record(problem.step(experience.act(problem.observe(), done / rounds, steps)))
        for loss, _ in experience.losses(done / rounds):
            flat.zero_gradient()
            loss.backward()
            optimiser.step()
            learner.update_targets(config.tau)
    return model, experience
