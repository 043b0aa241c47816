"""Averaging, clipping, refusing: what happens to gradients before they become weights."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from mario_rl import config as configuration
from mario_rl.distributed.coordinator import Offer, TrainingCoordinator


def coordinator(**settings: object) -> TrainingCoordinator:
    return TrainingCoordinator(configuration.from_dict({"hidden": 8, "max_grad_norm": 1e6} | settings))


def gradient(of: TrainingCoordinator, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=of.flat.trained_size).astype(np.float32)


def weights(of: TrainingCoordinator) -> torch.Tensor:
    return of.flat.weights.detach().clone()


def test_an_update_is_adam_on_the_mean_gradient() -> None:
    ours = coordinator(lr=1e-2, lr_min=1e-2)
    plain = torch.nn.Parameter(ours.flat.trained.detach().clone())
    adam = torch.optim.Adam([plain], 1e-2, eps=ours.config.adam_eps)
    for step in range(3):
        vectors = [gradient(ours, 10 * step + worker) for worker in range(3)]
        ours.apply([Offer(worker, vector, 1.0) for worker, vector in enumerate(vectors)])
        plain.grad = torch.from_numpy(np.mean(vectors, axis=0))
        adam.step()
        assert torch.allclose(ours.flat.trained, plain, atol=1e-5)
    assert ours.counters.updates == ours.version == 3


def test_the_mean_is_clipped_by_its_norm() -> None:
    ours = coordinator(max_grad_norm=0.5)
    ours.apply([Offer(0, gradient(ours), 1.0)])
    assert torch.linalg.vector_norm(ours.flat.gradient).item() == pytest.approx(0.5, rel=1e-4)
    assert ours.collector.values()["grad_norm"] == pytest.approx(np.linalg.norm(gradient(ours)), rel=1e-4)


def test_parts_are_clipped_and_stepped_each_with_its_own_norm_and_rate() -> None:
    rates = {"lr": 1e-3, "lr_min": 1e-4, "actor_lr": 4e-3, "critic_lr": 2e-3}
    ours = coordinator(model="dreamer", max_grad_norm=0.5, behaviour_grad_norm=0.25, steps=1000, adam_eps=1e-9, **rates)
    assert [part.name for part, _ in ours.parts] == ["world", "actor", "critic"]
    before = weights(ours)
    ours.apply([Offer(0, gradient(ours), 1.0)])
    norms = [torch.linalg.vector_norm(piece.grad).item() for _, piece in ours.parts]
    assert norms == pytest.approx([0.5, 0.25, 0.25], rel=1e-4)
    assert ours.collector.values()["grad_norm"] == pytest.approx(np.linalg.norm(gradient(ours)), rel=1e-4)
    # Adam's first step is its rate, in the direction of the gradient, for every weight
    moved, begin = (weights(ours) - before).abs(), 0
    for (part, _), rate in zip(ours.parts, (1e-3, 4e-3, 2e-3), strict=True):
        assert moved[begin : begin + part.size].median().item() == pytest.approx(rate, rel=0.02)
        begin += part.size
    ours.counters.steps = 1000
    ours.apply([Offer(0, gradient(ours), 1.0)])
    assert [group["lr"] for group in ours.optimiser.param_groups] == pytest.approx([1e-4, 4e-4, 2e-4])


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_never_reaches_the_weights(value: float) -> None:
    ours, expected = coordinator(), coordinator()
    bad = gradient(ours)
    bad[7] = value
    assert ours.apply([Offer(0, gradient(ours, 1), 1.0), Offer(1, bad, 1.0), Offer(2, gradient(ours, 2), value)]) == [
        1,
        2,
    ]
    expected.apply([Offer(0, gradient(ours, 1), 1.0)])
    assert torch.equal(weights(ours), weights(expected))
    assert (ours.counters.grads_received, ours.counters.grads_nonfinite) == (3, 2)

    before = weights(ours)
    assert ours.apply([Offer(1, bad, 1.0)]) == [1]
    assert torch.equal(weights(ours), before)
    assert (
        ours.version == 2 and ours.counters.updates == 1
    )  # who waits for newer weights gets some, the optimiser rests


def test_a_gradient_that_changed_while_it_was_read_is_left_out() -> None:
    ours, expected = coordinator(), coordinator()
    torn = Offer(1, gradient(ours, 9), 1.0, intact=lambda: False)
    ours.apply([Offer(0, gradient(ours, 1), 1.0), torn, Offer(2, gradient(ours, 2), 1.0)])
    expected.apply([Offer(0, gradient(ours, 1), 1.0), Offer(2, gradient(ours, 2), 1.0)])
    assert torch.equal(weights(ours), weights(expected))


def test_the_learning_rate_is_a_cosine_over_the_steps() -> None:
    ours = coordinator(lr=1e-3, lr_min=1e-4, steps=1000)
    rates = []
    for steps in (0, 250, 500, 1000, 2000):
        ours.counters.steps = steps
        rates.append(ours.learning_rate())
    quarter = 1e-4 + 9e-4 * (1 + math.cos(math.pi / 4)) / 2
    assert rates == pytest.approx([1e-3, quarter, 5.5e-4, 1e-4, 1e-4])


def test_the_targets_slow_down_with_the_learning_rate() -> None:
    ours = coordinator(tau=0.5, tau_min=0.1, steps=1000)
    ours.counters.steps = 500
    assert ours.tau() == pytest.approx(0.3)
    ours.counters.steps = 1000
    before = ours.flat.weights.clone()
    ours.apply([Offer(0, gradient(ours), 1.0)])
    size = ours.flat.trained_size
    expected = 0.9 * before[size:] + 0.1 * ours.flat.weights[:size]
    assert torch.allclose(ours.flat.weights[size:], expected, atol=1e-6)
    assert coordinator(tau=0.5).tau() == 0.5  # by default it stays


def test_targets_follow_softly_or_from_time_to_time() -> None:
    soft = coordinator(tau=0.5)
    soft.apply([Offer(0, gradient(soft), 1.0)])
    size = soft.flat.trained_size
    fresh = coordinator().flat.weights  # the same seed, so the same start
    assert torch.allclose(soft.flat.weights[size:], (fresh[size:] + soft.flat.weights[:size]) / 2, atol=1e-6)

    periodic = coordinator(target_every=2)
    periodic.apply([Offer(0, gradient(periodic), 1.0)])
    assert torch.equal(periodic.flat.weights[size:], fresh[size:])
    periodic.apply([Offer(0, gradient(periodic), 1.0)])
    assert torch.equal(periodic.flat.weights[size:], periodic.flat.weights[:size])


def test_a_coordinator_goes_on_exactly_where_its_state_was_taken(tmp_path) -> None:
    ours = coordinator(target_every=3)
    for seed in range(4):
        ours.counters.steps = 100 * seed
        ours.apply([Offer(0, gradient(ours, seed), 1.0)])
    torch.save(ours.state_dict(), tmp_path / "state.pt")
    twin = coordinator(target_every=3, seed=5)
    twin.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    for seed in range(4, 8):
        for one in (ours, twin):
            one.counters.steps = 100 * seed
            one.apply([Offer(0, gradient(ours, seed), 1.0)])
    assert torch.equal(weights(ours), weights(twin))
    assert ours.counters == twin.counters


def test_what_is_seen_is_the_average_and_what_is_trained_is_not() -> None:
    ours, plain = coordinator(average=0.25), coordinator()
    average = weights(ours)
    for step in range(3):
        for each in (ours, plain):
            each.apply([Offer(0, gradient(ours, step), 1.0)])
        average += 0.25 * (weights(plain) - average)
    assert torch.equal(weights(ours), weights(plain)), "training does not know about it"
    with ours.to_be_seen():
        assert torch.allclose(weights(ours), average, atol=1e-6)
        seen = {name: value.clone() for name, value in ours.flat.model.state_dict().items()}
    assert torch.equal(weights(ours), weights(plain))
    assert all(torch.equal(value, seen[name]) for name, value in ours.weights_state()["model"].items())
    assert not any(torch.equal(value, seen[name]) for name, value in ours.state_dict()["model"].items())

    resumed = coordinator(average=0.25)
    resumed.load_state_dict(ours.state_dict())
    with ours.to_be_seen(), resumed.to_be_seen():
        assert torch.equal(weights(ours), weights(resumed))
    later = coordinator(average=0.25)
    later.load_state_dict(plain.state_dict())  # of a run that had no average
    with later.to_be_seen():
        assert torch.equal(weights(later), weights(plain))
