"""The replay buffer of one worker: a ring of the last transitions of its lanes, with n-step returns.

Time goes by in steps of all lanes, so the ring is an array of [slots, lanes]; transition number `time * lanes + lane`
is in row `number % rows`. Numbers are never used twice: what became of a sampled row is told by its number.

The return of a row grows while the steps after it come in. At any moment it holds the rewards so far, the last
observation so far and the discount that belongs to it; the row is **complete**, and only then sampled, when it has
n rewards or its episode ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces

from mario_rl.learners.base import LaneSteps
from mario_rl.replay import random_state
from mario_rl.replay.observations import ObservationRing
from mario_rl.replay.sum_tree import SumTree

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]

# Added to every absolute TD error, so that no transition is lost for good.
LEAST_ERROR = 1e-6


@dataclass(slots=True)
class Batch:
    """Sampled transitions, one row each."""

    states: Array
    actions: npt.NDArray[np.int64]
    rewards: Floats  # n-step returns, without the bootstrap
    next_states: Array
    dones: Floats  # 1: the episode is over, nothing is bootstrapped
    discounts: Floats  # what the value of next_states is multiplied with: gamma ** rewards in the return
    weights: Floats  # importance weights, at most 1
    indices: Indices  # for `update_priorities`


class ReplayBuffer:
    """The last `capacity` transitions of `lanes` lanes (rounded down to whole steps of all lanes).

    With `alpha` 0 every transition is as likely, otherwise those with large TD errors are likelier, by that exponent.
    """

    def __init__(
        self, capacity: int, lanes: int, space: spaces.Space[Any], n_step: int, gamma: float, alpha: float, seed: int
    ):
        if not isinstance(space, spaces.Box):
            raise ValueError(f"the replay buffer holds observations of Box spaces, not of {space}")
        if capacity < lanes * (n_step + 1):
            raise ValueError(
                f"a replay buffer of {capacity} is too small for {lanes} lanes and n_step {n_step}: "
                f"it needs at least {lanes * (n_step + 1)}"
            )
        self._settings = (
            f"capacity {capacity}, lanes {lanes}, n_step {n_step}, gamma {gamma}, alpha {alpha}, "
            f"observations {space.dtype}{list(space.shape)}"
        )
        self._lanes = lanes
        self._slots = capacity // lanes
        self._rows = self._slots * lanes
        self._n_step = n_step
        self._alpha = alpha
        self._discount_after = [float(gamma**count) for count in range(n_step + 1)]
        self._random = np.random.Generator(np.random.PCG64(seed))

        self._observations = ObservationRing(space, self._rows, lanes, reserve=n_step + 1)
        stack = self._observations.stack
        self._transitions: dict[str, Array] = {
            "observation": np.zeros((self._slots, lanes, stack), np.int64),  # frame numbers
            "next_observation": np.zeros((self._slots, lanes, stack), np.int64),
            "action": np.zeros((self._slots, lanes), np.int64),
            "reward": np.zeros((self._slots, lanes), np.float32),
            "discount": np.zeros((self._slots, lanes), np.float32),
            "done": np.zeros((self._slots, lanes), np.float32),
            "complete": np.zeros((self._slots, lanes), np.bool_),
            "oldest_frame": np.zeros((self._slots, 1), np.int64),
        }
        self._flat = {name: array.reshape(-1, *array.shape[2:]) for name, array in self._transitions.items()}
        self._tree = SumTree(self._rows) if alpha else None
        self._time = 0  # steps of all lanes added
        self._oldest = 0  # the time of the oldest slot that is still whole
        self._episode_steps = np.zeros(lanes, np.int64)  # rows of each lane's running episode

    def __len__(self) -> int:
        """Transitions remembered, the newest incomplete ones included."""
        return (self._time - self._oldest) * self._lanes

    @property
    def sampleable(self) -> int:
        """Transitions that can be sampled."""
        return (self._first_recent - self._oldest) * self._lanes + len(self._complete_recent())

    @property
    def nbytes(self) -> int:
        """Bytes of everything preallocated."""
        transitions = sum(array.nbytes for array in self._transitions.values())
        return self._observations.nbytes + transitions + (self._tree.nbytes if self._tree else 0)

    def add(self, steps: LaneSteps) -> None:
        """Remember one step of all lanes."""
        for observations in (steps.observations, steps.next_observations):
            if observations.shape != self._observations.shape or observations.dtype != self._observations.dtype:
                raise ValueError(
                    f"observations are {self._observations.dtype}{list(self._observations.shape)}, "
                    f"not {observations.dtype}{list(observations.shape)}"
                )
        numbers, following, continues = self._observations.add(steps.observations, steps.next_observations)
        self._cut_episodes(~continues)

        slot = self._time % self._slots
        transitions = self._transitions
        transitions["observation"][slot] = numbers
        transitions["oldest_frame"][slot] = min(numbers.min(), following.min())
        transitions["action"][slot] = steps.actions
        transitions["reward"][slot] = 0
        transitions["complete"][slot] = False
        ended = steps.terminated | steps.truncated
        for back in range(min(self._n_step, self._time + 1)):
            self._extend_returns(back, steps, following, ended)
        self._episode_steps = np.where(ended, 0, self._episode_steps + 1)
        self._time += 1
        self._forget_and_offer()

    def _cut_episodes(self, lanes: npt.NDArray[np.bool_]) -> None:
        """Complete the returns of these lanes as they are: their environments were reset within an episode."""
        cut = lanes & (self._episode_steps > 0)
        if not cut.any():
            return
        for back in range(1, min(self._n_step, self._time + 1)):
            self._transitions["complete"][(self._time - back) % self._slots] |= cut & (self._episode_steps >= back)
        self._episode_steps[cut] = 0

    def _extend_returns(self, back: int, steps: LaneSteps, following: Indices, ended: npt.NDArray[np.bool_]) -> None:
        """Let the step be part of the returns that began `back` steps ago, in lanes whose episode was running then."""
        slot = (self._time - back) % self._slots
        transitions = self._transitions
        running = self._episode_steps >= back
        reward = transitions["reward"][slot]
        np.add(reward, steps.rewards * np.float32(self._discount_after[back]), out=reward, where=running)
        np.copyto(transitions["next_observation"][slot], following, where=running[:, None])
        np.copyto(transitions["discount"][slot], np.float32(self._discount_after[back + 1]), where=running)
        np.copyto(transitions["done"][slot], steps.terminated, where=running)
        transitions["complete"][slot] |= running if back == self._n_step - 1 else running & ended

    def _forget_and_offer(self) -> None:
        """Forget what was overwritten, and let the rows that became complete be sampled."""
        before = self._oldest
        self._oldest = max(self._oldest, self._time - self._slots)
        while self._transitions["oldest_frame"][self._oldest % self._slots] < self._observations.oldest:
            self._oldest += 1
        if self._tree is None:
            return
        # The rows of the last n steps are new, growing or complete; no others change, but for those forgotten now.
        rows = self._rows_of_times(max(self._oldest, self._time - self._n_step), self._time)
        priorities = self._tree.priorities[rows]
        priorities[-self._lanes :] = 0  # of the row that was here before
        fresh = self._flat["complete"][rows] & (priorities == 0)
        priorities[fresh] = self._tree.largest or 1.0
        forgotten = self._rows_of_times(before, self._oldest)
        self._tree.set(np.concatenate([forgotten, rows]), np.concatenate([np.zeros(len(forgotten)), priorities]))

    def sample(self, batch_size: int, beta: float) -> Batch:
        """Draw complete transitions, with replacement. `beta` is the exponent of the importance weights."""
        if self._tree is None:
            indices = self._draw_uniformly(batch_size)
            weights = np.ones(batch_size, np.float32)
        else:
            indices, weights = self._draw_by_priority(self._tree, batch_size, beta)
        rows = indices % self._rows
        flat = self._flat
        numbers = np.concatenate([flat["observation"][rows], flat["next_observation"][rows]])
        observations = self._observations.read(numbers)
        return Batch(
            states=observations[:batch_size],
            actions=flat["action"][rows],
            rewards=flat["reward"][rows],
            next_states=observations[batch_size:],
            dones=flat["done"][rows],
            discounts=flat["discount"][rows],
            weights=weights,
            indices=indices,
        )

    def update_priorities(self, indices: Indices, td_errors: Array) -> None:
        """Make transitions of a batch as likely as their errors say; those forgotten since they were sampled stay so.

        Errors that are not finite are ignored: they would make every other transition impossible.
        """
        if self._tree is None:
            return
        errors = np.abs(np.asarray(td_errors, np.float64))
        known = (indices >= self._oldest * self._lanes) & np.isfinite(errors)
        self._tree.set(indices[known] % self._rows, (errors[known] + LEAST_ERROR) ** self._alpha)

    def _draw_uniformly(self, count: int) -> Indices:
        first = self._oldest * self._lanes
        long_complete = self._first_recent * self._lanes - first
        recent = self._complete_recent()
        self._demand_some(long_complete + len(recent))
        drawn = self._random.integers(long_complete + len(recent), size=count)
        indices = first + drawn
        is_recent = drawn >= long_complete
        indices[is_recent] = recent[drawn[is_recent] - long_complete]
        return indices

    def _draw_by_priority(self, tree: SumTree, count: int, beta: float) -> tuple[Indices, Floats]:
        """One draw from each of `count` equal parts of the sum of all priorities."""
        total = tree.total
        self._demand_some(total)
        rows = tree.find((np.arange(count) + self._random.random(count)) * (total / count))
        first = self._oldest * self._lanes
        weights = (tree.priorities[rows] / tree.smallest) ** -beta  # 1 for the least likely row of all
        return first + (rows - first) % self._rows, weights.astype(np.float32)

    @staticmethod
    def _demand_some(available: float) -> None:
        if not available:
            raise ValueError("nothing to sample yet: no transition has all of its n steps; add more first")

    @property
    def _first_recent(self) -> int:
        """Rows of times before this one are all complete."""
        return max(self._oldest, self._time - self._n_step + 1)

    def _complete_recent(self) -> Indices:
        """The numbers of the complete transitions among the last n - 1 steps."""
        rows = self._rows_of_times(self._first_recent, self._time)
        return self._first_recent * self._lanes + np.flatnonzero(self._flat["complete"][rows])

    def _rows_of_times(self, begin: int, end: int) -> Indices:
        return np.arange(begin * self._lanes, end * self._lanes) % self._rows

    def state_dict(self) -> dict[str, Any]:
        """Everything, random numbers included: tensors, numbers and text."""
        return random_state.saved(self._random) | {
            "settings": self._settings,
            "time": self._time,
            "oldest": self._oldest,
            "episode_steps": torch.from_numpy(self._episode_steps.copy()),
            "transitions": {name: torch.from_numpy(array.copy()) for name, array in self._transitions.items()},
            "observations": {
                name: torch.from_numpy(value.copy()) if isinstance(value, np.ndarray) else value
                for name, value in self._observations.state_dict().items()
            },
            "priorities": torch.from_numpy(self._tree.priorities.copy()) if self._tree else None,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken; a ValueError, and no change, if it is of other settings."""
        if state.get("settings") != self._settings:
            raise ValueError(
                f"these memories have other settings ({state.get('settings')}) than ours: {self._settings}"
            )
        for name, array in self._transitions.items():
            array[:] = state["transitions"][name].numpy()
        self._observations.load_state_dict(
            {
                name: value.numpy() if isinstance(value, torch.Tensor) else value
                for name, value in state["observations"].items()
            }
        )
        if self._tree is not None:
            self._tree.set(np.arange(self._rows), state["priorities"].numpy())
        self._time, self._oldest = int(state["time"]), int(state["oldest"])
        self._episode_steps = state["episode_steps"].numpy().copy()
        random_state.restore(self._random, state)
