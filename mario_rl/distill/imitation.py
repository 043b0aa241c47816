"""Learning to play like a teacher: a network that scores drops, and the softmax over a bottle's drops."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from mario_rl.distill.lessons import Lessons

BATCH = 256


def imitate(network: nn.Module, lessons: Lessons, epochs: int, learning_rate: float, seed: int) -> float:
    """Train a network that maps features [n, len(FEATURES)] to scores [n]; the last cross-entropy, in nats."""
    order = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.Adam(network.parameters(), learning_rate)
    features = torch.from_numpy(lessons.drops.features)
    wanted, rated = torch.from_numpy(lessons.probabilities), torch.from_numpy(lessons.rated)
    losses: list[float] = []
    for epoch in range(epochs):
        for group in optimiser.param_groups:
            group["lr"] = learning_rate * (1 - epoch / epochs)
        losses = []
        for chosen in torch.split(torch.randperm(lessons.bottles, generator=order), BATCH):
            seen = features[chosen]
            scores = network(seen.reshape(-1, seen.shape[-1])).reshape(seen.shape[:2])
            loss = cross_entropy(scores, wanted[chosen], rated[chosen])
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            losses.append(loss.item())
    return float(np.mean(losses))


def cross_entropy(scores: Tensor, wanted: Tensor, rated: Tensor) -> Tensor:
    """Between the teacher's probabilities and the softmax of the scores, over the drops that are rated."""
    likely = torch.log_softmax(scores.masked_fill(~rated, -1e9), dim=1)
    return -(wanted * likely.masked_fill(~rated, 0.0)).sum(dim=1).mean()


def scores_of(network: nn.Module, features: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """[...] of features [..., len(FEATURES)]."""
    rows = torch.from_numpy(np.ascontiguousarray(features.reshape(-1, features.shape[-1])))
    with torch.no_grad():
        return network(rows).double().numpy().reshape(features.shape[:-1])
