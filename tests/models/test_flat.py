"""One vector for all weights: the model stays a model."""

from __future__ import annotations

import torch

from mario_rl.models.actor_critic import ActorCriticModel
from mario_rl.models.ddqn import DdqnModel
from mario_rl.models.flat import FlatModel


def test_weights_and_gradients_are_the_models_own_memory() -> None:
    torch.manual_seed(0)
    model = ActorCriticModel((5,), 3, "mlp", hidden=8)
    states = torch.randn(4, 5)
    before = model(states)
    flat = FlatModel(model)
    assert torch.equal(model(states), before)
    assert flat.size == flat.trained_size == sum(p.numel() for p in model.parameters())

    model.evaluate(states)[0].square().sum().backward()
    expected = torch.cat([p.grad.reshape(-1) for p in model.parameters()])
    assert torch.equal(flat.gradient, expected) and flat.gradient.abs().sum() > 0
    flat.zero_gradient()
    assert all(p.grad.abs().sum() == 0 for p in model.parameters())

    flat.load_weights(torch.zeros(flat.size).numpy())
    assert model(states).abs().sum() == 0
    flat.weights_array()[:] = 1
    assert all((p == 1).all() for p in model.parameters())


def test_target_networks_follow_after_the_trained_weights() -> None:
    model = DdqnModel((5,), 3, "mlp", hidden=8)
    flat = FlatModel(model)
    assert flat.size == 2 * flat.trained_size
    flat.weights[: flat.trained_size] = 1
    assert (model.target.value[-1].bias != 1).all()
    model.sync_target()
    assert (flat.weights == 1).all()


def test_an_optimiser_on_the_vector_is_the_optimiser_on_the_parameters() -> None:
    torch.manual_seed(1)
    plain, vector = DdqnModel((5,), 3, "mlp", hidden=8), DdqnModel((5,), 3, "mlp", hidden=8)
    vector.load_state_dict(plain.state_dict())
    flat = FlatModel(vector)
    one = torch.optim.Adam([p for p in plain.parameters() if p.requires_grad], 1e-2)
    other = torch.optim.Adam([flat.trained], 1e-2)
    for _ in range(5):
        states = torch.randn(4, 5)
        one.zero_grad()
        plain(states).square().sum().backward()
        one.step()
        flat.zero_gradient()
        vector(states).square().sum().backward()
        other.step()
    for ours, theirs in zip(vector.parameters(), plain.parameters(), strict=True):
        assert torch.allclose(ours, theirs, atol=1e-6)
