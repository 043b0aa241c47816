"""The snapshot curriculum: lanes save where they tend to die, and after a death go on from there.

`SnapshotStarts` gives every lane of an environment its handler. All of them share the hotspots and the store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from mario_rl.environment.smb import memory
from mario_rl.environment.smb.episode import Outcome
from mario_rl.environment.smb.lanes import SmbLanes
from mario_rl.environment.smb.memory import Mask
from mario_rl.environment.smb.starts import Start
from mario_rl.snapshots.handler import KnownHotspots, Place, SnapshotHandler
from mario_rl.snapshots.hotspots import DeathHotspotAggregate
from mario_rl.snapshots.state_machine import SnapshotRules
from mario_rl.snapshots.store import SnapshotStore

FRESH = 0.25
FADE_EVERY = 1000  # environment steps: deaths fade in small strides


class SnapshotStarts:
    """See `Starts`."""

    def __init__(
        self,
        lanes: int,
        hotspots: DeathHotspotAggregate,
        rules: SnapshotRules | None = None,
        store: SnapshotStore | None = None,
        fresh: float = FRESH,
        seed: int = 0,
        workers: int = 1,
    ):
        """`fresh` is the chance that a death is followed by a start from the beginning even if practice is possible.

        `workers` play as many steps each as these lanes do: deaths fade by the steps of all.
        """
        if not 0 <= fresh <= 1:
            raise ValueError(f"the share of fresh starts is between 0 and 1, not {fresh!r}")
        rules = rules or SnapshotRules()
        self.hotspots = hotspots
        self.store = store or SnapshotStore()
        self._known = KnownHotspots(hotspots, rules.approach)
        self.handlers = [SnapshotHandler(self._known, self.store, rules) for _ in range(lanes)]
        self._fresh = fresh
        self._random = np.random.default_rng(seed)
        self._workers = workers
        self._steps_to_fade = 0
        self._saved, self._restored = np.zeros((2, lanes), np.bool_)
        # Where nothing can happen that a handler would act upon: in this area, between two x, before a tick.
        self._quiet = np.zeros((4, lanes), np.int64)

    @property
    def total_saves(self) -> int:
        """Snapshots saved by all lanes."""
        return sum(handler.total_saves for handler in self.handlers)

    @property
    def total_restores(self) -> int:
        """How often a lane went back to one."""
        return sum(handler.total_restores for handler in self.handlers)

    def refresh(self) -> None:
        """The hotspots have changed: look at them again."""
        if self._known.refresh():
            self._quiet[:] = 0  # no map is area 0: all lanes are awake

    def stepped(self, lanes: SmbLanes, outcome: Outcome) -> None:
        """Count deaths, and let the lanes that play on decide whether to save."""
        self._fade()
        self._saved[:] = self._restored[:] = False
        if outcome.any_ended and outcome.death.any():
            for _, place in self._places(lanes, outcome.death):
                self.hotspots.record_death(place.level, place.x, place.area)
            self.refresh()
        area, left, right, tick = self._quiet
        x = lanes.episodes.x
        quiet = (lanes.episodes.area == area) & (x > left) & (x < right) & (lanes.console.frames.view(np.int64) < tick)
        if quiet.all():
            return
        for lane, place in self._places(lanes, ~(quiet | outcome.terminated | outcome.truncated)):
            handler = self.handlers[lane]
            self._saved[lane] = handler.step(place, partial(lanes.console.save, lane))
            self._quiet[:, lane] = place.area, *handler.quiet(place)

    def _fade(self) -> None:
        self._steps_to_fade += len(self.handlers) * self._workers
        if self._steps_to_fade >= FADE_EVERY:
            self.hotspots.advance(self.hotspots.steps + self._steps_to_fade)
            self._steps_to_fade = 0
            self.refresh()

    def choose(self, lanes: SmbLanes, ended: Mask, outcome: Outcome | None) -> dict[int, Start]:
        """After a death: the snapshot that the handler wants, unless a fresh start is drawn."""
        self._saved[ended] = self._restored[ended] = False
        if outcome is None:
            return {}
        chosen: dict[int, Start] = {}
        for lane, place in self._places(lanes, ended):
            handler = self.handlers[lane]
            if not outcome.death[lane] or self._random.random() < self._fresh:
                handler.finished(place)
                continue
            snapshot = handler.died(place)
            if snapshot is not None:
                chosen[lane] = Start(snapshot.level, snapshot.state)
                self._restored[lane] = True
        return chosen

    def began(self, lanes: SmbLanes, which: Mask) -> None:
        """Tell the handlers how their next life begins."""
        ticks = lanes.console.frames.tolist()
        for lane in np.flatnonzero(which).tolist():
            handler = self.handlers[lane]
            handler.restored(ticks[lane]) if self._restored[lane] else handler.begin(ticks[lane])
        self._quiet[:, which] = 0

    def info(self) -> dict[str, npt.NDArray[Any]]:
        """Which lanes saved in this step, and which begin with a snapshot."""
        stuck = [handler.machine.restores_without_progress for handler in self.handlers]
        return {
            "snapshot_saved": self._saved.copy(),
            "snapshot_restored": self._restored.copy(),
            "restores_without_progress": np.array(stuck, np.int32),
        }

    def continue_from(self, values: Mapping[str, float]) -> None:
        """Nothing to do: hotspots and snapshots come from the run's files."""

    def state_dict(self) -> dict[str, Any]:
        """Everything: store, hotspots, handlers, randomness."""
        return {
            "store": self.store.state_dict(),
            "hotspots": self.hotspots.state_dict(),
            "handlers": [handler.state_dict() for handler in self.handlers],
            "random": self._random.bit_generator.state,
            "steps_to_fade": self._steps_to_fade,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken."""
        self.store.load_state_dict(state["store"])
        self.hotspots.load_state_dict(state["hotspots"])
        self.refresh()
        self._random.bit_generator.state = state["random"]
        self._steps_to_fade = state["steps_to_fade"]
        for handler, its in zip(self.handlers, state["handlers"], strict=True):
            handler.load_state_dict(its)

    @staticmethod
    def _places(lanes: SmbLanes, which: Mask) -> Iterator[tuple[int, Place]]:
        """Where these lanes are."""
        episodes, ram = lanes.episodes, lanes.console.ram
        steady = (ram[:, memory.FLOAT_STATE] == 0) | (ram[:, memory.SWIMMING] != 0)
        columns = (episodes.level, episodes.area, episodes.x, episodes.distance(), lanes.console.frames, steady)
        rows = zip(*(column[which].tolist() for column in columns), strict=True)
        for lane, row in zip(np.flatnonzero(which).tolist(), rows, strict=True):
            yield lane, Place(*row)
