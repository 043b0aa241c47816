"""Torsos: from an observation to features, float32[n, features].

| torso  | observation | layers                                                               |
|--------|-------------|----------------------------------------------------------------------|
| mlp    | tiles       | two hidden layers over planes and scalars alike                      |
| cnn    | tiles       | two 3x3 convolutions over the planes; the scalars join before the hidden layer |
| small  | pixels      | three convolutions with 16, 32 and 32 channels                       |
| nature | pixels      | the three convolutions of Mnih et al. 2015 (Nature 518), 32, 64, 64  |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from mario_rl.environment.smb import tiles

PIXEL_SHAPE = (4, 84, 84)


def initialised(layer: nn.Linear | nn.Conv2d, gain: float = 2**0.5) -> nn.Linear | nn.Conv2d:
    """Orthogonal weights and no bias, as PPO's reference implementations start; it suits Q-networks as well."""
    nn.init.orthogonal_(layer.weight, gain)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


class TileMlp(nn.Module):
    """Two hidden layers over a flat observation."""

    def __init__(self, shape: Sequence[int], hidden: int):
        super().__init__()
        self.features = hidden
        self.layers = nn.Sequential(
            nn.Flatten(),
            initialised(nn.Linear(int(torch.Size(shape).numel()), hidden)),
            nn.ReLU(),
            initialised(nn.Linear(hidden, hidden)),
            nn.ReLU(),
        )

    def forward(self, x: Tensor) -> Tensor:
        """The features of a batch."""
        return self.layers(x.float())


class TileCnn(nn.Module):
    """Convolutions over the planes, then one hidden layer over them and the scalars."""

    def __init__(self, shape: Sequence[int], hidden: int):
        super().__init__()
        if tuple(shape) != (tiles.SIZE,):
            raise ValueError(f"the cnn torso reads tiles of shape ({tiles.SIZE},), not {tuple(shape)}")
        self.features = hidden
        self.planes = nn.Sequential(
            initialised(nn.Conv2d(len(tiles.PLANES), 16, 3, padding=1)),
            nn.ReLU(),
            initialised(nn.Conv2d(16, 32, 3, stride=2, padding=1)),
            nn.ReLU(),
            nn.Flatten(),
        )
        convolved = 32 * ((tiles.ROWS + 1) // 2) * (tiles.COLUMNS // 2)
        self.joined = nn.Sequential(initialised(nn.Linear(convolved + len(tiles.SCALARS), hidden)), nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        """The features of a batch."""
        split = len(tiles.PLANES) * tiles.CELLS
        planes = x[:, :split].reshape(-1, len(tiles.PLANES), tiles.ROWS, tiles.COLUMNS)
        return self.joined(torch.cat([self.planes(planes), x[:, split:]], dim=1))


class PixelCnn(nn.Module):
    """Three convolutions over stacked grey frames (uint8, scaled here) and a hidden layer."""

    def __init__(self, shape: Sequence[int], hidden: int, channels: tuple[int, int, int]):
        super().__init__()
        if tuple(shape) != PIXEL_SHAPE:
            raise ValueError(f"the pixel torsos read frames of shape {PIXEL_SHAPE}, not {tuple(shape)}")
        self.features = hidden
        first, second, third = channels
        self.layers = nn.Sequential(
            initialised(nn.Conv2d(PIXEL_SHAPE[0], first, 8, stride=4)),
            nn.ReLU(),
            initialised(nn.Conv2d(first, second, 4, stride=2)),
            nn.ReLU(),
            initialised(nn.Conv2d(second, third, 3)),
            nn.ReLU(),
            nn.Flatten(),
            initialised(nn.Linear(third * 7 * 7, hidden)),
            nn.ReLU(),
        )

    def forward(self, x: Tensor) -> Tensor:
        """The features of a batch."""
        return self.layers(x.float() / 255)


TORSOS: dict[str, Callable[[Sequence[int], int], TileMlp | TileCnn | PixelCnn]] = {
    "mlp": TileMlp,
    "cnn": TileCnn,
    "small": lambda shape, hidden: PixelCnn(shape, hidden, (16, 32, 32)),
    "nature": lambda shape, hidden: PixelCnn(shape, hidden, (32, 64, 64)),
}


def build_torso(name: str, shape: Sequence[int], hidden: int) -> TileMlp | TileCnn | PixelCnn:
    """A torso for observations of this shape; "auto" takes the small one for pixels and the MLP for all else."""
    if name == "auto":
        name = "small" if tuple(shape) == PIXEL_SHAPE else "mlp"
    return TORSOS[name](shape, hidden)
