"""A network that knows what a capsule is for: where to go, how to get there, and what it is worth.

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

from mario_rl.environment.drmario.memory import COLUMNS, ROWS
from mario_rl.environment.drmario.observation import FEATURES
from mario_rl.selfplay.frames.landing import ABOUT, ROTATIONS, TARGETS, VIEW, Outlook, outlook
from mario_rl.selfplay.frames.network import (
    ACTIONS,
    IMPOSSIBLE,
    NOTHING,
    FramesNetwork,
    Thought,
    is_falling,
    resting_buttons,
)
from mario_rl.selfplay.frames.observation import HELD_BUTTONS

HARDNESS = 6.0  # a target this much worse in the teacher's ratings (a virus is about 40) is worth 1/e as often
LONGEST_WAY = COLUMNS - 1
HOPES = 3  # that a capsule is falling, the best score, the row


@dataclass
class LandingThought(Thought):
    """Where it would go, too, in the k observations in which a capsule is falling."""

    log_targets: Tensor  # [k, 32]: how likely each is the best one
    log_steering: Tensor  # [k, 32, 12]: the buttons, if it were for that target

    def decided(self) -> Tensor:
        """The best buttons for the best target. (The most probable buttons may waver between two targets.)"""
        best = self.log_targets.argmax(1)
        buttons = torch.full((len(self.falling),), NOTHING)
        buttons[self.falling] = self.log_steering[torch.arange(len(best)), best].argmax(1)
        return buttons

    def loss(self, actions: Tensor, values: Tensor) -> Tensor:
        """Cross-entropies of the targets, and of the buttons for the best of them."""
        buttons = self.log_steering[torch.arange(len(actions)), values.argmax(1), actions].mean()
        wanted = (values / HARDNESS).softmax(1)
        return -buttons - (wanted * self.log_targets).sum(1).mean()


class LandingNetwork(FramesNetwork):
    """`width`: units of the scorer's first layer; `certainty`: see above."""

    kind = "landing"

    def __init__(self, width: int = 64, certainty: float = 8.0):
        super().__init__(width, certainty)
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

    def forward(self, seen: dict[str, Tensor]) -> LandingThought:
        """See `FramesNetwork.forward`."""
        falling = is_falling(seen["planes"])
        features = seen["features"]
        log_buttons = resting_buttons(len(falling))
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
        return LandingThought(falling, log_buttons, value, log_targets, log_steering)

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
