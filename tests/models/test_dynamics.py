"""The recurrent state-space model: probabilities, draws and divergences against plain references."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from mario_rl.models.dynamics import UNIMIX, Dynamics, State, divergence, draw, noise


@pytest.fixture
def dynamics() -> Dynamics:
    torch.manual_seed(0)
    return Dynamics(deterministic=12, variables=3, classes=4, hidden=8, actions=5)


def test_every_class_keeps_its_share_of_the_uniform_mix(dynamics: Dynamics) -> None:
    prior = dynamics.prior(100 * torch.randn(7, 12))
    assert prior.shape == (7, 3, 4)
    assert torch.allclose(prior.sum(-1), torch.ones(7, 3), atol=1e-5)
    assert prior.min() >= UNIMIX / 4 - 1e-7


def test_draws_follow_the_probabilities() -> None:
    probabilities = torch.tensor([[0.7, 0.2, 0.1, 0.0], [0.25, 0.25, 0.25, 0.25]])
    many = probabilities.expand(20_000, 2, 4)
    drawn = draw(many, noise(tuple(many.shape), torch.Generator().manual_seed(0), "cpu")).unflatten(-1, (2, 4))
    assert torch.equal(drawn.sum(-1), torch.ones(20_000, 2)) and set(drawn.unique().tolist()) == {0.0, 1.0}
    assert np.allclose(drawn.mean(0), probabilities, atol=0.015)
    assert torch.equal(draw(probabilities, None).unflatten(-1, (2, 4)).argmax(-1), probabilities.argmax(-1))


def test_the_gradient_goes_straight_through_a_draw() -> None:
    logits = torch.randn(5, 3, 4, requires_grad=True)
    weights = torch.randn(12)
    ringing = noise((5, 3, 4), torch.Generator().manual_seed(1), "cpu")
    drawn = draw(logits.softmax(-1), ringing)
    assert torch.allclose(drawn.detach(), draw(logits.softmax(-1).detach(), ringing), atol=1e-6)
    (through,) = torch.autograd.grad((drawn * weights).sum(), logits)
    (of_probabilities,) = torch.autograd.grad((logits.softmax(-1).flatten(-2) * weights).sum(), logits)
    assert torch.allclose(through, of_probabilities, atol=1e-6) and through.abs().sum() > 0


def test_the_divergence_is_the_sum_over_variables_of_plain_kl() -> None:
    p, q = (torch.rand(6, 3, 4, generator=torch.Generator().manual_seed(seed)).softmax(-1) for seed in (0, 1))
    for row in range(6):
        plain = sum(
            p[row, v, c].item() * (math.log(p[row, v, c].item()) - math.log(q[row, v, c].item()))
            for v in range(3)
            for c in range(4)
        )
        assert divergence(p, q)[row].item() == pytest.approx(plain, abs=1e-5)
    assert divergence(p, p).abs().max() < 1e-6


def test_a_state_that_is_not_kept_is_the_one_before_an_episode(dynamics: Dynamics) -> None:
    some = State(torch.randn(2, 12), torch.randn(2, 12))
    masked = some.where(torch.tensor([[1.0], [0.0]]))
    nothing = dynamics.nothing(2, "cpu")
    assert torch.equal(masked.features[0], some.features[0]) and torch.equal(masked.features[1], nothing.features[1])
    actions = torch.eye(5)[:2]
    assert not torch.allclose(dynamics.go_on(some, actions), dynamics.go_on(nothing, actions))


def test_the_posterior_sees_that_an_episode_is_over(dynamics: Dynamics) -> None:
    carried, seen = torch.randn(1, 12), torch.randn(1, 8)
    going, over = (dynamics.posterior(carried, seen, torch.tensor([bit])) for bit in (0.0, 1.0))
    assert not torch.allclose(going, over)
