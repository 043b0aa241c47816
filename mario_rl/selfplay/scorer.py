"""The policy of an agent that chooses placements: one small network scores each of them, the softmax chooses.

The same weights look at every placement, so the order in which placements are listed cannot matter, and what is learned
about one place counts for all. The score of a placement depends on its prospect (environment/drmario/prospects.py) and,
through a bias of the first layer, on the situation of both players. The value depends on the situation alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import Tensor, nn

from mario_rl.environment.drmario.prospects import (
    BOARD_FEATURES,
    PROSPECT_FEATURES,
    SITUATION_FEATURES,
    SLOTS,
    Prospects,
)

ROW = len(PROSPECT_FEATURES)
SITUATION = len(SITUATION_FEATURES)
SEEN = SLOTS * ROW + SITUATION
"""Bytes of an observation: the prospects of all slots, then the situation."""

OBSERVATION_SPACE = spaces.Box(0, 255, (SEEN,), np.uint8)
ACTION_SPACE = spaces.Discrete(SLOTS)

FORBIDDEN = -1e8  # the logit of an empty slot, as sb3-contrib has it

# What a byte is divided by, so that most inputs lie between 0 and 1; 8 for all that is not named.
_LARGE = {
    "viruses": 84.0, "pieces": 40.0, "heights": 64.0, "height_squares": 100.0, "spawn_height": 50.0,
    "near_height": 50.0, "outer_height": 50.0, "highest_square": 200.0, "holes": 32.0, "runs": 32.0,
    "buried_runs": 24.0, "deep_runs": 16.0, "burden": 64.0, "depths": 24.0, "depth_squares": 40.0,
    "below_2": 12.0, "row_2": 12.0, "frames_taken": 32.0, "cells_gone": 16.0, "own_fall": 20.0, "other_fall": 20.0,
    "other_height": 16.0, "lines_made": 2.0, "viruses_taken": 4.0, "passes": 8.0, "chain_links": 2.0,
    "bottle_clear": 1.0, "way_blocked": 1.0, "next_viruses": 4.0, "next_lines": 2.0, "next_virus_run_1": 3.0,
    "next_virus_run_2": 3.0, "next_run_1": 3.0, "next_run_2": 3.0, "next_one_colour": 1.0, "two_players": 1.0,
    "other_settles": 1.0, "attack_on_own": 4.0, "attack_on_other": 4.0,
}  # fmt: skip


def _scales(names: tuple[str, ...]) -> Tensor:
    bare = [
        name.removeprefix("own_").removeprefix("other_")
        if name.removeprefix("own_").removeprefix("other_") in BOARD_FEATURES
        else name
        for name in names
    ]
    return torch.tensor([1 / _LARGE.get(name, 8.0) for name in bare])


def seen_bytes(prospects: Prospects) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """uint8[m, SEEN]: prospects and situation as one observation each."""
    rows = prospects.features.reshape(len(prospects.counts), -1)
    return np.concatenate([rows, prospects.situations], axis=1)


def slot_masks(prospects: Prospects) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """bool[m, SLOTS]: which slots hold a placement."""
    return np.arange(SLOTS) < prospects.counts[:, None]


class PlacementScorer(nn.Module):
    """Scores of placements, and the value of a situation."""

    row_scale: Tensor
    situation_scale: Tensor

    def __init__(self, hidden: int = 32, value_hidden: int = 64):
        super().__init__()
        self.register_buffer("row_scale", _scales(PROSPECT_FEATURES), persistent=False)
        self.register_buffer("situation_scale", _scales(SITUATION_FEATURES), persistent=False)
        self.from_row = nn.Linear(ROW, hidden)
        self.from_situation = nn.Linear(SITUATION, hidden, bias=False)
        self.middle = nn.Linear(hidden, hidden)
        self.score = nn.Linear(hidden, 1, bias=False)
        self.value = nn.Sequential(
            nn.Linear(SITUATION, value_hidden), nn.ReLU(),
            nn.Linear(value_hidden, value_hidden), nn.ReLU(),
            nn.Linear(value_hidden, 1),
        )  # fmt: skip
        for layer in self.modules():
            if isinstance(layer, nn.Linear):
                nn.init.orthogonal_(layer.weight, 2**0.5)
                if layer.bias is not None:
                    nn.init.zeros_(layer.bias)
        for small in (self.score, self.from_situation, self.value[-1]):
            assert isinstance(small, nn.Linear)
            nn.init.orthogonal_(small.weight, 0.1)

    def logits(self, rows: Tensor, situations: Tensor, masks: Tensor) -> Tensor:
        """float[m, slots] of rows uint8[m, slots, ROW], situations (scaled) and masks bool[m, slots].

        Only the slots that hold a placement are computed: about half of them.
        """
        owners = masks.nonzero()[:, 0]
        scaled = rows[masks].to(self.row_scale.dtype) * self.row_scale
        biases = self.from_situation(situations)
        first = torch.relu(self.from_row(scaled) + biases.index_select(0, owners))
        scores = self.score(torch.relu(self.middle(first)))[:, 0]
        return torch.full(masks.shape, FORBIDDEN, dtype=scores.dtype).masked_scatter(masks, scores)

    def values(self, situations: Tensor) -> Tensor:
        """float[m] of situations (scaled)."""
        return self.value(situations)[:, 0]


class ScorerPolicy(MaskableActorCriticPolicy):
    """The scorer as a policy of sb3-contrib's MaskablePPO."""

    scorer: PlacementScorer

    def __init__(self, *args: Any, hidden: int = 32, value_hidden: int = 64, **kwargs: Any):
        self._sizes = {"hidden": hidden, "value_hidden": value_hidden}
        super().__init__(*args, **kwargs)

    def _build(self, lr_schedule: Any) -> None:
        self.scorer = PlacementScorer(**self._sizes)
        self.optimizer = self.optimizer_class(self.parameters(), **{"lr": lr_schedule(1), **self.optimizer_kwargs})

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return super()._get_constructor_parameters() | self._sizes

    def _logits_and_situations(self, seen: Tensor, masks: Any) -> tuple[Tensor, Tensor]:
        rows = seen[:, : SLOTS * ROW].view(-1, SLOTS, ROW)
        situations = seen[:, SLOTS * ROW :].float() * self.scorer.situation_scale
        allowed = torch.as_tensor(masks).view(-1, SLOTS).bool() if masks is not None else (rows != 0).any(dim=2)
        return self.scorer.logits(rows, situations, allowed), situations

    def forward(
        self, obs: Tensor, deterministic: bool = False, action_masks: Any = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Actions, values and log-probabilities of the actions."""
        logits, situations = self._logits_and_situations(obs, action_masks)
        log_probabilities = torch.log_softmax(logits, dim=1)
        drawn = log_probabilities.argmax(dim=1) if deterministic else torch.multinomial(log_probabilities.exp(), 1)
        actions = drawn.view(-1)
        chosen = log_probabilities.gather(1, actions[:, None])[:, 0]
        return actions, self.scorer.values(situations)[:, None], chosen

    def evaluate_actions(
        self, obs: Tensor, actions: Tensor, action_masks: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Values, log-probabilities of the actions, and entropies."""
        logits, situations = self._logits_and_situations(obs, action_masks)
        log_probabilities = torch.log_softmax(logits, dim=1)
        chosen = log_probabilities.gather(1, actions[:, None])[:, 0]
        entropy = -(log_probabilities.exp() * log_probabilities).sum(dim=1)
        return self.scorer.values(situations)[:, None], chosen, entropy

    def get_distribution(self, obs: Any, action_masks: Any = None) -> MaskableDistribution:
        """The distribution over slots; empty ones are forbidden, with masks or without."""
        logits, _ = self._logits_and_situations(obs, action_masks)
        return self.action_dist.proba_distribution(action_logits=logits)

    def predict_values(self, obs: Any) -> Tensor:
        """Values [m, 1]."""
        situations = obs[:, SLOTS * ROW :].float() * self.scorer.situation_scale
        return self.scorer.values(situations)[:, None]
