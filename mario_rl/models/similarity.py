"""How alike two pictures look: structural similarity (Wang et al. 2004, eq. 13, with its window and constants)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

WINDOW, SIGMA = 11, 1.5  # pixels
C1, C2 = 0.01**2, 0.03**2  # for grey values between 0 and 1


def structural_similarity(some: Tensor, others: Tensor) -> Tensor:
    """The mean over pictures float32[n, height, width] between 0 and 1; 1: they are the same."""
    offsets = torch.arange(WINDOW, device=some.device, dtype=some.dtype) - WINDOW // 2
    bell = (-(offsets**2) / (2 * SIGMA**2)).exp()
    bell = bell / bell.sum()

    def blurred(pictures: Tensor) -> Tensor:
        across = F.conv2d(pictures[:, None], bell[None, None, None, :])
        return F.conv2d(across, bell[None, None, :, None])

    mean, other_mean = blurred(some), blurred(others)
    variance = blurred(some**2) - mean**2
    other_variance = blurred(others**2) - other_mean**2
    covariance = blurred(some * others) - mean * other_mean
    luminance = (2 * mean * other_mean + C1) / (mean**2 + other_mean**2 + C1)
    structure = (2 * covariance + C2) / (variance + other_variance + C2)
    return (luminance * structure).mean()
