"""What it means to imitate, by hand."""

from __future__ import annotations

import math

import pytest
import torch

from mario_rl import config as configuration
from mario_rl.learners.ddqn import MARGIN, DdqnLearner
from mario_rl.learners.ppo import SMOOTHING, PpoLearner


class Table(torch.nn.Module):
    """Q-values or logits of a state are a row."""

    def __init__(self, rows: list[list[float]]):
        super().__init__()
        self.online = torch.nn.Embedding.from_pretrained(torch.tensor(rows), freeze=False)
        self.target = torch.nn.Embedding.from_pretrained(torch.tensor(rows))

    def forward(self, x: torch.Tensor, network: str = "online") -> torch.Tensor:
        return self.online(x)

    def evaluate(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.online(x), torch.zeros(len(x))


def test_q_values_prefer_what_was_demonstrated_by_a_margin() -> None:
    # state 0: the demonstrated action 0 is better by less than the margin; state 1: by more; state 2: it is worse
    table = Table([[1.0, 1.0 - MARGIN / 4, 0.0], [2.0, 1.0, 1.0], [0.5, 0.0, 1.5]])
    learner = DdqnLearner(configuration.from_dict({"model": "ddqn"}), table)  # type: ignore[arg-type]
    loss = learner.imitation_loss(torch.arange(3), torch.zeros(3, dtype=torch.int64))
    assert loss.item() == pytest.approx((MARGIN * 3 / 4 + 0 + 1.0 + MARGIN) / 3)
    loss.backward()
    # only the demonstrated action and its strongest rival are moved, and only where the margin is not kept
    expected = [[-1 / 3, 1 / 3, 0], [0, 0, 0], [-1 / 3, 0, 1 / 3]]
    assert table.online.weight.grad.flatten().tolist() == pytest.approx([g for row in expected for g in row])


def test_a_policy_raises_the_chance_of_what_was_demonstrated_but_leaves_some_to_all() -> None:
    table = Table([[0.3, -0.2, 1.0, 0.0]])
    learner = PpoLearner(configuration.from_dict({"model": "ppo"}), table)  # type: ignore[arg-type]
    loss = learner.imitation_loss(torch.tensor([0]), torch.tensor([1]))
    exponents = [math.exp(logit) for logit in (0.3, -0.2, 1.0, 0.0)]
    chances = [value / sum(exponents) for value in exponents]
    wanted = [SMOOTHING / 4 + (1 - SMOOTHING) * (action == 1) for action in range(4)]
    assert loss.item() == pytest.approx(-sum(w * math.log(p) for w, p in zip(wanted, chances, strict=True)))
