"""What a lane does about snapshots: joins the state machine, the hotspots and the store."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mario_rl.snapshots.hotspots import BUCKET, MIN_DEATHS, DeathHotspotAggregate, bucket_of
from mario_rl.snapshots.state_machine import Sight, SnapshotRules, SnapshotState, SnapshotStateMachine
from mario_rl.snapshots.store import Snapshot, SnapshotStore

MOST_HOTSPOTS = 8  # of an area that get snapshots
EXPLORED = 100  # pixels around a snapshot
LOOK_AGAIN = 60  # ticks after which a snapshot that is due, but in explored ground, is thought of again
NOWHERE = 1 << 30  # pixels or ticks: beyond every level


class KnownHotspots:
    """The hotspots of every area, looked up once until the aggregate changes."""

    def __init__(self, aggregate: DeathHotspotAggregate, spacing: int):
        self.aggregate = aggregate
        self._spacing = spacing
        self._edges: dict[tuple[str, int], list[int]] = {}

    def refresh(self) -> bool:
        """Look again; whether that changed anything."""
        before = self._edges
        self._edges = {(level, area): self._look(level, area) for level, area in before}
        return self._edges != before

    def around(self, level: str, area: int, x: int) -> tuple[int | None, int | None]:
        """The left edges of the last hotspot before x, and of the next one at or beyond it."""
        edges = self._edges.get((level, area))
        if edges is None:
            edges = self._edges[level, area] = self._look(level, area)
        number = bisect_left(edges, x)
        behind = edges[number - 1] if number > 0 else None
        return behind, edges[number] if number < len(edges) else None

    def _look(self, level: str, area: int) -> list[int]:
        return self.aggregate.separate_hotspots(level, MOST_HOTSPOTS, self._spacing, area)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a lane is."""

    level: str
    area: int
    x: int
    distance: int
    """Pixels of new ground in this life."""
    tick: int
    """Frames of the game so far."""
    steady: bool
    """Mario stands or swims."""


class SnapshotHandler:
    """One lane's."""

    def __init__(self, hotspots: KnownHotspots, store: SnapshotStore, rules: SnapshotRules):
        self.machine = SnapshotStateMachine(rules)
        self.total_saves = 0
        self.total_restores = 0
        self._hotspots = hotspots
        self._store = store
        self._rules = rules
        self._practised: Snapshot | None = None  # where this life began, if not at the level's start
        self._died_at = 0  # progress of the life before
        self._look_again = 0  # tick before which no snapshot is due

    def begin(self, tick: int) -> None:
        """A life from the level's start begins."""
        self.machine.begin(tick)
        self._practised = None
        self._look_again = 0

    def step(self, place: Place, save: Callable[[], bytes]) -> bool:
        """The game went on; whether a snapshot was saved (with the state that `save` gives)."""
        _, hotspot = self._hotspots.around(place.level, place.area, place.x)
        unexplored = False
        if self.machine.state is SnapshotState.RUNNING and place.tick >= self._due_at():
            unexplored = self._is_unexplored(place)
            self._look_again = place.tick + LOOK_AGAIN
        if not self.machine.tick(Sight(place.x, place.tick, hotspot, unexplored, place.steady, place.area)):
            return False
        self._store.add(Snapshot(place.level, place.area, place.x, self._progress(place), save()))
        self.machine.saved(place.tick)
        self.total_saves += 1
        return True

    def quiet(self, place: Place) -> tuple[int, int, int]:
        """How long nothing happens: in this area, beyond the first x, before the second, and before a tick.

        There `step` would neither save nor change anything, as long as the hotspots are what they are.
        """
        behind, ahead = self._hotspots.around(place.level, place.area, place.x)
        left, right = -NOWHERE if behind is None else behind, NOWHERE
        if self.machine.state is SnapshotState.APPROACHING_HOTSPOT and ahead is not None:
            return max(left, ahead - self._rules.approach - 1), ahead - self._rules.lead, NOWHERE
        if self.machine.state is not SnapshotState.RUNNING:
            return place.x, place.x, 0
        if ahead is not None:
            right = ahead + 1 if self.machine.has_saved_for(place.area, ahead) else ahead - self._rules.approach
        return left, right, self._due_at()

    def _due_at(self) -> int:
        return max(self.machine.saved_at + self._rules.checkpoint_interval, self._look_again)

    def died(self, place: Place) -> Snapshot | None:
        """Mario died here; the snapshot to go on from, or None to begin at the level's start."""
        progress = self._progress(place)
        self._book(progress)
        wanted = self._hotspots.aggregate.suggest_restore_position(place.level, place.x, place.area)
        found = self._store.nearest(place.level, place.area, wanted, place.x - self._rules.closest_restore)
        if not self.machine.died(place.x, progress, None if found is None else found.x):
            return None
        assert found is not None
        self._practised, self._died_at = found, progress
        self.total_restores += 1
        return found

    def restored(self, tick: int) -> None:
        """The lane goes on from the snapshot that `died` gave."""
        self.machine.restored(tick, None if self._practised is None else self._hotspot_of(self._practised))
        self._look_again = 0

    def _hotspot_of(self, snapshot: Snapshot) -> tuple[int, int] | None:
        """Area and x of the hotspot that a snapshot lies before."""
        _, ahead = self._hotspots.around(snapshot.level, snapshot.area, snapshot.x)
        return None if ahead is None or ahead - snapshot.x > self._rules.lead else (snapshot.area, ahead)

    def finished(self, place: Place) -> None:
        """The life ended otherwise than by death: the flag, no more progress, a cut."""
        self._book(self._progress(place))

    def _progress(self, place: Place) -> int:
        return place.distance + (0 if self._practised is None else self._practised.progress)

    def _book(self, progress: int) -> None:
        """Note whether the snapshot this life began with was any good."""
        if self._practised is not None:
            self._practised.restores += 1
            self._practised.advances += progress > self._died_at

    def _is_unexplored(self, place: Place) -> bool:
        if self._store.has_near(place.level, place.area, place.x, EXPLORED):
            return False
        here = bucket_of(place.x)
        deaths = self._hotspots.aggregate.deaths(place.level, place.area)
        return all(deaths.get(here + offset, 0) < MIN_DEATHS for offset in (-BUCKET, 0, BUCKET))

    def state_dict(self) -> dict[str, Any]:
        """Everything about this lane; the store and the hotspots are saved by whoever owns them."""
        return {
            "machine": self.machine.state_dict(),
            "saves": self.total_saves,
            "restores": self.total_restores,
            "practised": None if self._practised is None else self._practised.as_text(),
            "died_at": self._died_at,
            "look_again": self._look_again,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` was taken, after the store was loaded: practice counts for the snapshot in there."""
        self.machine.load_state_dict(state["machine"])
        self.total_saves, self.total_restores, self._died_at = state["saves"], state["restores"], state["died_at"]
        self._look_again = state["look_again"]
        practised = None if state["practised"] is None else Snapshot.from_text(state["practised"])
        same = (snapshot for snapshot in self._store if practised is not None and snapshot.state == practised.state)
        self._practised = next(same, practised)
