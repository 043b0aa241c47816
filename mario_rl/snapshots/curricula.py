"""Two curricula that know the way: starts all over what an exploration reached, and starts along a route, backwards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mario_rl.environment.smb.episode import Outcome
from mario_rl.environment.smb.lanes import SmbLanes
from mario_rl.environment.smb.memory import Mask
from mario_rl.environment.smb.starts import Start
from mario_rl.snapshots.demonstration import Demonstration
from mario_rl.snapshots.hard_places import HardPlaces
from mario_rl.snapshots.route_progress import RouteProgress
from mario_rl.snapshots.store import SnapshotStore

__all__ = ["ArchiveStarts", "BackwardStarts", "ElsewhereStarts"]

STEPS_BETWEEN = 4  # of the route, from one state to the next
WINDOW = 8  # states around the present point of the route
# States the point moves after an episode from there, back after a flag, forward after anything else: a staircase that
# comes to rest where one episode in three reaches the flag (Kaernbach 1991; Salimans & Chen 2018 ask for one in five).
BACK, FORWARD = 2, 1


class ElsewhereStarts(ABC):
    """What both have in common: a share of fresh starts, and randomness that can be saved."""

    def __init__(self, fresh: float, seed: int):
        if not 0 <= fresh <= 1:
            raise ValueError(f"the share of fresh starts is between 0 and 1, not {fresh!r}")
        self._fresh = fresh
        self._random = np.random.default_rng(seed)

    def choose(self, lanes: SmbLanes, ended: Mask, outcome: Outcome | None) -> dict[int, Start]:
        """A fresh start, or one that `_draw` finds for the level."""
        levels = lanes.settings.levels
        chosen: dict[int, Start] = {}
        for lane in np.flatnonzero(ended).tolist():
            if self._random.random() >= self._fresh:
                chosen[lane] = self._draw(levels[int(self._random.integers(len(levels)))], lane)
        return chosen

    @abstractmethod
    def _draw(self, level: str, lane: int) -> Start:
        """Where in this level the lane's next episode begins."""

    def state_dict(self) -> dict[str, Any]:
        """The randomness; what there is to start from is on disk."""
        return {"random": self._random.bit_generator.state}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken."""
        self._random.bit_generator.state = state["random"]


class ArchiveStarts(ElsewhereStarts):
    """Starts from the snapshots of an archive: every bucket of every area is as likely as any other."""

    def __init__(self, store: SnapshotStore, fresh: float, seed: int):
        super().__init__(fresh, seed)
        self._places: dict[str, list[list[bytes]]] = {}
        for level, buckets in store.by_level().items():
            self._places[level] = [[snapshot.state for snapshot in bucket] for bucket in buckets]

    def _draw(self, level: str, lane: int) -> Start:
        places = self._places[level]
        states = places[int(self._random.integers(len(places)))]
        return Start(level, states[int(self._random.integers(len(states)))])

    def stepped(self, lanes: SmbLanes, outcome: Outcome) -> None:
        """Nothing to do."""

    def began(self, lanes: SmbLanes, which: Mask) -> None:
        """Nothing to do."""

    def info(self) -> dict[str, npt.NDArray[Any]]:
        """Nothing to add."""
        return {}

    def continue_from(self, values: Mapping[str, float]) -> None:
        """Nothing to remember."""


class BackwardStarts(ElsewhereStarts):
    """Starts near the end of a route first, and further back as the agent succeeds (Salimans & Chen 2018).

    Half of the practice begins at the present point of the route; the other half anywhere on it, before places where
    episodes end, with consoles as the agent itself came by there (`hard_places.py`). Progress is paid along the route
    (`route_progress.py`).
    """

    def __init__(self, demonstrations: Sequence[Demonstration], lanes: int, fresh: float, seed: int):
        super().__init__(fresh, seed)
        self._states = {shown.level: shown.states[::STEPS_BETWEEN] for shown in demonstrations}
        self._last = {level: max(len(states) - WINDOW, 0) for level, states in self._states.items()}
        self.point = dict(self._last)
        self._progress = RouteProgress(demonstrations, lanes)
        self._hard = {level: HardPlaces(len(states)) for level, states in self._states.items()}
        self._at_point = np.zeros(lanes, np.bool_)  # the episode began at the point
        self._began_at = np.zeros(lanes, np.int64)  # the state it began with; 0 after a fresh start

    @property
    def progress(self) -> float:
        """The share of the routes that the starts have moved back over."""
        return 1 - sum(self.point.values()) / max(sum(self._last.values()), 1)

    def stepped(self, lanes: SmbLanes, outcome: Outcome) -> None:
        """Pay progress along the route instead of to the right."""
        gained = self._progress.advance(lanes.episodes.area, lanes.episodes.x, lanes.game.y())
        outcome.pixels = np.where(outcome.death, 0, gained)
        for lane in np.flatnonzero((gained > 0) & ~(outcome.terminated | outcome.truncated)).tolist():
            level = str(lanes.episodes.level[lane])
            state, left = divmod(self._progress.step(lane, level), STEPS_BETWEEN)
            if left == 0:
                self._hard[level].keep(state, lanes.console.save(lane))

    def choose(self, lanes: SmbLanes, ended: Mask, outcome: Outcome | None) -> dict[int, Start]:
        """See `ElsewhereStarts`; what follows a fresh start moves nothing."""
        if outcome is not None:
            for lane in np.flatnonzero(ended).tolist():
                self._learn_from(lane, str(lanes.episodes.level[lane]), bool(outcome.flag[lane]))
        self._at_point[ended] = False
        self._began_at[ended] = 0
        return super().choose(lanes, ended, outcome)

    def _learn_from(self, lane: int, level: str, flag: bool) -> None:
        """An episode ended."""
        reached = len(self._states[level]) if flag else self._progress.step(lane, level) // STEPS_BETWEEN
        self._hard[level].passed(int(self._began_at[lane]), reached, ended_there=not flag)
        if self._at_point[lane]:
            moved = self.point[level] - BACK if flag else self.point[level] + FORWARD
            self.point[level] = min(max(moved, 0), self._last[level])

    def _draw(self, level: str, lane: int) -> Start:
        states, point = self._states[level], self.point[level]
        self._at_point[lane] = self._random.random() < 0.5
        if self._at_point[lane]:
            self._began_at[lane] = self._random.integers(point, min(point + WINDOW, len(states)))
            return Start(level, states[self._began_at[lane]])
        self._began_at[lane] = self._hard[level].draw_before(self._random)
        own = self._hard[level].draw_kept(int(self._began_at[lane]), self._random)
        return Start(level, states[self._began_at[lane]] if own is None else own)

    def began(self, lanes: SmbLanes, which: Mask) -> None:
        """Count progress from where these lanes stand."""
        for lane in np.flatnonzero(which).tolist():
            self._progress.begin(lane, str(lanes.episodes.level[lane]), int(self._began_at[lane]) * STEPS_BETWEEN)

    def info(self) -> dict[str, npt.NDArray[Any]]:
        """How far back the starts have moved."""
        return {"curriculum_progress": np.full(len(self._at_point), self.progress, np.float32)}

    def continue_from(self, values: Mapping[str, float]) -> None:
        """Move the starts as far back as they were, on every route alike."""
        ahead = 1 - min(max(values.get("curriculum_progress", 0.0), 0.0), 1.0)
        self.point = {level: round(ahead * last) for level, last in self._last.items()}

    def state_dict(self) -> dict[str, Any]:
        """The randomness, how far back the starts have moved, and how far along the lanes are."""
        lanes = {name: array.tolist() for name, array in self._lane_arrays().items()}
        hard = {level: places.state_dict() for level, places in self._hard.items()}
        return super().state_dict() | {"point": dict(self.point), "hard": hard, "lanes": lanes}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken."""
        super().load_state_dict(state)
        self.point = dict(state["point"])
        for level, places in self._hard.items():
            places.load_state_dict(state["hard"][level])
        for name, array in self._lane_arrays().items():
            array[:] = state["lanes"][name]

    def _lane_arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {"at_point": self._at_point, "began_at": self._began_at, "reached": self._progress.reached}
