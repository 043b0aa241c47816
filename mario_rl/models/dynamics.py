"""The recurrent state-space model: how the state of the game goes on (Hafner et al. 2019, PlaNet, section 3).

A state is a deterministic part, which a GRU carries on, and a stochastic part: categorical variables (Hafner et al.
2021, DreamerV2, section 2.1), each one-hot. After an action the **prior** says which they could be; once the
observation is there, the **posterior** says which they are.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from mario_rl.models.sights import layer

UNIMIX = 0.01  # the share of every categorical that is uniform (DreamerV3, section "World model learning")


class State(NamedTuple):
    """States of the game as the model knows them, one a row."""

    deterministic: Tensor  # float32[n, deterministic]
    stochastic: Tensor  # float32[n, variables * classes], one-hot for every variable

    @property
    def features(self) -> Tensor:
        """Both parts side by side, for heads."""
        return torch.cat(self, dim=-1)

    def where(self, kept: Tensor) -> State:
        """The same, and nothing remembered where `kept`, float32[n, 1], is 0."""
        return State(self.deterministic * kept, self.stochastic * kept)

    def detached(self) -> State:
        """Without a way back for gradients."""
        return State(self.deterministic.detach(), self.stochastic.detach())


class Dynamics(nn.Module):
    """Prior and posterior of the next state. Probabilities are float32[n, variables, classes]."""

    def __init__(self, deterministic: int, variables: int, classes: int, hidden: int, actions: int):
        super().__init__()
        self.deterministic, self.variables, self.classes, self.actions = deterministic, variables, classes, actions
        stochastic = variables * classes
        self.arrive = layer(stochastic + actions, hidden)
        self.carry = nn.GRUCell(hidden, deterministic)
        self.expect = nn.Sequential(layer(deterministic, hidden), nn.Linear(hidden, stochastic))
        self.recognise = nn.Sequential(layer(deterministic + hidden + 1, hidden), nn.Linear(hidden, stochastic))

    def nothing(self, count: int, device: torch.device | str) -> State:
        """The state before an episode's first observation."""
        shape = (self.deterministic, self.variables * self.classes)
        return State(*(torch.zeros(count, size, device=device) for size in shape))

    def go_on(self, state: State, actions: Tensor) -> Tensor:
        """The deterministic part after these actions, float32[n, actions]: one-hot, or 0 where an episode begins."""
        return self.carry(self.arrive(torch.cat([state.stochastic, actions], dim=-1)), state.deterministic)

    def prior(self, deterministic: Tensor) -> Tensor:
        """Which stochastic parts are to be expected."""
        return self._probabilities(self.expect(deterministic))

    def posterior(self, deterministic: Tensor, seen: Tensor, terminal: Tensor) -> Tensor:
        """Which ones these are, now that `seen` is there. `terminal` is 1 where the episode is over.

        That bit is part of what is seen: a death by an enemy does not show in the observation, and a model that cannot
        see deaths does not foresee them (facts: P(continue) of terminal states stays near 1/2 without it).
        """
        return self._probabilities(self.recognise(torch.cat([deterministic, seen, terminal[..., None]], dim=-1)))

    def _probabilities(self, logits: Tensor) -> Tensor:
        split = logits.reshape(*logits.shape[:-1], self.variables, self.classes)
        return (1 - UNIMIX) * split.softmax(-1) + UNIMIX / self.classes


def noise(shape: tuple[int, ...], generator: torch.Generator | None, device: torch.device | str) -> Tensor:
    """Exponentially distributed numbers, for `draw`; from the CPU's generator whatever the device."""
    return torch.empty(shape).exponential_(generator=generator).clamp_(min=1e-20).to(device)


def draw(probabilities: Tensor, exponential: Tensor | None) -> Tensor:
    """One class of every variable, one-hot and flat; the likeliest if there is no noise.

    The class that comes first if each rings after exponentially distributed time is class i with its probability. The
    gradient goes straight through, as if the draw were its probabilities (DreamerV2, section 2.1).
    """
    rates = probabilities.detach()
    chosen = (rates if exponential is None else rates / exponential).argmax(-1, keepdim=True)
    one_hot = torch.zeros_like(rates).scatter_(-1, chosen, 1.0)
    if probabilities.requires_grad:
        one_hot = one_hot + (probabilities - rates)
    return one_hot.flatten(-2)


def divergence(p: Tensor, q: Tensor) -> Tensor:
    """KL(p || q) of independent categoricals, in nats, float32[...]."""
    return (p * (p.log() - q.log())).sum((-1, -2))
