"""Experience of self-play: for every seat a strand of decisions, each with what it led to.

Seats decide at different times, so experience does not come in the even grid of a vector environment. Every decision is
written into the next row; the seat's next decision, or the end of the round, completes it. Complete rows go to the
learner with their advantages; a row that still waits for its outcome stays for the next time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from mario_rl.environment.drmario.memory import Ints
from mario_rl.environment.lane_state import Arrays
from mario_rl.selfplay.scorer import SEEN

Floats = npt.NDArray[np.float32]
NONE = -1


class Experience(NamedTuple):
    """Complete decisions with their advantages, ready to learn from."""

    seen: npt.NDArray[np.uint8]
    counts: Ints
    actions: npt.NDArray[np.int64]
    log_probabilities: Floats
    values: Floats
    advantages: Floats
    returns: Floats


class Strands:
    """The decisions of `lanes` seats: at most `rows` of them before they have to be taken out."""

    def __init__(self, lanes: int, rows: int):
        self.lanes = lanes
        self._used = np.zeros(1, np.int64)
        self._open = np.full(lanes, NONE, np.int64)  # the row of each seat's last decision, while it has no outcome
        self._lane = np.zeros(rows, np.int32)
        self._seen = np.zeros((rows, SEEN), np.uint8)
        self._counts = np.zeros(rows, np.int32)
        self._actions = np.zeros(rows, np.int64)
        self._log_probabilities = np.zeros(rows, np.float32)
        self._values = np.zeros(rows, np.float32)
        self._rewards = np.zeros(rows, np.float32)
        self._next_values = np.zeros(rows, np.float32)
        self._ended = np.zeros(rows, np.bool_)

    @property
    def complete(self) -> int:
        """Decisions whose outcome is known."""
        return int(self._used[0]) - int((self._open >= 0).sum())

    def decide(
        self,
        lanes: Ints,
        seen: npt.NDArray[np.uint8],
        counts: Ints,
        actions: npt.NDArray[np.int64],
        log_probabilities: Floats,
        values: Floats,
        rewards: Floats,
    ) -> None:
        """These seats have decided; `rewards` are for what their decisions before have led to so far."""
        before = self._open[lanes]
        known = before >= 0
        self._rewards[before[known]] = rewards[known]
        self._next_values[before[known]] = values[known]
        rows = int(self._used[0]) + np.arange(len(lanes))
        self._used += len(lanes)
        self._lane[rows] = lanes
        self._seen[rows] = seen
        self._counts[rows] = counts
        self._actions[rows] = actions
        self._log_probabilities[rows] = log_probabilities
        self._values[rows] = values
        self._ended[rows] = False
        self._open[lanes] = rows

    def end(self, lanes: Ints, rewards: Floats) -> None:
        """The rounds of these seats are over; those that decided nothing in it are passed over."""
        before = self._open[lanes]
        known = before >= 0
        self._rewards[before[known]] = rewards[known]
        self._next_values[before[known]] = 0
        self._ended[before[known]] = True
        self._open[lanes] = NONE

    def take(self, gamma: float, gae_lambda: float) -> Experience:
        """All complete decisions, lane by lane in the order of time; the others stay."""
        used = int(self._used[0])
        waits = np.zeros(used, np.bool_)
        waits[self._open[self._open >= 0]] = True
        rows = np.flatnonzero(~waits)
        rows = rows[np.argsort(self._lane[rows], kind="stable")]
        advantages = self._advantages(rows, gamma, gae_lambda)
        taken = Experience(
            self._seen[rows],
            self._counts[rows],
            self._actions[rows],
            self._log_probabilities[rows],
            self._values[rows],
            advantages,
            advantages + self._values[rows],
        )
        self._keep(np.flatnonzero(waits))
        return taken

    def _advantages(self, rows: npt.NDArray[np.intp], gamma: float, gae_lambda: float) -> Floats:
        """Generalised advantage estimation (Schulman et al. 2016, eq. 16), backwards along each strand."""
        goes_on = ~self._ended[rows]
        errors = self._rewards[rows] + gamma * self._next_values[rows] * goes_on - self._values[rows]
        # The next row continues this one if it is of the same seat and no end lies between.
        linked = np.zeros(len(rows), np.bool_)
        linked[:-1] = (self._lane[rows[1:]] == self._lane[rows[:-1]]) & goes_on[:-1]
        decays = (gamma * gae_lambda * linked).tolist()
        advantage = 0.0
        advantages = errors.tolist()
        for row in range(len(rows) - 1, -1, -1):
            advantage = advantages[row] + decays[row] * advantage
            advantages[row] = advantage
        return np.array(advantages, np.float32)

    def _keep(self, rows: npt.NDArray[np.intp]) -> None:
        for values in self._row_arrays().values():
            values[: len(rows)] = values[rows]
        self._used[0] = len(rows)
        self._open[:] = NONE
        self._open[self._lane[: len(rows)]] = np.arange(len(rows))

    def _row_arrays(self) -> Arrays:
        return {
            "lane": self._lane, "seen": self._seen, "counts": self._counts, "actions": self._actions,
            "log_probabilities": self._log_probabilities, "values": self._values, "rewards": self._rewards,
            "next_values": self._next_values, "ended": self._ended,
        }  # fmt: skip

    def state_dict(self) -> dict[str, Any]:
        """The rows in use, as tensors; to be loaded into one of as many lanes."""
        used = int(self._used[0])
        rows = {name: torch.from_numpy(values[:used].copy()) for name, values in self._row_arrays().items()}
        return {"rows": rows, "open": torch.from_numpy(self._open.copy()), "used": used}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where that was taken."""
        used = int(state["used"])
        for name, values in self._row_arrays().items():
            values[:used] = state["rows"][name].numpy()
        self._used[0] = used
        self._open[:] = state["open"].numpy()
