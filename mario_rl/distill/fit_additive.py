"""Tables and weights that play like a teacher: additive models, fitted by the softmax over a bottle's drops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from mario_rl.distill.chooser import LEAST_SCORE
from mario_rl.distill.drops import FEATURES, MOST
from mario_rl.distill.form import MOST_SCORE
from mario_rl.distill.half_counting import slots
from mario_rl.distill.imitation import imitate
from mario_rl.distill.lessons import Lessons
from mario_rl.distill.linear import Linear
from mario_rl.distill.tables import Names, Tables, features_of, indices, quantised, size_of

EPOCHS = 12
LEARNING_RATE = 0.02


class _TableNetwork(nn.Module):
    """A number for every entry of every table; the halves of a pair share theirs."""

    def __init__(self, tables: Sequence[Names]):
        super().__init__()
        self._tables = tables
        self.starts = np.cumsum([0, *(size_of(names) for names in tables)])
        self.numbers = nn.EmbeddingBag(int(self.starts[-1]), 1, mode="sum")
        nn.init.zeros_(self.numbers.weight)

    def forward(self, features: Tensor) -> Tensor:
        found = zip(self._tables, self.starts.tolist(), strict=False)
        places = [start + index for names, start in found for index in indices(names, features.numpy())]
        return self.numbers(torch.from_numpy(np.stack(places, axis=1))).squeeze(-1)


def fit_tables(lessons: Lessons, tables: Sequence[Names], columns_a_frame: int, seed: int) -> Tables:
    """The numbers of these tables."""
    network = _TableNetwork(tables)
    imitate(network, lessons, EPOCHS, LEARNING_RATE, seed)
    numbers = np.split(network.numbers.weight.detach().double().numpy()[:, 0], network.starts[1:-1])
    return quantised(dict(zip(tables, numbers, strict=True)), columns_a_frame)


class _LinearNetwork(nn.Module):
    """A weight for every feature."""

    def __init__(self, used: Sequence[str]):
        super().__init__()
        self._columns = torch.tensor([FEATURES.index(feature) for feature in used])
        self._most = torch.tensor([float(MOST[feature]) for feature in used])
        self.weights = nn.Parameter(torch.zeros(len(used)))

    def forward(self, features: Tensor) -> Tensor:
        return (features[:, self._columns].float() / self._most) @ self.weights

    @property
    def a_unit(self) -> Tensor:
        """The weights of features as they are counted."""
        return self.weights.detach() / self._most


def fit_linear(lessons: Lessons, names: Sequence[str], columns_a_frame: int, seed: int) -> Linear:
    """Weights of these features (pairs by their names)."""
    used = slots([feature for name in names for feature in features_of(name)])
    network = _LinearNetwork(used)
    imitate(network, lessons, EPOCHS, LEARNING_RATE, seed)
    return whole_weights(dict(zip(used, network.a_unit.double().tolist(), strict=True)), columns_a_frame)


def whole_weights(weights: dict[str, float], columns_a_frame: int) -> Linear:
    """Weights in bytes: only their proportions count, so they are stretched over the range of a score."""
    span = sum(abs(weight) * MOST[name] for name, weight in weights.items())
    factor = (MOST_SCORE - LEAST_SCORE) / max(span, 1e-9)
    whole = {name: int(weight * factor) for name, weight in weights.items()}
    least = sum(min(weight, 0) * MOST[name] for name, weight in whole.items())
    return Linear(whole, LEAST_SCORE - least, columns_a_frame=columns_a_frame)
