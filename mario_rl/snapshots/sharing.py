"""What the workers of a run tell each other: deaths through the run's hotspots, snapshots through a file a worker.

The main process counts all deaths and writes them every minute (`runs/session.py`); a worker takes them over twice a
minute and counts its own in between. Files, because they outlive every process, and nobody waits for anybody.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable
from pathlib import Path

from mario_rl._native import Rom
from mario_rl.snapshots.hotspots import HotspotFileError
from mario_rl.snapshots.practice import SnapshotStarts
from mario_rl.snapshots.store import SnapshotFileError

RELOAD_SECONDS = 30.0

Warn = Callable[[str], None]


class SnapshotSharing:
    """One worker's part in it."""

    def __init__(self, directory: Path, worker: int, starts: SnapshotStarts, rom: Rom, warn: Warn):
        self._directory = directory
        self._rom = rom
        self._own = directory / f"worker_{worker}.json"
        self._starts = starts
        self._warn = warn
        self._hotspots_seen: float | None = None  # when the file that was read last had been written
        self._seen: dict[Path, float] = {}
        self._shared = time.monotonic()
        directory.mkdir(exist_ok=True)
        self._take_over()  # what the run knew when it was stopped, or this worker when it died

    def now_and_then(self) -> None:
        """Called between two rounds; does something twice a minute."""
        if time.monotonic() - self._shared >= RELOAD_SECONDS:
            self._shared = time.monotonic()
            self.share()

    def share(self) -> None:
        """Write our snapshots, and take over what is new. A full disk or a damaged file only costs the sharing."""
        try:
            self._starts.store.save(self._own)
        except OSError as problem:
            self._warn(f"snapshots are not shared: {problem.strerror}")
        self._take_over(without=self._own)

    def _take_over(self, without: Path | None = None) -> None:
        hotspots = self._starts.hotspots
        written = _written(hotspots.path)
        try:
            if written is not None and written != self._hotspots_seen:
                hotspots.reload()
                self._starts.refresh()
        except HotspotFileError as problem:
            self._warn(str(problem))
        self._hotspots_seen = written
        for file in sorted(self._directory.glob("worker_*.json")):
            written = _written(file)
            if file == without or not re.fullmatch(r"worker_\d+\.json", file.name) or self._seen.get(file) == written:
                continue
            try:
                self._starts.store.merge(file, self._rom)
            except SnapshotFileError as problem:
                self._warn(str(problem))
            if written is not None:
                self._seen[file] = written


def _written(file: Path | None) -> float | None:
    """When a file was written; None if there is none."""
    with contextlib.suppress(OSError):
        return None if file is None else file.stat().st_mtime
    return None
