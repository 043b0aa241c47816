"""The network of the agent that presses buttons: where to go, how to get there, and what it is worth.

A choice of buttons is a mixture over the 32 targets t (landing.py),

    P(buttons | seen) = sum over t of  P(t | seen)  P(buttons | t, where the capsule is, what is held)

Both factors are learned, by PPO through this very sum; but as the first does not depend on where the capsule is, the
agent keeps to its target while it steers. What finds the target is a subclass's:

| kind    | how it sees the bottle                                                              | file               |
|---------|-------------------------------------------------------------------------------------|--------------------|
| landing | the cells around each place where the capsule could land, all judged by one network | landing_network.py |
| cnn     | the planes as a picture, by convolutions                                            | cnn.py             |

Buttons are drawn anew in every step. If P(t | seen) were as wide as the doubt about the best target, the capsule would
waver between all that are any good; so there the scores count `certainty` times.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from mario_rl.environment.drmario.buttons import DISCRETE
from mario_rl.environment.drmario.memory import COLUMNS, ROWS
from mario_rl.environment.drmario.observation import FEATURES
from mario_rl.selfplay.frames.config import NETWORKS
from mario_rl.selfplay.frames.landing import ROTATIONS, TARGETS, Outlook, outlook
from mario_rl.selfplay.frames.observation import HELD_BUTTONS

ACTIONS = len(DISCRETE)
NOTHING = 0  # the action
IMPOSSIBLE = -30.0  # a log-probability that never happens, but leaves gradients and entropies finite
HARDNESS = 6.0  # a target this much worse in the teacher's ratings (a virus is about 40) is worth 1/e as often
LONGEST_WAY = COLUMNS - 1
HOPES = 3  # that a capsule is falling, the best score, the row


@dataclass
class Thought:
    """What a network makes of n observations, in k of which a capsule is falling."""

    falling: Tensor  # bool[n]
    log_buttons: Tensor  # [n, 12]: the policy; "nothing" where no capsule is falling
    value: Tensor  # [n]
    log_targets: Tensor  # [k, 32]: how likely each is the best one
    log_steering: Tensor  # [k, 32, 12]: the buttons, if it were for that target

    def decided(self) -> Tensor:
        """long[n]: the best buttons for the best target. (The most probable buttons may waver between two targets.)"""
        best = self.log_targets.argmax(1)
        buttons = torch.full((len(self.falling),), NOTHING)
        buttons[self.falling] = self.log_steering[torch.arange(len(best)), best].argmax(1)
        return buttons

    def loss(self, actions: Tensor, values: Tensor) -> Tensor:
        """How far it is from a teacher's buttons, long[n], and ratings of the targets, [n, 32]: cross-entropies.

        That of the targets, and that of the buttons for the best one. In all observations a capsule must be falling.
        """
        buttons = self.log_steering[torch.arange(len(actions)), values.argmax(1), actions].mean()
        wanted = (values / HARDNESS).softmax(1)
        return -buttons - (wanted * self.log_targets).sum(1).mean()


class FramesNetwork(nn.Module, ABC):
    """`width`: twice the numbers in which a target is judged; `certainty`: see above.

    Parameters whose names begin with "critic" are the critic's, which has a learning rate of its own.
    """

    kind: ClassVar[str]

    def __init__(self, width: int, certainty: float):
        super().__init__()
        self.width = width
        self.certainty = certainty
        half = width // 2
        self.score = nn.Linear(half, 1)
        self.way = nn.Embedding(2 * LONGEST_WAY + 1, half)  # columns to go
        self.turn = nn.Embedding(ROTATIONS * ROTATIONS, half)  # from a rotation to another
        self.thumbs = nn.Linear(len(HELD_BUTTONS) + 2, half)
        self.steering = nn.Sequential(nn.ReLU(), nn.Linear(half, half), nn.ReLU(), nn.Linear(half, ACTIONS))
        self.critic = nn.Sequential(nn.Linear(len(FEATURES) + HOPES + half, 64), nn.Tanh(), nn.Linear(64, 1))

    @abstractmethod
    def judged(self, planes: Tensor, features: Tensor, hand: Tensor, ahead: Outlook) -> Tensor:
        """[k, 32, half]: what it makes of the targets of k games; of nothing that changes while the capsule falls."""

    def forward(self, seen: dict[str, Tensor]) -> Thought:
        """Think about observations (observation.py)."""
        falling = _is_falling(seen["planes"])
        log_buttons = _resting_buttons(len(falling))
        hopes = torch.zeros(len(falling), HOPES + self.width // 2)

        # While a capsule settles, which is half of the time, there is nothing to think about.
        planes, features, hand = (seen[name][falling] for name in ("planes", "features", "hand"))
        ahead = outlook(planes, hand)
        judged = self.judged(planes, features, hand, ahead)
        scores = self.score(judged).squeeze(2).masked_fill(~ahead.possible, IMPOSSIBLE)
        log_targets = scores.log_softmax(1)
        log_steering = self._steering(ahead, hand)
        pursued = (scores * self.certainty).log_softmax(1)
        log_buttons[falling] = torch.logsumexp(pursued[:, :, None] + log_steering, 1)
        hopes[falling] = _hopes(ahead, log_targets, scores, judged)
        value = self.critic(torch.cat([seen["features"], hopes], 1)).squeeze(1)
        return Thought(falling, log_buttons, value, log_targets, log_steering)

    def _steering(self, ahead: Outlook, hand: Tensor) -> Tensor:
        """[n, 32, 12]"""
        target = torch.arange(TARGETS)
        way = target % COLUMNS - ahead.x[:, None] + LONGEST_WAY
        turn = ahead.rotation[:, None] * ROTATIONS + target // COLUMNS
        thumbs = self.thumbs(torch.cat([hand[:, : len(HELD_BUTTONS)], ahead.room], 1))
        return self.steering(self.way(way) + self.turn(turn) + thumbs[:, None]).log_softmax(2)


def _hopes(ahead: Outlook, log_targets: Tensor, scores: Tensor, judged: Tensor) -> Tensor:
    """[k, HOPES + half], for the critic: what can be expected of this capsule, and how far it has fallen.

    Detached: the critic looks at what the scorer finds, it does not change what it looks for.
    """
    expected = (judged * log_targets.exp()[:, :, None]).sum(1)
    best = scores.amax(1) / 10
    row = ahead.row / ROWS
    return torch.cat([torch.ones_like(best)[:, None], best[:, None], row[:, None], expected], 1).detach()


def _is_falling(planes: Tensor) -> Tensor:
    """bool[n]: a capsule is in the air."""
    return planes[:, 4].flatten(1).any(1)


def _resting_buttons(count: int) -> Tensor:
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
