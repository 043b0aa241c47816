"""Finds the target with convolutions over the planes of the bottles.

SB3's NatureCNN wants pictures of 36 x 36 and more. A bottle has 16 x 8 cells, and each counts: two layers of 3 x 3,
then one that looks at three whole columns at a time and says what it finds about each rotation there.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mario_rl.environment.drmario.memory import COLOUR_COUNT, COLUMNS, ROWS
from mario_rl.environment.drmario.observation import PLANES_PER_SIDE
from mario_rl.selfplay.frames.landing import ROTATIONS, TARGETS, Outlook
from mario_rl.selfplay.frames.network import FramesNetwork

# Of either bottle: what lies in it. The falling capsules, the other two planes, are left out: the target would waver.
LYING = [*range(4), *range(PLANES_PER_SIDE, PLANES_PER_SIDE + 4)]
COLOURS = 2 * COLOUR_COUNT  # of the halves of a capsule
NEXT = slice(1, 1 + COLOURS)  # among the features


class CnnNetwork(FramesNetwork):
    """`width`: twice the channels of the first two layers."""

    kind = "cnn"

    def __init__(self, width: int = 64, certainty: float = 8.0):
        super().__init__(width, certainty)
        half = width // 2
        # The capsules' colours are planes of their own, so that "the same colour" is a local question.
        self.convolutions = nn.Sequential(
            nn.Conv2d(len(LYING) + 2 * COLOURS, half, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(half, half, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(half, ROTATIONS * half, (ROWS, 3), padding=(0, 1)),
            nn.ReLU(),
        )

    def judged(self, planes: Tensor, features: Tensor, hand: Tensor, ahead: Outlook) -> Tensor:
        """See `FramesNetwork.judged`."""
        colours = torch.cat([hand[:, -COLOURS:], features[:, NEXT]], 1)[:, :, None, None].expand(-1, -1, ROWS, COLUMNS)
        found = self.convolutions(torch.cat([planes[:, LYING], colours], 1))  # [n, rotations x half, 1, columns]
        return found.view(-1, ROTATIONS, self.width // 2, COLUMNS).transpose(2, 3).reshape(-1, TARGETS, self.width // 2)
