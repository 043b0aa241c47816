"""Numbers as distributions over bins: how Dreamer predicts rewards and values whatever their size.

Hafner et al. 2023 (DreamerV3, arXiv 2301.04104), section "Robust predictions": a network gives logits over bins
that are equally far apart in symlog space; it is trained by the cross-entropy to the two bins next to the number, and
its prediction is the mean of the bins.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

# The paper has 255 bins from -20 to 20. Rewards and returns of these games are within symexp(5) = 147, so the same
# distance between bins needs a quarter of them.
BINS = 63
FURTHEST = 5.0  # in symlog space


def symexp(x: Tensor) -> Tensor:
    """The inverse of symlog(x) = sign(x) ln(|x| + 1), the identity near 0 and a logarithm far from it."""
    return x.sign() * x.abs().expm1()


class TwoHot(nn.Module):
    """What logits over the bins say (section "Robust predictions"). Has no weights."""

    bins: Tensor
    _places: Tensor

    def __init__(self) -> None:
        super().__init__()
        places = torch.linspace(-FURTHEST, FURTHEST, BINS)
        self.register_buffer("_places", places, persistent=False)
        self.register_buffer("bins", symexp(places), persistent=False)

    def mean(self, logits: Tensor) -> Tensor:
        """The predicted number: the mean of the bins."""
        return logits.softmax(-1) @ self.bins

    def loss(self, logits: Tensor, wanted: Tensor) -> Tensor:
        """Cross-entropy to the two bins next to `wanted`, weighted so that their mean is `wanted`."""
        wanted = wanted.clamp(self.bins[0], self.bins[-1])
        above = torch.searchsorted(self.bins, wanted.contiguous()).clamp(1, BINS - 1)
        low, high = self.bins[above - 1], self.bins[above]
        share = ((wanted - low) / (high - low))[..., None]
        log_probs = logits.log_softmax(-1)
        of_above = log_probs.gather(-1, above[..., None])
        of_below = log_probs.gather(-1, above[..., None] - 1)
        return -((1 - share) * of_below + share * of_above)[..., 0]
