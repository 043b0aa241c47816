"""The network of the agent that presses buttons: where to go, how to get there, and what it is worth.

A choice of buttons is a mixture over the 32 targets t of landing.py,

    P(buttons | seen) = sum over t of  P(t | seen)  P(buttons | t, where the capsule is, what is held)

with one small scorer shared by all targets, and one small steering network, also shared. Both factors are learned, by
PPO through this very sum; but as the first does not depend on where the capsule is, the agent keeps to its target while
it steers. A plain CNN on the planes would have to learn that in every place anew.

Buttons are drawn anew in every step. If P(t | seen) were as wide as the doubt about the best target, the capsule would
waver between all that are any good; so there the scores count `certainty` times.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mario_rl.environment.drmario.buttons import DISCRETE
from mario_rl.environment.drmario.memory import COLUMNS, ROWS
from mario_rl.environment.drmario.observation import FEATURES
from mario_rl.selfplay.frames.landing import ABOUT, ROTATIONS, TARGETS, VIEW, Outlook, outlook
from mario_rl.selfplay.frames.observation import HELD_BUTTONS

ACTIONS = len(DISCRETE)
NOTHING = 0  # the action
IMPOSSIBLE = -30.0  # a log-probability that never happens, but leaves gradients and entropies finite
LONGEST_WAY = COLUMNS - 1
HOPES = 3  # that a capsule is falling, the best score, the row


@dataclass
class Thought:
    """What the network makes of n observations, in k of which a capsule is falling."""

    falling: Tensor  # bool[n]
    log_targets: Tensor  # [k, 32]: how likely each is the best one
    log_steering: Tensor  # [k, 32, 12]: the buttons, if it were for that target
    log_buttons: Tensor  # [n, 12]: the policy; "nothing" where no capsule is falling
    value: Tensor  # [n]

    def decided(self) -> Tensor:
        """long[n]: the best buttons for the best target. (The most probable buttons may waver between two targets.)"""
        best = self.log_targets.argmax(1)
        buttons = torch.full((len(self.falling),), NOTHING)
        buttons[self.falling] = self.log_steering[torch.arange(len(best)), best].argmax(1)
        return buttons


class FramesNetwork(nn.Module):
    """`width`: units of the scorer's first layer; `certainty`: see above."""

    def __init__(self, width: int = 64, certainty: float = 8.0):
        super().__init__()
        self.width = width
        self.certainty = certainty
        half = width // 2
        # a flat and an upright capsule see different cells at the same offsets
        self.flat, self.upright = nn.Linear(VIEW + ABOUT, width), nn.Linear(VIEW + ABOUT, width)
        self.scorer = nn.Sequential(nn.ReLU(), nn.Linear(width, half), nn.ReLU())
        self.score = nn.Linear(half, 1)
        self.way = nn.Embedding(2 * LONGEST_WAY + 1, half)  # columns to go
        self.turn = nn.Embedding(ROTATIONS * ROTATIONS, half)  # from a rotation to another
        self.thumbs = nn.Linear(len(HELD_BUTTONS) + 2, half)
        self.steering = nn.Sequential(nn.ReLU(), nn.Linear(half, half), nn.ReLU(), nn.Linear(half, ACTIONS))
        self.critic = nn.Sequential(nn.Linear(len(FEATURES) + HOPES + half, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, seen: dict[str, Tensor]) -> Thought:
        """Think about observations (observation.py)."""
        falling = seen["planes"][:, 4].flatten(1).any(1)
        features = seen["features"]
        log_buttons = torch.full((len(falling), ACTIONS), IMPOSSIBLE)
        log_buttons[:, NOTHING] = 0
        hopes = torch.zeros(len(falling), HOPES + self.width // 2)

        # While a capsule settles, which is half of the time, there is nothing to think about.
        hand = seen["hand"][falling]
        ahead = outlook(seen["planes"][falling], features[falling], hand)
        judged = self._judged(ahead)
        scores = self.score(judged).squeeze(2).masked_fill(~ahead.possible, IMPOSSIBLE)
        log_targets = scores.log_softmax(1)
        log_steering = self._steering(ahead, hand)
        pursued = (scores * self.certainty).log_softmax(1)
        log_buttons[falling] = torch.logsumexp(pursued[:, :, None] + log_steering, 1)
        hopes[falling] = _hopes(ahead, log_targets, scores, judged)
        value = self.critic(torch.cat([features, hopes], 1)).squeeze(1)
        return Thought(falling, log_targets, log_steering, log_buttons, value)

    def _judged(self, ahead: Outlook) -> Tensor:
        """[n, 32, half]"""
        targets = torch.cat([ahead.views, ahead.about], 2).view(-1, ROTATIONS, COLUMNS, VIEW + ABOUT)
        flat, upright = self.flat(targets[:, 0::2]), self.upright(targets[:, 1::2])
        return self.scorer(torch.stack([flat, upright], 2).flatten(1, 3))

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
