"""Where on a route episodes end before their time: the hotspots of a route, by its own steps instead of by x.

Whoever follows a route comes by with enemies elsewhere than in the route itself. So every state of the route also keeps
the latest consoles with which the agent came by, to practise what it will really meet.
"""

from __future__ import annotations

from typing import Any

import numpy as np

FADE = 0.995  # per episode: about the latest 200 count
KEPT = 8  # consoles for each state
LEAD = (2, 12)  # states of the route before a hard place at which practice begins: from half a second to some seconds


class HardPlaces:
    """The share of episodes that end at each state of a route, among those that come by."""

    def __init__(self, states: int):
        self._came, self._ended = np.zeros((2, states))
        self._kept: list[list[bytes]] = [[] for _ in range(states)]  # the oldest first

    def passed(self, began: int, reached: int, ended_there: bool) -> None:
        """An episode came from one state of the route to another, and ended there or at the flag."""
        self._came *= FADE
        self._ended *= FADE
        self._came[began : reached + 1] += 1
        if ended_there:
            self._ended[min(reached, len(self._ended) - 1)] += 1

    def chances(self) -> np.ndarray:
        """How likely an episode that comes by ends there; one half where nobody has come (Laplace)."""
        return (self._ended + 1) / (self._came + 2)

    def draw_before(self, random: np.random.Generator) -> int:
        """A state some way before a hard place, the harder the likelier."""
        chances = self.chances()
        hard = int(random.choice(len(chances), p=chances / chances.sum()))
        return max(hard - int(random.integers(*LEAD)), 0)

    def keep(self, state: int, console: bytes) -> None:
        """The agent comes by this state of the route; the oldest console goes when there are many."""
        kept = self._kept[state]
        kept.append(console)
        if len(kept) > KEPT:
            kept.pop(0)

    def draw_kept(self, state: int, random: np.random.Generator) -> bytes | None:
        """One of the consoles kept for a state, if there is one."""
        kept = self._kept[state]
        return kept[int(random.integers(len(kept)))] if kept else None

    def state_dict(self) -> dict[str, Any]:
        """Everything counted so far."""
        return {"came": self._came.tolist(), "ended": self._ended.tolist(), "kept": [list(kept) for kept in self._kept]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken."""
        self._came, self._ended = np.array(state["came"]), np.array(state["ended"])
        self._kept = [list(kept) for kept in state["kept"]]
