"""A plain convolutional network: the planes in, buttons and value out.

SB3's NatureCNN wants pictures of 36 x 36 and more. A bottle has 16 x 8 cells, and each counts: two layers of 3 x 3, the
second one of which halves the rows, then a dense one.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mario_rl.environment.drmario.memory import COLOUR_COUNT, COLUMNS, ROWS
from mario_rl.environment.drmario.observation import FEATURES, PLANES
from mario_rl.selfplay.frames.network import ACTIONS, FramesNetwork, Thought, is_falling, resting_buttons
from mario_rl.selfplay.frames.observation import HAND

COLOURS = 2 * COLOUR_COUNT  # of the capsule's halves: the end of the hand


class CnnNetwork(FramesNetwork):
    """`width`: half the channels of the convolutions, half the units of the dense layer."""

    kind = "cnn"

    def __init__(self, width: int = 64, certainty: float = 8.0):
        super().__init__(width, certainty)
        channels, units = max(width // 2, 1), 2 * width
        # The capsule's colours are planes of their own, so that "the same colour" is a local question.
        self.convolutions = nn.Sequential(
            nn.Conv2d(PLANES[0] + COLOURS, channels, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, stride=(2, 1), padding=1),
            nn.ReLU(),
            nn.Flatten(),
        )
        cells = channels * (ROWS // 2) * COLUMNS
        self.dense = nn.Sequential(nn.Linear(cells + len(FEATURES) + HAND, units), nn.ReLU())
        self.buttons = nn.Linear(units, ACTIONS)
        self.critic = nn.Sequential(nn.Linear(units + len(FEATURES), 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, seen: dict[str, Tensor]) -> Thought:
        """See `FramesNetwork.forward`."""
        planes, features, hand = seen["planes"], seen["features"], seen["hand"]
        falling = is_falling(planes)
        colours = hand[:, -COLOURS:, None, None].expand(-1, -1, ROWS, COLUMNS)
        found = self.convolutions(torch.cat([planes, colours], 1))
        found = self.dense(torch.cat([found, features, hand], 1))
        log_buttons = torch.where(falling[:, None], self.buttons(found).log_softmax(1), resting_buttons(len(planes)))
        # Detached: the critic looks at what the actor finds, it does not change what it looks for.
        value = self.critic(torch.cat([found.detach(), features], 1)).squeeze(1)
        return Thought(falling, log_buttons, value)
