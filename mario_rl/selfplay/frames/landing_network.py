"""Finds the target by looking at each place where the capsule could land: one small network judges all of them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mario_rl.environment.drmario.memory import COLUMNS
from mario_rl.selfplay.frames.landing import ABOUT, ROTATIONS, VIEW, Outlook, target_views
from mario_rl.selfplay.frames.network import FramesNetwork


class LandingNetwork(FramesNetwork):
    """`width`: units of the first layer; the second one has half of them."""

    kind = "landing"

    def __init__(self, width: int = 64, certainty: float = 8.0):
        super().__init__(width, certainty)
        # a flat and an upright capsule see different cells at the same offsets
        self.flat, self.upright = nn.Linear(VIEW + ABOUT, width), nn.Linear(VIEW + ABOUT, width)
        self.scorer = nn.Sequential(nn.ReLU(), nn.Linear(width, width // 2), nn.ReLU())

    def judged(self, planes: Tensor, features: Tensor, hand: Tensor, ahead: Outlook) -> Tensor:
        """See `FramesNetwork.judged`."""
        targets = target_views(planes, features, hand, ahead.rests).view(-1, ROTATIONS, COLUMNS, VIEW + ABOUT)
        flat, upright = self.flat(targets[:, 0::2]), self.upright(targets[:, 1::2])
        return self.scorer(torch.stack([flat, upright], 2).flatten(1, 3))
