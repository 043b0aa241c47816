"""Super Mario Bros. with practice: the environment saves the console where Mario tends to die, and goes back there.

A death ends the learner's episode as always, with its reward. What changes is where the next one begins: before the
place that killed Mario, as long as that leads on, else at the level's start. `info["practice"]` tells episodes apart.
"""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

import numpy as np

from mario_rl.environment.smb.env import Array, SmbEnv
from mario_rl.environment.smb.vector import SmbVectorEnv
from mario_rl.snapshots.hotspots import HALF_LIFE, DeathHotspotAggregate
from mario_rl.snapshots.practice import FRESH, SnapshotStarts
from mario_rl.snapshots.state_machine import SnapshotRules

__all__ = [
    "SnapshotMarioEnv",
    "SnapshotMarioVectorEnv",
    "create_snapshot_mario_env",
    "create_snapshot_mario_vector_env",
]

SAVE_SECONDS = 60.0

_log = logging.getLogger(__name__)


class HotspotFile:
    """Keeps an environment's hotspots on disk: once a minute, and when it is closed."""

    def __init__(self, hotspots: DeathHotspotAggregate):
        self._hotspots = hotspots
        self._saved = time.monotonic()

    def now_and_then(self) -> None:
        """Save if a minute has passed."""
        if time.monotonic() - self._saved >= SAVE_SECONDS:
            self.save()

    def save(self) -> None:
        """Save now; a disk that is full costs nobody his game."""
        self._saved = time.monotonic()
        if self._hotspots.path is None:
            return
        try:
            self._hotspots.save()
        except OSError as problem:
            _log.warning("%s is not saved: %s", self._hotspots.path, problem.strerror)


class Practising:
    """What an environment with practice has besides the plain one's."""

    snapshots: SnapshotStarts

    @property
    def total_saves(self) -> int:
        """Snapshots saved so far, all lanes together."""
        return self.snapshots.total_saves

    @property
    def total_restores(self) -> int:
        """How often an episode began with one, all lanes together."""
        return self.snapshots.total_restores


class SnapshotMarioEnv(Practising, SmbEnv):
    """One game with practice."""

    def __init__(self, starts: SnapshotStarts, **settings: Any):
        super().__init__(starts=starts, **settings)
        self.snapshots = starts
        self._file = HotspotFile(starts.hotspots)

    def step(self, action: np.int64) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Play one step."""
        self._file.now_and_then()
        return super().step(action)

    def close(self) -> None:
        """Free the console and keep the hotspots on disk."""
        super().close()
        self._file.save()


class SnapshotMarioVectorEnv(Practising, SmbVectorEnv):
    """The same on many lanes, which share hotspots and snapshots."""

    def __init__(self, num_envs: int, starts: SnapshotStarts, **settings: Any):
        super().__init__(num_envs, starts=starts, **settings)
        self.snapshots = starts
        self._file = HotspotFile(starts.hotspots)

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Play one step in every lane."""
        self._file.now_and_then()
        return super().step(actions)

    def close_extras(self, **kwargs: Any) -> None:
        """Free the consoles and keep the hotspots on disk."""
        super().close_extras(**kwargs)
        self._file.save()


def create_snapshot_mario_env(
    level: tuple[int, int] | str = (1, 1),
    hotspot_path: Path | str | None = None,
    checkpoint_interval: int = 500,
    max_restores_without_progress: int = 3,
    half_life: float = HALF_LIFE,
    **settings: Any,
) -> SnapshotMarioEnv:
    """An environment that practises where Mario dies; `settings` are those of the plain one (docs/environment.md).

    `hotspot_path` keeps the deaths from one session to the next (None: only in memory); they count half after
    `half_life` steps. After a death, `reset()` goes on from a snapshot, if there is one that leads on;
    `reset(options={"fresh": True})`, or a `reset` with a seed, begins at the level's start.
    """
    hotspots = _hotspots(hotspot_path, half_life)
    starts = SnapshotStarts(1, hotspots, _rules(checkpoint_interval, max_restores_without_progress), fresh=0.0)
    return SnapshotMarioEnv(starts, level=_name(level), **settings)


def create_snapshot_mario_vector_env(
    lanes: int,
    level: tuple[int, int] | str = (1, 1),
    hotspot_path: Path | str | None = None,
    checkpoint_interval: int = 500,
    max_restores_without_progress: int = 3,
    half_life: float = HALF_LIFE,
    fresh: float = FRESH,
    seed: int = 0,
    **settings: Any,
) -> SnapshotMarioVectorEnv:
    """The vector form. `fresh` is the chance that a death is followed by a fresh start whatever could be practised."""
    hotspots = _hotspots(hotspot_path, half_life)
    rules = _rules(checkpoint_interval, max_restores_without_progress)
    starts = SnapshotStarts(lanes, hotspots, rules, fresh=fresh, seed=seed)
    return SnapshotMarioVectorEnv(lanes, starts, level=_name(level), **settings)


def _hotspots(path: Path | str | None, half_life: float) -> DeathHotspotAggregate:
    if path is None:
        return DeathHotspotAggregate(half_life=half_life)
    return DeathHotspotAggregate.load_or_create(path, half_life)


def _rules(checkpoint_interval: int, max_restores_without_progress: int) -> SnapshotRules:
    return SnapshotRules(
        checkpoint_interval=checkpoint_interval, max_restores_without_progress=max_restores_without_progress
    )


def _name(level: tuple[int, int] | str) -> str:
    return level if isinstance(level, str) else f"{level[0]}-{level[1]}"
