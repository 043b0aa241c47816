"""Two-hot predictions against a plain account of the same sums."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mario_rl.models.two_hot import BINS, FURTHEST, TwoHot, symexp

within = st.floats(-140, 140, allow_nan=False, width=32)


@given(st.floats(-1e4, 1e4, allow_nan=False, width=32))
def test_symexp_undoes_symlog(x: float) -> None:
    there = math.copysign(math.log(abs(x) + 1), x)
    assert symexp(torch.tensor(there)).item() == pytest.approx(x, rel=1e-4, abs=1e-5)


def plain_bins() -> list[float]:
    places = [-FURTHEST + 2 * FURTHEST * number / (BINS - 1) for number in range(BINS)]
    return [math.copysign(math.exp(abs(place)) - 1, place) for place in places]


@given(within, st.integers(0, 2**31))
def test_the_loss_is_the_cross_entropy_to_the_two_bins_around_the_number(wanted: float, seed: int) -> None:
    logits = torch.randn(BINS, generator=torch.Generator().manual_seed(seed))
    bins = plain_bins()
    below = max(number for number in range(BINS - 1) if bins[number] <= wanted or number == 0)
    share = (wanted - bins[below]) / (bins[below + 1] - bins[below])
    total = sum(math.exp(logit) for logit in logits.tolist())
    log_probs = [logit - math.log(total) for logit in logits.tolist()]
    expected = -((1 - share) * log_probs[below] + share * log_probs[below + 1])
    assert TwoHot().loss(logits, torch.tensor(wanted)).item() == pytest.approx(expected, rel=1e-3, abs=1e-3)


@given(within)
def test_logits_that_have_learned_a_number_predict_it(wanted: float) -> None:
    two_hot = TwoHot()
    bins = plain_bins()
    below = max(number for number in range(BINS - 1) if bins[number] <= wanted or number == 0)
    share = min(max((wanted - bins[below]) / (bins[below + 1] - bins[below]), 1e-9), 1 - 1e-9)
    logits = torch.full((BINS,), -50.0)
    logits[below], logits[below + 1] = math.log(1 - share), math.log(share)
    assert two_hot.mean(logits).item() == pytest.approx(wanted, rel=1e-3, abs=1e-3)


def test_a_network_that_says_nothing_predicts_0_and_numbers_beyond_the_bins_count_as_the_last() -> None:
    two_hot = TwoHot()
    assert two_hot.mean(torch.zeros(BINS)).item() == pytest.approx(0, abs=1e-4)
    logits = torch.randn(2, BINS)
    far, last = torch.tensor([1e6, -1e6]), torch.stack([two_hot.bins[-1], two_hot.bins[0]])
    assert torch.allclose(two_hot.loss(logits, far), two_hot.loss(logits, last))


def test_it_learns_by_gradients() -> None:
    two_hot, logits = TwoHot(), torch.zeros(3, BINS, requires_grad=True)
    wanted = torch.tensor([-2.5, 0.3, 31.0])
    for _ in range(300):
        loss = two_hot.loss(logits, wanted).sum()
        (gradient,) = torch.autograd.grad(loss, logits)
        logits = (logits - 2 * gradient).detach().requires_grad_()
    assert torch.allclose(two_hot.mean(logits), wanted, atol=0.1, rtol=0.05)
