"""The replay of a world model: what each lane of a worker saw, row after row, to be replayed in sequences.

A row is an observation, the action and the reward that led to it, whether it is the first of an episode and whether the
episode was over with it. An episode of n steps is n + 1 rows; the next one follows at once, so a sequence may hold the
end of one and the beginning of another. Every lane has a ring of its own, because episodes end when they like; rows are
counted for ever, lane by lane, and row `number` is at `number % rows` of its ring.

Each row also keeps the model's **latent** state, so that a sequence can begin in the middle of an episode (Hafner et
al. 2023, DreamerV3, appendix "Experience replay"). Latents age while the model learns: whoever replays a sequence gives
the new ones back (`refresh`).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces

from mario_rl.environment.smb import tiles
from mario_rl.learners.base import LaneSteps
from mario_rl.replay import random_state
from mario_rl.replay.observations import Frames, PlainFrames, TileFrames, is_stack

Array = npt.NDArray[Any]
Numbers = npt.NDArray[np.int64]


@dataclass(slots=True)
class Latents:
    """States of a world model as they are kept: a GRU's output is within +-1, so half precision is enough."""

    deterministic: npt.NDArray[np.float16]  # [n, deterministic]
    classes: npt.NDArray[np.uint8]  # [n, variables]: the class of every categorical


@dataclass(slots=True)
class Sequences:
    """Sampled sequences; arrays are [length, sequences, ...]."""

    observations: Array
    actions: npt.NDArray[np.int64]  # that led here; nothing where an episode begins
    rewards: npt.NDArray[np.float32]  # that came with it
    first: npt.NDArray[np.bool_]  # an episode begins here: nothing is remembered
    terminal: npt.NDArray[np.bool_]  # an episode is over here: nothing follows
    before: Latents  # the state before the first row, [sequences, ...]
    places: Numbers  # for `refresh`


