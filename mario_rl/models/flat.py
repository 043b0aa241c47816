"""All weights of a model in one vector, all gradients in another: what moves between processes is one copy each.

The parameters stay what they are for PyTorch; their storage becomes a slice of `weights`, their `.grad` a slice of
`gradient`. Trainable parameters come first, then everything that only follows (target networks, buffers).
"""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from mario_rl.models.base import Model


class FlatModel:
    """A model whose weights lie in one float32 vector.

    Build it after the model is on its device, and keep `.grad` in place: `zero_gradient`, never `zero_grad`.
    """

    def __init__(self, model: Model):
        self.model = model
        module = cast(nn.Module, model)
        trained = [parameter for parameter in module.parameters() if parameter.requires_grad]
        following: list[Tensor] = [parameter for parameter in module.parameters() if not parameter.requires_grad]
        following += [buffer for buffer in module.buffers() if buffer.is_floating_point()]
        pieces: list[Tensor] = [*trained, *following]
        if not trained or any(piece.dtype != torch.float32 for piece in pieces):
            raise ValueError("a model needs trainable parameters, and all its weights as float32")
        self.trained_size = sum(parameter.numel() for parameter in trained)
        self.weights = torch.cat([piece.detach().reshape(-1) for piece in pieces])
        self.trained = nn.Parameter(self.weights[: self.trained_size])  # the same memory, as an optimiser wants it
        self.gradient = torch.zeros_like(self.weights[: self.trained_size])
        self.trained.grad = self.gradient

        start = 0
        for piece in pieces:
            piece.data = self.weights[start : start + piece.numel()].view_as(piece)
            if piece.requires_grad:
                piece.grad = self.gradient[start : start + piece.numel()].view_as(piece)
            start += piece.numel()

    @property
    def size(self) -> int:
        """Numbers in `weights`."""
        return self.weights.numel()

    def zero_gradient(self) -> None:
        """Forget the gradient, and keep its memory."""
        self.gradient.zero_()

    def gradient_array(self) -> npt.NDArray[np.float32]:
        """The gradient for NumPy: its own memory on the CPU, a copy from elsewhere."""
        return self.gradient.cpu().numpy()

    def weights_array(self) -> npt.NDArray[np.float32]:
        """The weights for NumPy: their own memory on the CPU, a copy from elsewhere."""
        return self.weights.detach().cpu().numpy()

    def load_weights(self, weights: npt.NDArray[np.float32]) -> None:
        """Take all weights over."""
        self.weights.copy_(torch.from_numpy(weights))
