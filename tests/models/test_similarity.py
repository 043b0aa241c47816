"""Structural similarity against the formula, window by window."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mario_rl.models.similarity import structural_similarity


def plain(a: np.ndarray, b: np.ndarray) -> float:
    """Wang et al. 2004, equation 13, in loops."""
    offsets = np.arange(11) - 5
    window = np.exp(-(offsets[:, None] ** 2 + offsets[None] ** 2) / (2 * 1.5**2))
    window /= window.sum()
    found = []
    for top in range(a.shape[0] - 10):
        for left in range(a.shape[1] - 10):
            x, y = a[top : top + 11, left : left + 11], b[top : top + 11, left : left + 11]
            mx, my = (window * x).sum(), (window * y).sum()
            vx, vy = (window * (x - mx) ** 2).sum(), (window * (y - my) ** 2).sum()
            cov = (window * (x - mx) * (y - my)).sum()
            found.append((2 * mx * my + 1e-4) * (2 * cov + 9e-4) / ((mx**2 + my**2 + 1e-4) * (vx + vy + 9e-4)))
    return float(np.mean(found))


def test_it_is_the_mean_of_the_formula_over_all_windows() -> None:
    random = np.random.default_rng(0)
    a = random.random((2, 18, 21))
    b = np.clip(a + 0.2 * random.normal(size=a.shape), 0, 1)
    ours = structural_similarity(torch.from_numpy(a), torch.from_numpy(b)).item()
    assert ours == pytest.approx(np.mean([plain(x, y) for x, y in zip(a, b, strict=True)]), abs=1e-9)


def test_the_same_picture_is_1_and_its_negative_is_not() -> None:
    picture = torch.rand(1, 30, 30, generator=torch.Generator().manual_seed(0))
    assert structural_similarity(picture, picture).item() == pytest.approx(1, abs=1e-5)
    assert structural_similarity(picture, 1 - picture).item() < 0