class SequenceReplay:
    """The last `capacity` rows of `lanes` lanes (rounded down to as many of each), in sequences of `length` rows.

    A share `terminal_share` of the sequences is drawn so that it holds the end of an episode: there are few of them,
    and all depends on them. Of stacked frames the newest is kept: a sequence has the others in its rows before.
    """

    def __init__(
        self,
        capacity: int,
        lanes: int,
        space: spaces.Box,
        length: int,
        deterministic: int,
        variables: int,
        terminal_share: float,
        seed: int,
    ):
        self._rows = capacity // lanes
        if self._rows < length + 1:
            raise ValueError(
                f"a replay of {capacity} rows is too small for {lanes} lanes and sequences of {length}: "
                f"it needs at least {lanes * (length + 1)}"
            )
        self._settings = (
            f"capacity {capacity}, lanes {lanes}, length {length}, latent {deterministic}+{variables}, "
            f"terminal_share {terminal_share}, observations {space.dtype}{list(space.shape)}"
        )
        self._lanes, self._length, self._terminal_share = lanes, length, terminal_share
        self._shape, self._dtype = (lanes, *space.shape), space.dtype
        self._stacked = is_stack(space)
        count = lanes * self._rows
        frame_shape = space.shape[1:] if self._stacked else space.shape
        are_tiles = space.shape == (tiles.SIZE,) and space.dtype == np.float32
        self._frames: Frames = TileFrames(count) if are_tiles else PlainFrames(count, frame_shape, space.dtype)
        self._facts: dict[str, Array] = {
            "action": np.zeros(count, np.uint8),
            "reward": np.zeros(count, np.float32),
            "first": np.zeros(count, np.bool_),
            "terminal": np.zeros(count, np.bool_),
            "deterministic": np.zeros((count, deterministic), np.float16),
            "classes": np.zeros((count, variables), np.uint8),
        }
        self._written = np.zeros(lanes, np.int64)  # rows of each lane, those that are gone included
        self._ended = np.ones(lanes, np.bool_)  # the next step of the lane begins an episode
        self._terminals: deque[tuple[int, int]] = deque(maxlen=count)  # (lane, number), oldest first
        self._random = np.random.Generator(np.random.PCG64(seed))

    def __len__(self) -> int:
        """Rows remembered."""
        return int(np.minimum(self._written, self._rows).sum())

    @property
    def sampleable(self) -> int:
        """Sequences that can be sampled."""
        return int(self._starts()[1].sum())

    @property
    def nbytes(self) -> int:
        """Bytes of everything preallocated."""
        return sum(array.nbytes for array in (*self._frames.arrays.values(), *self._facts.values()))

    def add(self, steps: LaneSteps, latents: Latents) -> None:
        """Remember one step of all lanes. `latents` are the states that belong to `steps.observations`."""
        for observations in (steps.observations, steps.next_observations):
            if observations.shape != self._shape or observations.dtype != self._dtype:
                raise ValueError(
                    f"observations are {self._dtype}{list(self._shape)}, "
                    f"not {observations.dtype}{list(observations.shape)}"
                )
        began = np.flatnonzero(self._ended)
        if len(began):
            self._append(began, steps.observations[began], first=True)
        stand = self._at(np.arange(self._lanes), self._written - 1)
        self._facts["deterministic"][stand] = latents.deterministic
        self._facts["classes"][stand] = latents.classes
        every = np.arange(self._lanes)
        self._append(every, steps.next_observations, steps.actions, steps.rewards, steps.terminated)
        for lane in np.flatnonzero(steps.terminated).tolist():
            self._terminals.append((lane, int(self._written[lane]) - 1))
        self._ended = steps.terminated | steps.truncated

    def sample(self, count: int) -> Sequences:
        """Sequences at random: any start is as likely, but for those that are to hold an episode's end."""
        firsts, starts = self._starts()
        if not starts.any():
            raise ValueError(f"no lane holds {self._length} rows yet: there is nothing to sample")
        ends = np.cumsum(starts)
        drawn = self._random.integers(ends[-1], size=count)
        lanes = np.searchsorted(ends, drawn, side="right")
        begin = firsts[lanes] + drawn - (ends - starts)[lanes]
        self._move_to_ends(lanes, begin, firsts, starts)

        numbers = begin + np.arange(self._length)[:, None]
        places = self._at(lanes, numbers)
        flat = places.reshape(-1)
        facts = self._facts
        observations = self._frames.read(flat)
        first = facts["first"].take(places)
        actions = facts["action"].take(places).astype(np.int64)
        before = self._at(lanes, begin - 1)
        return Sequences(
            observations.reshape(self._length, count, *observations.shape[1:]),
            actions,
            facts["reward"].take(places),
            first,
            facts["terminal"].take(places),
            Latents(facts["deterministic"].take(before, axis=0), facts["classes"].take(before, axis=0)),
            places,
        )

    def refresh(self, places: Numbers, latents: Latents) -> None:
        """Replace the latents of sampled rows; `latents` are flat, row after row of `places`.

        A terminal row may get one, too: nobody asks for it, since an episode begins behind it.
        """
        flat = places.reshape(-1)
        self._facts["deterministic"][flat] = latents.deterministic
        self._facts["classes"][flat] = latents.classes

    def state_dict(self) -> dict[str, Any]:
        """Everything, as tensors and plain numbers and text."""
        used = int(min(self._written.max(), self._rows))
        arrays = self._frames.arrays | self._facts
        return random_state.saved(self._random) | {
            "settings": self._settings,
            "used": used,
            "written": torch.from_numpy(self._written.copy()),
            "ended": torch.from_numpy(self._ended.copy()),
            "terminals": torch.tensor(list(self._terminals), dtype=torch.int64).reshape(-1, 2),
            "arrays": {name: torch.from_numpy(self._by_lane(array)[:, :used].copy()) for name, array in arrays.items()},
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken; a ValueError, and no change, if it is of other settings."""
        if state.get("settings") != self._settings:
            raise ValueError(
                f"these memories have other settings ({state.get('settings')}) than ours: {self._settings}"
            )
        for name, array in (self._frames.arrays | self._facts).items():
            self._by_lane(array)[:, : state["used"]] = state["arrays"][name].numpy()
        self._written = state["written"].numpy().copy()
        self._ended = state["ended"].numpy().copy()
        self._terminals = deque((tuple(pair) for pair in state["terminals"].tolist()), maxlen=self._terminals.maxlen)
        random_state.restore(self._random, state)

    def _starts(self) -> tuple[Numbers, Numbers]:
        """Of every lane the first row that a sequence may begin with, and how many there are from there on.

        The oldest row of a full ring is none of them: the state before it is gone.
        """
        firsts = np.where(self._written > self._rows, self._written - self._rows + 1, 0)
        return firsts, np.maximum(self._written - self._length + 1 - firsts, 0)

    def _move_to_ends(self, lanes: Numbers, begin: Numbers, firsts: Numbers, starts: Numbers) -> None:
        """Let the first sequences hold an end each, anywhere but in their first third, where they can."""
        while self._terminals and self._terminals[0][1] < firsts[self._terminals[0][0]]:
            self._terminals.popleft()
        if not self._terminals:
            return
        wanted = round(self._terminal_share * len(lanes))
        chosen = self._random.integers(len(self._terminals), size=wanted)
        back = self._random.integers(self._length // 3, self._length, size=wanted)
        for row, (which, offset) in enumerate(zip(chosen.tolist(), back.tolist(), strict=True)):
            lane, number = self._terminals[which]
            if starts[lane] and number >= firsts[lane]:
                lanes[row] = lane
                begin[row] = np.clip(number - offset, firsts[lane], firsts[lane] + starts[lane] - 1)

    def _append(
        self,
        lanes: Numbers,
        observations: Array,
        actions: Array | int = 0,
        rewards: Array | float = 0.0,
        terminal: Array | bool = False,
        first: bool = False,
    ) -> None:
        at = self._at(lanes, self._written[lanes])
        self._frames.write(at, observations[:, -1] if self._stacked else observations)
        facts = self._facts
        facts["action"][at], facts["reward"][at] = actions, rewards
        facts["first"][at], facts["terminal"][at] = first, terminal
        self._written[lanes] += 1

    def _at(self, lanes: Numbers, numbers: Numbers) -> Numbers:
        return lanes * self._rows + numbers % self._rows

    def _by_lane(self, array: Array) -> Array:
        return array.reshape(self._lanes, self._rows, *array.shape[1:])
