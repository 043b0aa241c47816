"""When to save the console, and whether to go back after a death: a state machine for one lane, without an emulator.

The table `TRANSITIONS` is the whole of what may happen; everything else raises. The diagram in docs/snapshots.md is
made from the same table. The machine is told what happens (`tick`, `saved`, `died`, `restored`, `begin`) and answers
what to do; who carries it out is the handler (`handler.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


class SnapshotState(Enum):
    """What a lane is doing."""

    RUNNING = "RUNNING"
    APPROACHING_HOTSPOT = "APPROACHING_HOTSPOT"
    CHECKPOINT_DUE = "CHECKPOINT_DUE"
    SAVE_SNAPSHOT = "SAVE_SNAPSHOT"
    SNAPSHOT_SAVED = "SNAPSHOT_SAVED"
    DEAD = "DEAD"
    EVALUATE_RESTORE = "EVALUATE_RESTORE"
    RESTORING = "RESTORING"
    GIVE_UP = "GIVE_UP"


_S = SnapshotState
TRANSITIONS: dict[SnapshotState, tuple[SnapshotState, ...]] = {
    _S.RUNNING: (_S.APPROACHING_HOTSPOT, _S.CHECKPOINT_DUE, _S.DEAD),
    _S.APPROACHING_HOTSPOT: (_S.SAVE_SNAPSHOT, _S.DEAD, _S.RUNNING),
    _S.CHECKPOINT_DUE: (_S.SAVE_SNAPSHOT, _S.DEAD),
    _S.SAVE_SNAPSHOT: (_S.SNAPSHOT_SAVED,),
    _S.SNAPSHOT_SAVED: (_S.RUNNING,),
    _S.DEAD: (_S.EVALUATE_RESTORE,),
    _S.EVALUATE_RESTORE: (_S.RESTORING, _S.GIVE_UP),
    _S.RESTORING: (_S.RUNNING,),
    _S.GIVE_UP: (),  # the episode ends; `begin` starts the next one
}
PLAYING = (_S.RUNNING, _S.APPROACHING_HOTSPOT, _S.CHECKPOINT_DUE)  # the states in which the game goes on


class IllegalTransition(ValueError):
    """Something that cannot happen now; the state is what it was."""


@dataclass(frozen=True)
class SnapshotRules:
    """When to save and when to go back."""

    approach: int = 100
    """Pixels before a hotspot from which on a place to save is looked for."""
    lead: int = 50
    """Pixels before a hotspot: the best place."""
    checkpoint_interval: int = 500
    """Game ticks (frames) between two snapshots in unexplored ground."""
    max_restores_without_progress: int = 3
    """So many restores that got no further end the practice."""
    closest_restore: int = 25
    """A snapshot must lie at least so many pixels before the death: nearer, that is already certain."""

    def __post_init__(self) -> None:
        if not 0 <= self.lead <= self.approach:
            raise ValueError(f"lead is from 0 to approach ({self.approach}), not {self.lead!r}")
        if self.checkpoint_interval < 1:
            raise ValueError(
                f"checkpoint_interval is a number of game ticks from 1 on, not {self.checkpoint_interval!r}"
            )
        if self.max_restores_without_progress < 1:
            raise ValueError(
                f"max_restores_without_progress is a whole number from 1 on, not {self.max_restores_without_progress!r}"
            )
        if self.closest_restore < 0:
            raise ValueError(f"closest_restore is a number of pixels from 0 on, not {self.closest_restore!r}")


@dataclass(frozen=True, slots=True)
class Sight:
    """What the lane sees in a tick."""

    x: int
    tick: int
    """Frames of the game so far."""
    hotspot: int | None = None
    """Left edge of the next hotspot ahead, in pixels of the same area."""
    unexplored: bool = False
    """No snapshot lies near, and nobody has died here often."""
    steady: bool = True
    """Mario stands or swims: a state from which every way is open."""
    area: int = 0
    """The map that x counts in."""


class SnapshotStateMachine:
    """One lane's machine."""

    def __init__(self, rules: SnapshotRules | None = None):
        self.rules = rules or SnapshotRules()
        self.state = SnapshotState.RUNNING
        self.restores_without_progress = 0
        self.saved_at = 0  # tick of the last snapshot, or of the episode's begin
        self._saved_for: tuple[int, int] | None = None  # area and x of the hotspot that has its snapshot in this life
        self._furthest: int | None = None  # progress at the deaths so far

    def begin(self, tick: int = 0) -> None:
        """A new episode from the level's start."""
        self.state = SnapshotState.RUNNING
        self.restores_without_progress = 0
        self.saved_at = tick
        self._saved_for = self._furthest = None

    def tick(self, sight: Sight) -> bool:
        """The game went on; whether to save a snapshot now (then call `saved`)."""
        if self.state not in PLAYING:
            raise IllegalTransition(f"the game does not go on in {self.state.value}")
        if self.state is SnapshotState.RUNNING:
            self._look_ahead(sight)
        return self._save_here(sight)

    def _look_ahead(self, sight: Sight) -> None:
        """Whether a snapshot is wanted soon."""
        if self._approaches(sight):
            self._enter(SnapshotState.APPROACHING_HOTSPOT)
        elif sight.unexplored and sight.tick - self.saved_at >= self.rules.checkpoint_interval:
            self._enter(SnapshotState.CHECKPOINT_DUE)

    def _save_here(self, sight: Sight) -> bool:
        """Whether this is the place for the snapshot that is wanted, if one is."""
        if self.state is SnapshotState.APPROACHING_HOTSPOT:
            if not self._approaches(sight):
                self._enter(SnapshotState.RUNNING)
                return False
            if sight.hotspot is None or sight.hotspot - sight.x > self.rules.lead or not sight.steady:
                return False
            self._saved_for = (sight.area, sight.hotspot)
        elif self.state is SnapshotState.RUNNING or not sight.steady:
            return False
        self._enter(SnapshotState.SAVE_SNAPSHOT)
        return True

    def has_saved_for(self, area: int, hotspot: int) -> bool:
        """Whether this hotspot was the last to get a snapshot in this life."""
        return self._saved_for == (area, hotspot)

    def saved(self, tick: int) -> None:
        """The snapshot that `tick` asked for is saved."""
        self._enter(SnapshotState.SNAPSHOT_SAVED)
        self.saved_at = tick
        self._enter(SnapshotState.RUNNING)

    def died(self, x: int, progress: int, restore_x: int | None) -> bool:
        """Mario died at x; whether to go back to the snapshot at `restore_x` (then call `restored`).

        `progress` is how far this life came, in pixels from the level's start; `restore_x` is None if there is no
        snapshot.
        """
        self._enter(SnapshotState.DEAD)
        self._enter(SnapshotState.EVALUATE_RESTORE)
        if self._furthest is not None:  # the life began with a restore
            self.restores_without_progress = 0 if progress > self._furthest else self.restores_without_progress + 1
        self._furthest = progress if self._furthest is None else max(progress, self._furthest)
        hopeless = self.restores_without_progress >= self.rules.max_restores_without_progress
        if hopeless or restore_x is None or x - restore_x < self.rules.closest_restore:
            self._enter(SnapshotState.GIVE_UP)
            return False
        self._enter(SnapshotState.RESTORING)
        return True

    def restored(self, tick: int, hotspot: tuple[int, int] | None = None) -> None:
        """The lane goes on from the snapshot; if it is that of a hotspot (area and x), that one needs no other."""
        if self.state is not SnapshotState.RESTORING:
            raise IllegalTransition(f"nothing is being restored in {self.state.value}")
        self._enter(SnapshotState.RUNNING)
        self.saved_at = tick
        self._saved_for = hotspot

    def state_dict(self) -> dict[str, Any]:
        """Everything the machine knows: text and numbers."""
        return {
            "state": self.state.value,
            "restores_without_progress": self.restores_without_progress,
            "saved_at": self.saved_at,
            "saved_for": None if self._saved_for is None else list(self._saved_for),
            "furthest": self._furthest,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` was taken."""
        self.state = SnapshotState(state["state"])
        self.restores_without_progress = state["restores_without_progress"]
        self.saved_at, self._furthest = state["saved_at"], state["furthest"]
        self._saved_for = None if state["saved_for"] is None else (state["saved_for"][0], state["saved_for"][1])

    def _approaches(self, sight: Sight) -> bool:
        """A hotspot that has no snapshot in this life yet is close ahead."""
        if sight.hotspot is None or self.has_saved_for(sight.area, sight.hotspot):
            return False
        return 0 <= sight.hotspot - sight.x <= self.rules.approach

    def _enter(self, state: SnapshotState) -> None:
        if state not in TRANSITIONS[self.state]:
            raise IllegalTransition(f"{self.state.value} does not lead to {state.value}")
        self.state = state


def diagram() -> str:
    """The table as a Mermaid state diagram."""
    lines = ["stateDiagram-v2", f"    [*] --> {SnapshotState.RUNNING.value}"]
    for state, following in TRANSITIONS.items():
        lines += [f"    {state.value} --> {other.value}" for other in following]
    lines += [f"    {state.value} --> [*]" for state, following in TRANSITIONS.items() if not following]
    return "\n".join(lines)
