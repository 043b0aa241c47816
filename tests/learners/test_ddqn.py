"""The numbers of double Q-learning, by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mario_rl import config as configuration
from mario_rl.learners.ddqn import DdqnLearner, lane_epsilons
from mario_rl.models.ddqn import DdqnModel


class Tables(torch.nn.Module):
    """A model whose Q-values are two tables: state i is the row i."""

    def __init__(self, online: list[list[float]], target: list[list[float]]):
        super().__init__()
        self.online = torch.nn.Embedding.from_pretrained(torch.tensor(online), freeze=False)
        self.target = torch.nn.Embedding.from_pretrained(torch.tensor(target))

    def forward(self, x: torch.Tensor, network: str = "online") -> torch.Tensor:
        return (self.online if network == "online" else self.target)(x)


def learner(model: torch.nn.Module, **settings: float) -> DdqnLearner:
    return DdqnLearner(configuration.from_dict(settings), model)  # type: ignore[arg-type]


def test_the_online_network_chooses_and_the_target_network_judges() -> None:
    # in state 1 the online network prefers action 1, the target network action 0
    model = Tables([[1.0, 0.0], [2.0, 3.0]], [[0.0, 0.0], [10.0, 4.0]])
    computed = learner(model)
    loss, metrics = computed.compute_loss(
        torch.tensor([0]), torch.tensor([0]), torch.tensor([0.5]), torch.tensor([1]), torch.tensor([0.0]), gamma=0.5
    )
    # wanted = 0.5 + 0.5 * target(1)[argmax online(1)] = 0.5 + 0.5 * 4 = 2.5; Q = 1; Huber(1.5) = 1.5 - 0.5 = 1
    assert loss.item() == pytest.approx(1.0)
    assert computed.td_errors == pytest.approx([1.5])
    assert metrics == pytest.approx({"loss": 1.0, "q_mean": 1.0, "q_max": 1.0, "td_error": 1.5})
    loss.backward()  # the gradient of the Huber loss beyond 1 is the sign of the error
    assert model.online.weight.grad.tolist() == [[-1.0, 0.0], [0.0, 0.0]]


def test_nothing_follows_a_done_and_each_row_has_its_own_discount_and_weight() -> None:
    model = Tables([[0.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
    loss, _ = learner(model).compute_loss(
        torch.tensor([0, 0, 0]),
        torch.tensor([0, 1, 1]),
        torch.tensor([0.3, 0.3, 0.3]),
        torch.tensor([1, 1, 1]),
        torch.tensor([1.0, 0.0, 0.0]),
        gamma=torch.tensor([0.9, 0.1, 0.2]),
        weights=torch.tensor([1.0, 0.5, 0.0]),
    )
    # errors 0.3, 0.4, 0.5; Huber of e < 1 is e * e / 2
    assert loss.item() == pytest.approx((0.3**2 / 2 + 0.5 * 0.4**2 / 2) / 3)


def test_a_policy_that_slips_is_worth_less_at_a_cliff() -> None:
    # state 0 is far from the cliff, state 1 at its edge, where the other action is a fall
    model = Tables([[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.9], [1.1, -5.0]])
    computed = learner(model, target_epsilon=0.2)
    nothing = torch.zeros(2)
    computed.compute_loss(torch.tensor([0, 0]), torch.tensor([0, 1]), nothing, torch.tensor([0, 1]), nothing, gamma=1.0)
    # 0.8 * the best + 0.2 * the mean; both errors are measured from Q = 0
    assert computed.td_errors == pytest.approx([0.8 * 1.0 + 0.2 * 0.95, 0.8 * 1.1 + 0.2 * -1.95])
    assert computed.td_errors[0] > computed.td_errors[1], "Q-learning would say the opposite"


def test_targets_move_by_tau() -> None:
    model = DdqnModel((4,), 2, "mlp", hidden=8)
    with torch.no_grad():
        for parameter in model.online.parameters():
            parameter.add_(1.0)
    before = [parameter.clone() for parameter in model.target.parameters()]
    computed = learner(model)
    computed.update_targets(0.25)
    for old, new in zip(before, model.target.parameters(), strict=True):
        assert torch.allclose(new, old + 0.25)
    computed.update_targets(1.0)
    for online, target in zip(model.online.parameters(), model.target.parameters(), strict=True):
        assert torch.equal(online, target)


def test_dueling_heads_and_the_bound() -> None:
    torch.manual_seed(0)
    model = DdqnModel((3,), 4, "mlp", hidden=8, q_scale=2.0)
    states = torch.randn(5, 3)
    features = model.online.torso(states)
    value, advantage = model.online.value(features), model.online.advantage(features)
    unbounded = value + advantage - advantage.mean(1, keepdim=True)
    assert torch.allclose(model(states), unbounded / (1 + unbounded.abs() / 2.0), atol=1e-6)
    with torch.no_grad():
        model.online.value[-1].bias.fill_(1e6)
    assert model(states).abs().max() <= 2.0


def test_epsilons_lie_geometrically_between_the_bounds_and_every_worker_has_all_kinds() -> None:
    config = configuration.from_dict({"workers": 3, "lanes": 4, "epsilon_max": 0.4, "epsilon_min": 0.003})
    of_workers = [lane_epsilons(config, worker).numpy() for worker in range(3)]
    together = np.sort(np.concatenate(of_workers))[::-1]
    assert together[0] == pytest.approx(0.4) and together[-1] == pytest.approx(0.003)
    assert np.allclose(together[1:] / together[:-1], (0.003 / 0.4) ** (1 / 11))
    assert all(lanes.max() > 0.1 and lanes.min() < 0.02 for lanes in of_workers)
