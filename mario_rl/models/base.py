"""What a model is: the network (or networks) an agent decides with, and how it decides.

Invariants, which tests/contracts/test_models.py checks for every model of the registry:
- `parameters()` with `requires_grad` are the ones a coordinator trains; all others follow by `sync_target` or
  `Learner.update_targets`.
- `select_action` is deterministic at epsilon 0; `sample_action` is the policy as it was trained, with its randomness.
- All randomness comes from the generator that is passed in, so that a run can be repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, Protocol

import torch
from torch import Tensor, nn

__all__ = ["Model", "Network", "sometimes_random"]

Network = Literal["online", "target"]


class Model(Protocol):
    """A network that decides. Implementations are `torch.nn.Module`s, which gives them all but the first six."""

    shows: str
    """What `action_values` are, for people: "Q" or "probability"."""

    def forward(self, x: Tensor, network: Network = "online") -> Tensor:
        """One number per action, float32[n, actions]: Q-values or logits. x is a batch of observations as they come."""

    def select_action(self, x: Tensor, epsilon: float = 0.0, generator: torch.Generator | None = None) -> Tensor:
        """The best actions, int64[n]; with chance epsilon a random one."""

    def sample_action(self, x: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Actions of the stochastic policy, int64[n]: what "stochastic" means in an evaluation."""

    def action_values(self, x: Tensor) -> Tensor:
        """What the model thinks of each action, float32[n, actions], for people to look at."""

    def sync_target(self) -> None:
        """Copy the online network into the target network (nothing, if there is none)."""

    def parameters(self, recurse: bool = True) -> Iterator[nn.Parameter]:
        """All parameters; those that a coordinator trains have `requires_grad`."""

    def state_dict(self) -> dict[str, Any]:
        """All weights by name."""

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> Any:
        """Take weights over."""

    def to(self, device: torch.device | str) -> Any:
        """Move to a device."""


def sometimes_random(best: Tensor, epsilon: float | Tensor, actions: int, generator: torch.Generator | None) -> Tensor:
    """These actions, int64[n]; with chance epsilon (for all rows, or one each) a random one of `actions` instead.

    At a chance of 0 for all rows nothing is drawn from the generator.
    """
    if not isinstance(epsilon, Tensor) and epsilon == 0:
        return best
    roll = torch.rand(len(best), generator=generator)
    random = torch.randint(actions, (len(best),), generator=generator)
    return torch.where((roll < epsilon).to(best.device), random.to(best.device), best)
