"""Which virus levels are played: easy ones first, and a harder one when the hardest so far is cleared often enough."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

WINDOW = 20  # rounds of the hardest level that count


class Curriculum:
    """Levels from `first` up to `hardest`, which rises to `last`."""

    def __init__(self, first: int, last: int, pass_rate: float):
        self.first, self.last = first, last
        self.hardest = first
        self._pass_rate = pass_rate
        self._recent: deque[bool] = deque(maxlen=WINDOW)
        self.passed = False
        """The last level is cleared often enough, too."""

    def levels(self) -> list[int]:
        """What to draw from: half of the rounds at the hardest two levels, the others at any."""
        known = list(range(self.first, self.hardest + 1))
        return known + known[-2:] * max(1, len(known) // 2)

    def played(self, level: int, cleared: bool) -> bool:
        """A round has ended; whether a harder level is to be played from now on."""
        if level != self.hardest or self.passed:
            return False
        self._recent.append(cleared)
        if len(self._recent) < WINDOW or sum(self._recent) < self._pass_rate * WINDOW:
            return False
        self._recent.clear()
        if self.hardest == self.last:
            self.passed = True
            return False
        self.hardest += 1
        return True

    def state_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"hardest": self.hardest, "recent": list(self._recent), "passed": self.passed}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly there."""
        self.hardest, self.passed = int(state["hardest"]), bool(state["passed"])
        self._recent = deque((bool(entry) for entry in state["recent"]), maxlen=WINDOW)
