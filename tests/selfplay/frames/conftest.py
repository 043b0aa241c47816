"""Games for the tests of the agent that presses buttons."""

from __future__ import annotations

import pytest
import torch

from mario_rl.environment.drmario.console import RulesGames
from mario_rl.environment.drmario.vector import DrMarioVectorEnv
from mario_rl.selfplay.frames.teacher import Teacher


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)


def games_played_by_teacher(lanes: int, steps: int, seed: int = 1, **settings: object) -> DrMarioVectorEnv:
    """An environment in the middle of its games."""
    env = DrMarioVectorEnv(lanes, **({"level": range(11)} | settings))
    env.reset(seed=seed)
    teacher = teacher_of(env)
    for _ in range(steps):
        env.step(teacher.teach().actions)
    return env


def teacher_of(env: DrMarioVectorEnv) -> Teacher:
    games = env.lanes.games
    assert isinstance(games, RulesGames)
    return Teacher(games.batch, env.lanes.seat)
