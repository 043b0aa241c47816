"""Vectors on their way: what arrives is what was sent, to float16's own rounding, and learning does not suffer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mario_rl import config as configuration
from mario_rl.cluster.wire import pack, unpack, unpack_into
from mario_rl.learners.registry import build_experience, build_learner, build_model
from mario_rl.models.flat import FlatModel
from tests.learners.tiny_problems import Bandit, Corridor

NUMBERS = st.floats(-(2.0**100), 2.0**100, width=32, allow_subnormal=False)
VECTORS = arrays.arrays(np.float32, st.integers(1, 50), elements=NUMBERS)


@given(VECTORS)
def test_float32_arrives_bit_for_bit_and_without_a_copy(vector: np.ndarray) -> None:
    packed = pack(vector, "float32")
    assert unpack(packed) is packed.numbers is vector


@given(VECTORS)
def test_float16_arrives_with_its_own_rounding_whatever_the_magnitude(vector: np.ndarray) -> None:
    packed = pack(vector, "float16")
    assert packed.nbytes == 2 * len(vector)
    arrived = unpack(packed)
    # 2^-11 of the number itself; far below the largest one, float16's smallest step on that one's scale
    largest = float(np.abs(vector).max())
    assert np.all(np.abs(arrived - vector) <= np.abs(vector) * 2.0**-11 + largest * 2.0**-38 + 1e-37)
    into = np.full(len(vector), 7, np.float32)
    unpack_into(packed, into)
    assert np.array_equal(into, arrived)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_what_is_not_finite_is_not_made_finite(bad: float, precision: str) -> None:
    vector = np.array([1, bad, 2], np.float32)
    assert not np.isfinite(unpack(pack(vector, precision))).all()


def test_a_gradient_of_tiny_numbers_keeps_its_direction() -> None:
    gradient = np.random.default_rng(0).normal(size=10_000).astype(np.float32) * 1e-12
    arrived = unpack(pack(gradient, "float16")).astype(np.float64)
    cosine = arrived @ gradient / np.linalg.norm(arrived) / np.linalg.norm(gradient.astype(np.float64))
    assert cosine > 0.9999999


SMALL = {"workers": 1, "lanes": 8, "hidden": 32, "reward_scale": 1.0, "torso": "mlp"}
DDQN = SMALL | {
    "model": "ddqn", "gamma": Corridor.gamma, "lr": 3e-3, "collect_steps": 4, "gradients_per_collect": 4,
    "buffer_size": 2000, "learning_starts": 200, "batch_size": 32, "tau": 0.02, "epsilon_steps": 4000,
    "priority_alpha": 0.6,
}  # fmt: skip
PPO = SMALL | {"model": "ppo", "lr": 3e-3, "collect_steps": 16, "batch_size": 64, "epochs": 4}


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_ddqn_learns_the_corridor_over_the_wire(precision: str) -> None:
    model = learn_over_the_wire(Corridor(8), DDQN, 250, precision)
    everywhere = torch.eye(Corridor.cells)[:-1]
    assert model.select_action(everywhere).tolist() == [1] * (Corridor.cells - 1)
    truth = np.array([Corridor.gamma ** (Corridor.cells - 2 - cell) for cell in range(Corridor.cells - 1)])
    assert np.allclose(model.forward(everywhere, "target")[:, 1].detach(), truth, atol=0.08)


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_ppo_learns_a_bandit_over_the_wire(precision: str) -> None:
    model = learn_over_the_wire(Bandit(8), PPO, 60, precision)
    assert model.action_values(torch.eye(Bandit.cells)).diagonal().min() > 0.8


def learn_over_the_wire(problem: Any, settings: dict[str, Any], rounds: int, precision: str) -> Any:
    """A worker and a coordinator that only have what travels in common; the coordinator's model."""
    config = configuration.from_dict(settings | {"precision": precision})
    space = spaces.Box(0, 1, (problem.cells,), np.float32)
    torch.manual_seed(0)
    ours = build_model(config, space, problem.actions)
    there = build_model(config, space, problem.actions)
    coordinator, worker = FlatModel(ours), FlatModel(there)
    targets = build_learner(config, ours)
    experience = build_experience(config, build_learner(config, there), space, 0)
    optimiser = torch.optim.Adam([coordinator.trained], config.lr)
    steps = 0
    for done in range(rounds):
        worker.load_weights(unpack(pack(coordinator.weights_array().copy(), precision)))
        for _ in range(config.collect_steps):
            steps += config.lanes
            experience.record(problem.step(experience.act(problem.observe(), done / rounds, steps)))
        for loss, _ in experience.losses(done / rounds):
            worker.zero_gradient()
            loss.backward()
            coordinator.gradient.copy_(torch.from_numpy(unpack(pack(worker.gradient_array(), precision))))
            optimiser.step()
            targets.update_targets(config.tau)
            worker.load_weights(unpack(pack(coordinator.weights_array().copy(), precision)))
    return ours
