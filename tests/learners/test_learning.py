"""Each learner learns something small, in seconds."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mario_rl import config as configuration
from tests.learners.tiny_problems import Bandit, Corridor, learn

SMALL = {"workers": 1, "lanes": 8, "hidden": 32, "reward_scale": 1.0, "torso": "mlp"}


@pytest.mark.parametrize(
    "changes",
    [
        {"priority_alpha": 0.6},
        {"priority_alpha": 0.0, "n_step": 1},
        {"n_step": 5, "tau": 0.05},
    ],
    ids=["prioritised", "uniform, one step", "five steps"],
)
def test_ddqn_learns_the_corridor(changes: dict[str, float]) -> None:
    settings = SMALL | {
        "model": "ddqn", "gamma": Corridor.gamma, "lr": 3e-3, "collect_steps": 4, "gradients_per_collect": 4,
        "buffer_size": 2000, "learning_starts": 200, "batch_size": 32, "tau": 0.02, "epsilon_steps": 4000,
    }  # fmt: skip
    model, _ = learn(Corridor(8), configuration.from_dict(settings | changes), rounds=250)
    everywhere = torch.eye(Corridor.cells)[:-1]
    assert model.select_action(everywhere).tolist() == [1] * (Corridor.cells - 1)
    # the true value of going right from cell i is gamma ** (steps to the end - 1)
    truth = np.array([Corridor.gamma ** (Corridor.cells - 2 - cell) for cell in range(Corridor.cells - 1)])
    assert np.allclose(model.forward(everywhere, "target")[:, 1].detach(), truth, atol=0.08)


def test_ppo_learns_the_corridor() -> None:
    settings = SMALL | {
        "model": "ppo", "gamma": Corridor.gamma, "lr": 3e-3, "collect_steps": 32, "batch_size": 64, "epochs": 4,
        "n_step": 1,
    }  # fmt: skip
    model, _ = learn(Corridor(8), configuration.from_dict(settings), rounds=40)
    everywhere = torch.eye(Corridor.cells)[:-1]
    assert model.action_values(everywhere)[:, 1].min() > 0.8


def test_ppo_learns_a_contextual_bandit() -> None:
    settings = SMALL | {"model": "ppo", "lr": 3e-3, "collect_steps": 16, "batch_size": 64, "epochs": 4}
    model, _ = learn(Bandit(8), configuration.from_dict(settings), rounds=60)
    contexts = torch.eye(Bandit.cells)
    assert model.select_action(contexts).tolist() == [0, 1, 2, 3]
    assert model.action_values(contexts).diagonal().min() > 0.8


def test_ddqn_learns_a_contextual_bandit() -> None:
    settings = SMALL | {
        "model": "ddqn", "lr": 3e-3, "collect_steps": 4, "gradients_per_collect": 4, "buffer_size": 2000,
        "learning_starts": 200, "tau": 0.05, "epsilon_steps": 2000,
    }  # fmt: skip
    model, _ = learn(Bandit(8), configuration.from_dict(settings), rounds=120)
    values = model.forward(torch.eye(Bandit.cells), "target").detach()
    assert torch.allclose(values, torch.eye(Bandit.cells), atol=0.15)
