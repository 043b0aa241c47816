"""A network with weights of one bit that plays like a teacher (BinaryConnect, Courbariaux et al. 2015)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from mario_rl.distill.binary import BITS, Binary
from mario_rl.distill.chooser import LEAST_SCORE
from mario_rl.distill.drops import FEATURES, MOST
from mario_rl.distill.form import MOST_SCORE
from mario_rl.distill.half_counting import slots
from mario_rl.distill.imitation import imitate
from mario_rl.distill.lessons import Lessons
from mario_rl.distill.tables import features_of

EPOCHS = 25
LEARNING_RATE = 0.01


class _BinaryNetwork(nn.Module):
    signs: Tensor

    def __init__(self, used: Sequence[str], units: int):
        super().__init__()
        self._columns = torch.tensor([FEATURES.index(feature) for feature in used])
        self.weights = nn.Parameter(torch.randn(units, len(used)) * 0.1)
        self.thresholds = nn.Parameter(torch.randn(units) * 4)
        # Half of the units speak for a place and half of them against it.
        self.register_buffer("signs", torch.tensor([1.0, -1.0]).repeat(units)[:units])
        self.scale = nn.Parameter(torch.tensor(-2.0))

    def forward(self, features: Tensor) -> Tensor:
        seen = features[:, self._columns].float()
        units = torch.relu(seen @ _straight_through(self.weights).T + self.thresholds)
        return (units @ self.signs) * torch.exp(self.scale)


def _straight_through(weights: Tensor) -> Tensor:
    """Their signs, with the gradient of the weights themselves."""
    signs = torch.where(weights >= 0, 1.0, -1.0)
    return weights + (signs - weights).detach()


def fit_binary(lessons: Lessons, names: Sequence[str], units: int, columns_a_frame: int, seed: int) -> Binary:
    """So many units on these features (pairs by their names)."""
    used = slots([feature for name in names for feature in features_of(name)])
    if len(used) > BITS:
        raise ValueError(f"a network has {BITS} features at most")
    torch.manual_seed(seed)
    network = _BinaryNetwork(used, units)
    imitate(network, lessons, EPOCHS, LEARNING_RATE, seed)
    reach = 127 - sum(MOST[name] for name in used)
    thresholds = np.clip(np.round(network.thresholds.detach().numpy()), -reach, reach).astype(int)
    made = Binary(
        inputs=used,
        weights=tuple(tuple(unit) for unit in np.where(network.weights.detach().numpy() >= 0, 1, -1).tolist()),
        thresholds=tuple(thresholds.tolist()),
        signs=tuple(network.signs.int().tolist()),
        columns_a_frame=columns_a_frame,
    )
    return in_range(made, lessons)


def in_range(made: Binary, lessons: Lessons) -> Binary:
    """The same with the start and the shift with which the scores of places like these fit into a byte best."""
    features = lessons.drops.features[:2000][lessons.rated[:2000]]
    columns = [FEATURES.index(name) for name in made.inputs]
    sums = features[:, columns].astype(np.int64) @ np.array(made.weights).T + np.array(made.thresholds)
    for shift in range(8):
        totals = (np.maximum(sums, 0) >> shift) @ np.array(made.signs)
        least, most = np.quantile(totals, [0.02, 1.0])
        if most - least <= MOST_SCORE - LEAST_SCORE or shift == 7:
            break
    start = int(np.clip(MOST_SCORE - most, LEAST_SCORE, MOST_SCORE))
    values = made.as_values() | {"shift": shift, "start": start}
    return Binary.from_values(values)
