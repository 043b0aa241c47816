"""What lanes live through, for the tests of the replay buffer: steps, and a plain record of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from mario_rl.learners.base import LaneSteps

GOES_ON, TERMINATED, TRUNCATED, BOTH, RESET = range(5)  # RESET: goes on, but the next step begins somewhere else


@dataclass
class Moment:
    """One step of one lane."""

    time: int
    observation: np.ndarray
    action: int
    reward: float
    next_observation: np.ndarray
    terminated: bool


@dataclass
class Episode:
    """A whole episode of one lane, as a list."""

    moments: list[Moment] = field(default_factory=list)
    ended: bool = False


@dataclass(frozen=True)
class Transition:
    """What the buffer should know about a step, worked out from its episode."""

    observation: np.ndarray
    action: int
    reward: float
    next_observation: np.ndarray
    done: float
    discount: float


class Record:
    """Every lane's episodes; knows nothing of rings."""

    def __init__(self, lanes: int):
        self.episodes: list[list[Episode]] = [[Episode()] for _ in range(lanes)]
        self.time = 0

    def add(self, steps: LaneSteps, endings: list[int]) -> None:
        """Write a step of all lanes down."""
        for lane, ending in enumerate(endings):
            episode = self.episodes[lane][-1]
            episode.moments.append(
                Moment(
                    self.time,
                    steps.observations[lane].copy(),
                    int(steps.actions[lane]),
                    float(steps.rewards[lane]),
                    steps.next_observations[lane].copy(),
                    bool(steps.terminated[lane]),
                )
            )
            if ending in (TERMINATED, TRUNCATED, BOTH):
                episode.ended = True
                self.episodes[lane].append(Episode())
        self.time += 1

    def interrupt(self, lane: int) -> None:
        """The lane's environment is reset: the episode ends as it is, if there is one."""
        if self.episodes[lane][-1].moments:
            self.episodes[lane][-1].ended = True
            self.episodes[lane].append(Episode())

    def sampleable(self, n_step: int, gamma: float, slots: int) -> dict[tuple[int, int], Transition]:
        """By (time, lane): the transitions of the last `slots` steps whose return is complete."""
        found = {}
        for lane, episodes in enumerate(self.episodes):
            for episode in episodes:
                for at, moment in enumerate(episode.moments):
                    window = episode.moments[at : at + n_step]
                    if moment.time >= self.time - slots and (len(window) == n_step or episode.ended):
                        found[moment.time, lane] = Transition(
                            moment.observation,
                            moment.action,
                            sum(gamma**k * later.reward for k, later in enumerate(window)),
                            window[-1].next_observation,
                            float(window[-1].terminated),
                            gamma ** len(window),
                        )
        return found


@dataclass(frozen=True)
class Story:
    """Lanes, the buffer's settings, and how each step of each lane ends."""

    lanes: int
    n_step: int
    slots: int
    endings: list[list[int]]
    seed: int

    def play(self, shape: tuple[int, ...], dtype: type, stacked: bool, record: Record) -> Iterator[LaneSteps]:
        """The steps, written into the record as they are taken (before they are handed over)."""
        random = np.random.default_rng(self.seed)

        def picture() -> np.ndarray:
            # few values: different pictures are sometimes equal, as in a game that stands still
            return random.integers(0, 3, shape[1:] if stacked else shape).astype(dtype)

        def beginning() -> np.ndarray:
            return np.stack([picture()] * shape[0]) if stacked else picture()

        observations = np.stack([beginning() for _ in range(self.lanes)])
        for endings in self.endings:
            following = np.stack(
                [np.concatenate([seen[1:], picture()[None]]) if stacked else picture() for seen in observations]
            )
            steps = LaneSteps(
                observations,
                random.integers(0, 5, self.lanes),
                random.normal(size=self.lanes).astype(np.float32),
                following,
                np.array([ending in (TERMINATED, BOTH) for ending in endings]),
                np.array([ending in (TRUNCATED, BOTH) for ending in endings]),
            )
            record.add(steps, endings)
            yield steps
            observations = following.copy()
            for lane, ending in enumerate(endings):
                if ending != GOES_ON:
                    observations[lane] = beginning()
                if ending == RESET and (observations[lane] != following[lane]).any():
                    record.interrupt(lane)


@st.composite
def stories(draw: st.DrawFn) -> Story:
    """Few lanes and slots, so that the ring goes round several times; endings in a third of the steps."""
    lanes = draw(st.integers(1, 3))
    n_step = draw(st.integers(1, 4))
    ending = st.sampled_from([GOES_ON] * 8 + [TERMINATED, TRUNCATED, BOTH, RESET])
    step = st.lists(ending, min_size=lanes, max_size=lanes)
    return Story(
        lanes,
        n_step,
        slots=draw(st.integers(n_step + 1, n_step + 6)),
        endings=draw(st.lists(step, min_size=1, max_size=30)),
        seed=draw(st.integers(0, 2**32 - 1)),
    )
