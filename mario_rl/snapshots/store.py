"""Saved consoles, found by place: bounded in memory, and portable between workers and runs.

A bucket of a level's area keeps a few snapshots: the newest, and those from which practice led on most often. A state
is the native core's portable form, which carries its own version, the cartridge's hash and a checksum: what does not
fit is refused, at the latest when it is loaded into a console.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mario_rl._native import Rom, StateError
from mario_rl.atomic_file import write_atomically
from mario_rl.emulators.embedded import EmbeddedBatch
from mario_rl.snapshots.hotspots import bucket_of

VERSION = 1
PER_BUCKET = 3
CAPACITY = 512  # snapshots; a state of Super Mario Bros. takes some KB


# What reading a damaged file can raise.
_DAMAGES = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, zlib.error)


class SnapshotFileError(ValueError):
    """A file that does not hold snapshots."""


@dataclass
class Snapshot:
    """A console that waits to be played on."""

    level: str
    area: int
    x: int
    progress: int
    """Pixels of new ground since the level's start, over all areas."""
    state: bytes
    restores: int = 0
    """How often it was gone back to ..."""
    advances: int = 0
    """... and how often Mario got further than before from there."""

    @property
    def usefulness(self) -> float:
        """The chance that it leads on, as far as one can tell (Laplace's rule of succession)."""
        return (self.advances + 1) / (self.restores + 2)

    def as_text(self) -> dict[str, Any]:
        """For JSON."""
        packed = base64.b64encode(zlib.compress(self.state)).decode("ascii")
        return vars(self) | {"state": packed}

    @classmethod
    def from_text(cls, entry: dict[str, Any]) -> Snapshot:
        """The way back."""
        numbers = {name: int(entry[name]) for name in ("area", "x", "progress", "restores", "advances")}
        state = zlib.decompress(base64.b64decode(entry["state"], validate=True))
        return cls(level=str(entry["level"]), state=state, **numbers)


class SnapshotStore:
    """Snapshots by level, area and bucket."""

    def __init__(self, per_bucket: int = PER_BUCKET, capacity: int = CAPACITY):
        if per_bucket < 1 or capacity < 1:
            raise ValueError("a store has room for at least one snapshot a bucket, and in all")
        self.per_bucket = per_bucket
        self.capacity = capacity
        # (level, area) -> bucket -> snapshots, the oldest first
        self._places: dict[tuple[str, int], dict[int, list[Snapshot]]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Snapshot]:
        for buckets in self._places.values():
            for snapshots in buckets.values():
                yield from snapshots

    def add(self, snapshot: Snapshot) -> None:
        """Keep a snapshot; where there is no room, the least useful goes, of its bucket or of the fullest ones."""
        bucket = self._places.setdefault((snapshot.level, snapshot.area), {}).setdefault(bucket_of(snapshot.x), [])
        bucket.append(snapshot)
        self._count += 1
        if len(bucket) > self.per_bucket:
            self._drop(min(bucket[:-1], key=_usefulness))
        elif self._count > self.capacity:
            self._drop(min(self._of_fullest_buckets(snapshot), key=_usefulness))

    def _of_fullest_buckets(self, newest: Snapshot) -> list[Snapshot]:
        """What may go when the store is full: not the newest, which nobody has tried yet."""
        buckets = [bucket for buckets in self._places.values() for bucket in buckets.values()]
        others = [[snapshot for snapshot in bucket if snapshot is not newest] for bucket in buckets]
        fullest = max(len(bucket) for bucket in others)
        return [snapshot for bucket in others if len(bucket) == fullest for snapshot in bucket]

    def _drop(self, snapshot: Snapshot) -> None:
        """Let a snapshot go, and its bucket with the last one, so that a loaded store is in the same order."""
        place, x = (snapshot.level, snapshot.area), bucket_of(snapshot.x)
        buckets = self._places[place]
        buckets[x] = [other for other in buckets[x] if other is not snapshot]
        self._count -= 1
        if not buckets[x]:
            del buckets[x]
        if not buckets:
            del self._places[place]

    def nearest(self, level: str, area: int, wanted_x: int, at_most_x: int) -> Snapshot | None:
        """The most useful snapshot of the bucket nearest to `wanted_x` among those that lie not beyond `at_most_x`."""
        found: list[Snapshot] = []
        for snapshots in self._places.get((level, area), {}).values():
            found += [snapshot for snapshot in snapshots if snapshot.x <= at_most_x]
        if not found:
            return None
        return min(found, key=lambda snapshot: (abs(bucket_of(snapshot.x) - bucket_of(wanted_x)), -snapshot.usefulness))

    def has_near(self, level: str, area: int, x: int, pixels: int) -> bool:
        """Whether a snapshot lies so near."""
        buckets = self._places.get((level, area), {})
        return any(abs(snapshot.x - x) <= pixels for snapshots in buckets.values() for snapshot in snapshots)

    def by_level(self) -> dict[str, list[list[Snapshot]]]:
        """For every level its buckets, in the order of area and x."""
        found: dict[str, list[list[Snapshot]]] = {}
        for (level, _), buckets in sorted(self._places.items()):
            found.setdefault(level, []).extend(buckets[x] for x in sorted(buckets))
        return found

    def clear(self) -> None:
        """Forget everything."""
        self._places.clear()
        self._count = 0

    def save(self, path: Path) -> None:
        """Write all snapshots into a file; a reader sees the old one or the new one."""
        write_atomically(path, json.dumps(self.state_dict()).encode())

    def merge(self, path: Path, rom: Rom | None = None) -> int:
        """Add the snapshots of a file (of another worker, or another run) that are not here yet; how many.

        A SnapshotFileError, and no change, if the file is damaged, or holds what a console with `rom` would not take.
        """
        try:
            others = read_snapshots(json.loads(path.read_bytes()))
        except OSError as problem:
            raise SnapshotFileError(f"{path} cannot be read: {problem.strerror}") from problem
        except _DAMAGES as problem:
            raise SnapshotFileError(f"{path} does not hold snapshots of this version: delete it") from problem
        if rom is not None:
            _try_out(others, rom, path)
        known = {snapshot.state for snapshot in self}
        new = [snapshot for snapshot in others if snapshot.state not in known]
        for snapshot in new:
            self.add(snapshot)
        return len(new)

    def state_dict(self) -> dict[str, Any]:
        """All snapshots: text and numbers."""
        return {"version": VERSION, "snapshots": [snapshot.as_text() for snapshot in self]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Hold exactly what `state_dict` held."""
        snapshots = read_snapshots(state)
        self.clear()
        for snapshot in snapshots:
            self.add(snapshot)


def read_snapshots(state: dict[str, Any]) -> list[Snapshot]:
    """The snapshots that `SnapshotStore.state_dict` wrote."""
    if state["version"] != VERSION:
        raise ValueError("snapshots of another version")
    return [Snapshot.from_text(entry) for entry in state["snapshots"]]


def _usefulness(snapshot: Snapshot) -> float:
    return snapshot.usefulness


def _try_out(snapshots: list[Snapshot], rom: Rom, path: Path) -> None:
    """Load every state into a console, which looks at its version, its cartridge and its checksum."""
    console = EmbeddedBatch(rom, lanes=1)
    for snapshot in snapshots:
        try:
            console.load(0, snapshot.state)
        except StateError as problem:
            raise SnapshotFileError(f"{path} cannot be used here: {problem}; delete it") from problem
