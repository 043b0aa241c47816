"""Saved consoles put to use: where Mario dies, states to practise from, and an archive that finds the way."""

from mario_rl.snapshots.handler import SnapshotHandler
from mario_rl.snapshots.hotspots import DeathHotspotAggregate
from mario_rl.snapshots.state_machine import SnapshotRules, SnapshotState, SnapshotStateMachine
from mario_rl.snapshots.store import Snapshot, SnapshotStore

__all__ = [
    "DeathHotspotAggregate",
    "Snapshot",
    "SnapshotHandler",
    "SnapshotRules",
    "SnapshotState",
    "SnapshotStateMachine",
    "SnapshotStore",
]
