"""A model at play on some lanes: it sees, it acts; if it has a memory, that is kept here, lane by lane."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from mario_rl.models.base import Model


class AtPlay(Protocol):
    """Call `see`, then `act` (and `values` in between, if people look on), step by step."""

    def see(self, x: Tensor, began: Tensor, generator: torch.Generator | None = None) -> None:
        """Take in the observations of all lanes. Where an episode `began`, bool[n], what was before is forgotten."""

    def values(self) -> Tensor:
        """What the model thinks of each action now, float32[n, actions]."""

    def act(self, generator: torch.Generator | None = None) -> Tensor:
        """What it does, int64[n]: drawn from its policy with a generator, the best without."""


@runtime_checkable
class Remembering(Protocol):
    """What a model with a memory has besides `Model`."""

    def at_play(self, lanes: int) -> AtPlay:
        """The model on so many lanes whose episodes are about to begin."""


class Reflexes:
    """A model without a memory: it acts on what it sees."""

    def __init__(self, model: Model):
        self._model = model
        self._seen = torch.zeros(0)

    def see(self, x: Tensor, began: Tensor, generator: torch.Generator | None = None) -> None:
        """See `AtPlay.see`."""
        self._seen = x

    def values(self) -> Tensor:
        """See `AtPlay.values`."""
        return self._model.action_values(self._seen)

    def act(self, generator: torch.Generator | None = None) -> Tensor:
        """See `AtPlay.act`."""
        if generator is None:
            return self._model.select_action(self._seen)
        return self._model.sample_action(self._seen, generator)


def at_play(model: Model, lanes: int) -> AtPlay:
    """This model on so many lanes."""
    return model.at_play(lanes) if isinstance(model, Remembering) else Reflexes(model)
