"""The numbers of PPO: by hand, against plain references, and against a PPO without any of our machinery."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from mario_rl import config as configuration
from mario_rl.learners.ppo import PpoExperience, PpoLearner, explained_variance, generalised_advantages
from mario_rl.models.actor_critic import ActorCriticModel, draw
from tests.learners.tiny_problems import Corridor


class Constant(torch.nn.Module):
    """Logits and value that do not depend on the state."""

    def __init__(self, logits: list[float], value: float):
        super().__init__()
        self.logits, self.value = torch.nn.Parameter(torch.tensor(logits)), torch.nn.Parameter(torch.tensor(value))

    def evaluate(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.logits.expand(len(x), -1), self.value.expand(len(x))


def test_the_loss_by_hand() -> None:
    config = configuration.from_dict({"clip_range": 0.2, "entropy": 0.1, "value_weight": 0.5})
    learner = PpoLearner(config, Constant([math.log(0.75), math.log(0.25)], 2.0))  # type: ignore[arg-type]
    nothing = torch.zeros(2)
    loss, metrics = learner.compute_loss(
        torch.zeros(2, 1), torch.tensor([0, 1]), nothing, torch.zeros(2, 1), nothing,
        old_log_probs=torch.tensor([0.5, 0.5]).log(), advantages=torch.tensor([3.0, 1.0]),
        returns=torch.tensor([3.0, 5.0]),
    )  # fmt: skip
    # normalised advantages: +-1 / sqrt(2); ratios 1.5 (clipped to 1.2) and 0.5 (a loss is not softened by the clip)
    advantage = 1 / math.sqrt(2)
    policy_loss = -(1.2 * advantage - 0.8 * advantage) / 2
    value_loss = ((2 - 3) ** 2 + (2 - 5) ** 2) / 2
    entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert metrics["policy_loss"] == pytest.approx(policy_loss, abs=1e-6)
    assert metrics["value_loss"] == pytest.approx(value_loss)
    assert metrics["entropy"] == pytest.approx(entropy)
    assert metrics["clip_fraction"] == 1.0
    assert loss.item() == pytest.approx(policy_loss + 0.5 * value_loss - 0.1 * entropy, abs=1e-6)


def reference_advantages(
    rewards: Any, values: Any, next_values: Any, terminated: Any, ended: Any, gamma: float, lam: float
) -> list[list[float]]:
    """Straight from the definition: discounted sums of one-step errors until the episode or the rollout ends."""
    steps, lanes = len(rewards), len(rewards[0])
    advantages = [[0.0] * lanes for _ in range(steps)]
    for lane in range(lanes):
        for start in range(steps):
            discount = 1.0
            for step in range(start, steps):
                following = 0.0 if terminated[step][lane] else next_values[step][lane]
                error = rewards[step][lane] + gamma * following - values[step][lane]
                advantages[start][lane] += discount * error
                if ended[step][lane]:
                    break
                discount *= gamma * lam
    return advantages


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_advantages_are_those_of_the_definition(data: st.DataObject) -> None:
    steps, lanes = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 3))
    number = st.floats(-2, 2, width=32)
    table = st.lists(st.lists(number, min_size=lanes, max_size=lanes), min_size=steps, max_size=steps)
    rewards, values, next_values = (np.array(data.draw(table), np.float32) for _ in range(3))
    ends = st.lists(st.lists(st.sampled_from("-td"), min_size=lanes, max_size=lanes), min_size=steps, max_size=steps)
    kind = np.array(data.draw(ends))
    gamma, lam = data.draw(st.sampled_from([(0.97, 0.95), (0.5, 1.0), (0.9, 0.0)]))
    arguments = (rewards, values, next_values, kind == "d", kind != "-", gamma, lam)
    assert np.allclose(generalised_advantages(*arguments), reference_advantages(*arguments), atol=1e-4)


def test_explained_variance() -> None:
    returns = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    assert explained_variance(returns + 7, returns) == pytest.approx(1.0)
    assert explained_variance(np.zeros_like(returns), returns) == pytest.approx(0.0)
    assert explained_variance(-returns, returns) == pytest.approx(-3.0)
    assert explained_variance(returns, np.ones_like(returns)) == 0.0


def test_actions_are_drawn_with_their_probabilities() -> None:
    logits = torch.tensor([0.7, 0.2, 0.1]).log().expand(20_000, 3)
    drawn = draw(logits, torch.Generator().manual_seed(0))
    shares = torch.bincount(drawn, minlength=3) / len(drawn)
    assert torch.allclose(shares, torch.tensor([0.7, 0.2, 0.1]), atol=0.015)


def test_a_cut_episode_keeps_the_value_of_its_true_last_observation() -> None:
    """The corridor's clock cuts episodes: what follows counts, and it is not the next episode's first observation."""
    config = configuration.from_dict({"lanes": 2, "collect_steps": 40, "workers": 1, "batch_size": 16, "torso": "mlp"})
    torch.manual_seed(0)
    model = ActorCriticModel((Corridor.cells,), 2, "mlp", hidden=16)
    experience = PpoExperience(config, PpoLearner(config, model), spaces.Box(0, 1, (Corridor.cells,), np.float32), 0)
    problem = Corridor(2)
    rows = []
    for _ in range(40):
        experience.act(problem.observe(), 0.0, 0)
        steps = problem.step(np.array([0, 1]))  # the left lane is cut after 30 steps, the right one wins every 5
        experience.record(steps)
        rows.append(steps)
    assert rows[29].truncated[0] and rows[4].terminated[1]
    with torch.no_grad():
        for row, steps in enumerate(rows):
            values = model.evaluate(torch.from_numpy(steps.next_observations))[1].numpy()
            alive = ~steps.terminated
            assert np.allclose(experience.next_values[row, alive], values[alive], atol=1e-6)
