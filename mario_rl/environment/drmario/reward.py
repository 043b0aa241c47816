"""The reward: named terms, each with a weight, and two presets of weights.

| term        | paid                                                                                 | first | scaled  |
|-------------|--------------------------------------------------------------------------------------|-------|---------|
| virus       | per virus the agent cleared                                                          | 100   | 0.1     |
| survival    | every step                                                                           | 0.1   | 0       |
| height      | every step, per row of the average height of the agent's eight columns               | -0.5  | -0.0002 |
| pills       | per piece of a capsule (or of garbage) it cleared                                    | 5     | 0.005   |
| combo       | per line beyond the first that one capsule cleared, at once or in a chain            | 20    | 0.02    |
| win         | once: its last virus is gone, or the opponent topped out                             | 1000  | 1       |
| loss        | once: the opponent's last virus is gone                                              | -500  | -1      |
| draw        | once: both cleared, or both topped out, in the same frame                            | 0     | 0       |
| top_out     | once: no room for the agent's next capsule (this is also a loss, which is not paid)  | -1000 | -1      |
| virus_lead  | per virus by which it gained on the opponent (they clear one: -1); two players only  | 0     | 0       |
| exploration | when a capsule comes to rest: 1 / sqrt(n) for the n-th in that column and rotation   | 0     | 0       |

"first" is the first design and the default; "scaled" has the magnitudes PPO trains with. `exploration` fades by itself:
n counts over all episodes of a lane.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from mario_rl.environment.drmario.episode import Outcome

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class RewardWeights:
    """What each term of the reward is worth; the defaults are the preset "first"."""

    virus: float = 100.0
    survival: float = 0.1
    height: float = -0.5
    pills: float = 5.0
    combo: float = 20.0
    win: float = 1000.0
    loss: float = -500.0
    draw: float = 0.0
    top_out: float = -1000.0
    virus_lead: float = 0.0
    exploration: float = 0.0

    @classmethod
    def of(cls, weights: RewardWeights | str | Mapping[str, float | str] | None) -> RewardWeights:
        """The weights as given, a preset by name, or a preset with some terms replaced by name.

        {"preset": "scaled", "combo": 0.1} is "scaled" with another combo; without "preset" it is "first".
        """
        if isinstance(weights, RewardWeights):
            return weights
        given = {"preset": weights} if isinstance(weights, str) else dict(weights or {})
        preset = given.pop("preset", "first")
        if preset not in PRESETS:
            raise ValueError(f"unknown rewards {preset!r}; the presets are {', '.join(PRESETS)}")
        values = vars(PRESETS[str(preset)]).copy()
        for name, value in given.items():
            if name not in TERMS:
                raise ValueError(f"unknown reward term {name!r}; the terms are {', '.join(TERMS)}")
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ValueError(f"the weight of the reward term {name} is a number, not {value!r}")
            values[name] = float(value)
        return cls(**values)


TERMS = tuple(field.name for field in fields(RewardWeights))
PRESETS = {
    "first": RewardWeights(),
    "scaled": RewardWeights(
        virus=0.1, survival=0.0, height=-0.0002, pills=0.005, combo=0.02, win=1.0, loss=-1.0, top_out=-1.0
    ),
}


def reward_terms(outcome: Outcome, weights: RewardWeights) -> dict[str, Floats]:
    """Each term of a step's reward, weighted, float32[n]; the reward is their sum."""
    amounts = {
        "virus": outcome.viruses,
        "survival": np.ones(len(outcome.viruses)),
        "height": outcome.height,
        "pills": outcome.pieces,
        "combo": outcome.links,
        "win": outcome.win,
        "loss": outcome.loss,
        "draw": outcome.draw,
        "top_out": outcome.top_out,
        "virus_lead": outcome.virus_lead,
        "exploration": outcome.novelty,
    }
    return {name: (amount * getattr(weights, name)).astype(np.float32) for name, amount in amounts.items()}


def total(terms: Mapping[str, Floats]) -> Floats:
    """The reward, float32[n]."""
    return np.sum(list(terms.values()), axis=0, dtype=np.float32)
