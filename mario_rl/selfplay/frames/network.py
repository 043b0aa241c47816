"""What every network of the agent that presses buttons has in common, and where to get one.

| kind    | how it sees the bottle                                                                | file               |
|---------|---------------------------------------------------------------------------------------|--------------------|
| landing | the cells around each place where the capsule could land, all judged by one network   | landing_network.py |
| cnn     | the 12 planes as a picture, by convolutions; buttons straight from what they find     | cnn.py             |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from mario_rl.environment.drmario.buttons import DISCRETE
from mario_rl.selfplay.frames.config import NETWORKS

ACTIONS = len(DISCRETE)
NOTHING = 0  # the action
IMPOSSIBLE = -30.0  # a log-probability that never happens, but leaves gradients and entropies finite


@dataclass
class Thought:
    """What a network makes of n observations. Where no capsule is falling, "nothing" is certain."""

    falling: Tensor  # bool[n]
    log_buttons: Tensor  # [n, 12]: the policy
    value: Tensor  # [n]

    def decided(self) -> Tensor:
        """long[n]: the buttons of somebody who has made up its mind."""
        return self.log_buttons.argmax(1)

    def loss(self, actions: Tensor, values: Tensor) -> Tensor:
        """How far it is from a teacher's buttons, long[n], and ratings of the 32 targets, [n, 32].

        Only about observations in all of which a capsule is falling.
        """
        del values  # it knows no targets
        return -self.log_buttons[torch.arange(len(actions)), actions].mean()


class FramesNetwork(nn.Module, ABC):
    """Parameters whose names begin with "critic" are the critic's, which has a learning rate of its own.

    `width` is the size of its layers; `certainty` is for those that know targets (landing_network.py).
    """

    kind: ClassVar[str]

    def __init__(self, width: int, certainty: float):
        super().__init__()
        self.width = width
        self.certainty = certainty

    @abstractmethod
    def forward(self, seen: dict[str, Tensor]) -> Thought:
        """Think about observations (observation.py)."""


def is_falling(planes: Tensor) -> Tensor:
    """bool[n]: a capsule is in the air."""
    return planes[:, 4].flatten(1).any(1)


def resting_buttons(count: int) -> Tensor:
    """[n, 12]: log-probabilities of somebody who presses nothing."""
    log_buttons = torch.full((count, ACTIONS), IMPOSSIBLE)
    log_buttons[:, NOTHING] = 0
    return log_buttons


def make_network(kind: str, width: int, certainty: float) -> FramesNetwork:
    """A new network of one of NETWORKS."""
    from mario_rl.selfplay.frames.cnn import CnnNetwork
    from mario_rl.selfplay.frames.landing_network import LandingNetwork

    made: dict[str, type[FramesNetwork]] = {network.kind: network for network in (LandingNetwork, CnnNetwork)}
    if kind not in made:
        raise ValueError(f"unknown network {kind!r}; use one of {', '.join(NETWORKS)}")
    return made[kind](width, certainty)
