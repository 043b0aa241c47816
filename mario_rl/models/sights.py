"""What a world model sees, in and out: an encoder from an observation to features, a decoder back.

| sight       | observation                   | encoder             | decoder                 | error of a row         |
|-------------|-------------------------------|---------------------|-------------------------|------------------------|
| TileSight   | tiles                         | MLP or convolutions | MLP                     | cross-entropy, squares |
| PixelSight  | the newest of the grey frames | convolutions        | transposed convolutions | squares                |
| VectorSight | any other vector              | MLP                 | MLP                     | squares                |

A world model has a memory of its own, so of stacked frames it sees the newest only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mario_rl.environment.smb import tiles
from mario_rl.models.torsos import PIXEL_SHAPE

# The scalars say where Mario and the things around him are, and how fast. This is the likelihood of a normal
# distribution with a standard deviation of 0.07: 9 pixels where the unit is 128 of them. With a tenth of it, the model
# is content with the tile that a goomba is in, and Mario walks into it.
SCALAR_WEIGHT = 100.0
# Each grey value counts as often: the likelihood of a normal distribution with a standard deviation of 0.22. Counted
# once, all errors of a frame are worth 30 nats, and for six minutes of a run the posterior said nothing that the prior
# did not; ten times, for three. 30 and 100 were not better.
GREY_WEIGHT = 10.0
THING = 4  # scalars of a slot: kind, distances, speed


def layer(inputs: int, outputs: int) -> nn.Sequential:
    """Linear, LayerNorm, ReLU. The paper has RMSNorm and SiLU, which take the CPU twice as long."""
    return nn.Sequential(nn.Linear(inputs, outputs), nn.LayerNorm(outputs), nn.ReLU())


def head(inputs: int, hidden: int, outputs: int, layers: int = 1, zero: bool = False) -> nn.Sequential:
    """What is read off a state: hidden layers (without LayerNorm: measured, it learns faster) and a linear one.

    `zero` lets it begin with 0 (DreamerV3, section "Robust predictions").
    """
    parts: list[nn.Module] = []
    for width, following in pairwise([inputs, *[hidden] * layers]):
        parts += [nn.Linear(width, following), nn.ReLU()]
    last = nn.Linear(hidden, outputs)
    if zero:
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
    return nn.Sequential(*parts, last)


class Sight(Protocol):
    """An encoder and a decoder for one kind of observation."""

    def encode(self, x: Tensor) -> Tensor:
        """Features, float32[n, hidden], of observations as a replay keeps them."""

    def decode(self, state: Tensor) -> Tensor:
        """What the observations are expected to be, before `mean`: logits where those are wanted."""

    def loss(self, decoded: Tensor, x: Tensor) -> Tensor:
        """-log p(x | decoded) up to a constant, float32[n] (section "World model learning", the prediction loss)."""

    def mean(self, decoded: Tensor) -> Tensor:
        """The expected observations, float32, each number between 0 and 1 where the truth is."""

    def truth(self, x: Tensor) -> Tensor:
        """The observations in the units of `mean`."""


class VectorSight(nn.Module):
    """Vectors of any kind."""

    def __init__(self, size: int, state: int, hidden: int):
        super().__init__()
        self.encoder = layer(size, hidden)
        self.decoder = head(state, hidden, size, layers=2)

    def encode(self, x: Tensor) -> Tensor:
        """See `Sight.encode`."""
        return self.encoder(x.float())

    def decode(self, state: Tensor) -> Tensor:
        """See `Sight.decode`."""
        return self.decoder(state)

    def loss(self, decoded: Tensor, x: Tensor) -> Tensor:
        """Squared errors."""
        return (decoded - x.float()).square().sum(-1)

    def mean(self, decoded: Tensor) -> Tensor:
        """As decoded."""
        return decoded

    def truth(self, x: Tensor) -> Tensor:
        """As they are."""
        return x.float()


class TileSight(VectorSight):
    """Tiles: planes of cells between 0 and 1, then scalars.

    Which slot of the game's memory an enemy is in is chance. So every slot is read by the same small network, together
    with how Mario moves, and what it says is added up (Zaheer et al. 2017, Deep Sets): what one goomba teaches is known
    about all.
    """

    def __init__(self, torso: str, state: int, hidden: int):
        super().__init__(tiles.SIZE, state, hidden)
        self._split = len(tiles.PLANES) * tiles.CELLS
        self._mario = len(tiles.SCALARS) - THING * tiles.SCALAR_SLOTS  # scalars about him; those of the slots follow
        self.thing = nn.Sequential(
            nn.Linear(self._mario + THING, hidden // 2), nn.ReLU(), nn.Linear(hidden // 2, hidden)
        )
        self.convolutions: nn.Sequential | None = None
        if torso == "cnn":
            self.convolutions = nn.Sequential(
                nn.Conv2d(len(tiles.PLANES), 16, 3, padding=1),
                nn.ReLU(),
                nn.Conv2d(16, 32, 3, stride=2, padding=1),
                nn.ReLU(),
                nn.Flatten(),
            )
            convolved = 32 * ((tiles.ROWS + 1) // 2) * (tiles.COLUMNS // 2)
            self.encoder = layer(convolved + len(tiles.SCALARS), hidden)

    def encode(self, x: Tensor) -> Tensor:
        """See `Sight.encode`."""
        if self.convolutions is not None:
            planes = x[:, : self._split].reshape(-1, len(tiles.PLANES), tiles.ROWS, tiles.COLUMNS)
            x = torch.cat([self.convolutions(planes), x[:, self._split :]], dim=1)
        linear, norm, activation = self.encoder
        return activation(norm(linear(x) + self._around(x[:, -len(tiles.SCALARS) :])))

    def _around(self, scalars: Tensor) -> Tensor:
        """What is in all slots together, float32[n, hidden]; empty ones say nothing."""
        slots = scalars[:, self._mario :].reshape(-1, THING, tiles.SCALAR_SLOTS).transpose(1, 2)
        mario = scalars[:, None, : self._mario].expand(-1, tiles.SCALAR_SLOTS, -1)
        there = (slots[..., :1] != 0).float()  # the kind of an empty slot is 0
        return (self.thing(torch.cat([mario, slots], dim=-1)) * there).sum(dim=1)

    def loss(self, decoded: Tensor, x: Tensor) -> Tensor:
        """Cross-entropy of the cells, weighted squares of the scalars."""
        cells, scalars = decoded[:, : self._split], decoded[:, self._split :]
        of_cells = F.binary_cross_entropy_with_logits(cells, x[:, : self._split], reduction="none").sum(-1)
        return of_cells + SCALAR_WEIGHT * (scalars - x[:, self._split :]).square().sum(-1)

    def mean(self, decoded: Tensor) -> Tensor:
        """Probabilities of the cells, and the scalars."""
        return torch.cat([decoded[:, : self._split].sigmoid(), decoded[:, self._split :]], dim=1)


class PixelSight(nn.Module):
    """One grey frame, uint8[84, 84]: a convolution of stride 4, two of stride 2 down to 5x5, and the same way back.

    The paper's has four of stride 2, which take three times as long; after 90 s of learning on one core they have a
    similarity of 0.77, these 0.87.
    """

    def __init__(self, torso: str, state: int, hidden: int):
        super().__init__()
        depth = 32 if torso == "nature" else 16
        self._deepest = (depth * 4, 5, 5)
        widths = [1, depth, depth * 2, depth * 4]
        windows = [(8, 4, 2, 0), (4, 2, 1, 1), (4, 2, 1, 0)]  # kernel, stride, padding; of the way back: one more
        down: list[nn.Module] = []
        up: list[nn.Module] = []
        for (larger, smaller), (kernel, stride, padding, odd) in zip(pairwise(widths), windows, strict=True):
            down += [nn.Conv2d(larger, smaller, kernel, stride, padding), *_normed(smaller)]  # 84, 21, 10, 5
            back = nn.ConvTranspose2d(smaller, larger, kernel, stride, padding, odd)
            up = [back, *(_normed(larger) if larger > 1 else []), *up]
        deepest = int(torch.Size(self._deepest).numel())
        self.encoder = nn.Sequential(*down, nn.Flatten(), layer(deepest, hidden))
        self.from_state = layer(state, deepest)
        self.decoder = nn.Sequential(*up)

    def encode(self, x: Tensor) -> Tensor:
        """See `Sight.encode`."""
        return self.encoder(self.truth(x)[:, None])

    def decode(self, state: Tensor) -> Tensor:
        """See `Sight.decode`."""
        return self.decoder(self.from_state(state).reshape(-1, *self._deepest))[:, 0]

    def loss(self, decoded: Tensor, x: Tensor) -> Tensor:
        """Weighted squared errors."""
        return GREY_WEIGHT * (self.mean(decoded) - self.truth(x)).square().sum((-1, -2))

    def mean(self, decoded: Tensor) -> Tensor:
        """Grey values between 0 and 1."""
        return decoded.sigmoid()

    def truth(self, x: Tensor) -> Tensor:
        """Bytes as shares of white."""
        return x.float() / 255


def _normed(channels: int) -> list[nn.Module]:
    """Without the norm, thousands of squared errors soon have every unit dead."""
    return [nn.GroupNorm(1, channels), nn.ReLU()]


def build_sight(torso: str, shape: Sequence[int], state: int, hidden: int) -> TileSight | PixelSight | VectorSight:
    """The sight for observations of this shape, decoded from states of this size."""
    if tuple(shape) == PIXEL_SHAPE:
        return PixelSight(torso, state, hidden)
    if tuple(shape) == (tiles.SIZE,):
        return TileSight(torso, state, hidden)
    return VectorSight(int(torch.Size(shape).numel()), state, hidden)


def newest(x: Tensor) -> Tensor:
    """Of stacked frames the last one; anything else as it is."""
    return x[:, -1] if x.dim() == 4 else x
