"""Files of a run that its actors share although their machines have no file system in common.

Each actor has a directory of its own on its node, laid out as the run's. What changes in one is told to the
coordinator, and from there goes to whoever asks what is new. The run's directory itself is the parent's: all that
matters arrives there, so that a lost node, the head included, loses nothing that had been saved.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from mario_rl.atomic_file import write_atomically

Files = dict[str, bytes]

CURRICULUM = ("routes/", "archive/", "snapshots/", "death_hotspots.json")
"""What workers read: the beginnings of names relative to the run's directory."""
SAVED = ("checkpoint.pt", "weights.pt", "best.pt")
"""What the coordinator writes and the parent keeps."""


class SharedFiles:
    """The newest of each file, with a number that grows with every change of any of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: dict[str, tuple[int, bytes]] = {}
        self._stamp = 0

    def put(self, files: Mapping[str, bytes]) -> None:
        """Share these; what is there already, unchanged, is no news."""
        with self._lock:
            for name, content in files.items():
                if name not in self._files or self._files[name][1] != content:
                    self._stamp += 1
                    self._files[name] = (self._stamp, content)

    def since(self, stamp: int, wanted: Callable[[str], bool] = lambda name: True) -> tuple[int, Files]:
        """What has changed after that stamp, and the stamp to ask with next."""
        with self._lock:
            new = {name: file for name, (when, file) in self._files.items() if when > stamp and wanted(name)}
            return self._stamp, new


class Folder:
    """A directory whose changes are looked for."""

    def __init__(self, path: Path):
        self.path = path
        self._seen: dict[str, tuple[int, int]] = {}

    def changed(self, names: Iterable[str]) -> Files:
        """Those of these files that are new or other than at the last look."""
        return {name: content for name in names if (content := self._read_if_new(name)) is not None}

    def write(self, files: Mapping[str, bytes]) -> None:
        """Put files of others here; they are no news to us."""
        for name, content in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content)
            self._seen[name] = _state(path)

    def _read_if_new(self, name: str) -> bytes | None:
        path = self.path / name
        try:
            state = _state(path)
            if self._seen.get(name) == state:
                return None
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        self._seen[name] = state
        return content


def curriculum_files(run: Path) -> Files:
    """What the workers of a run need to know of it before they begin."""
    files = (file for file in run.rglob("*.json") if file.is_file())
    names = {file.relative_to(run).as_posix(): file for file in files}
    return {name: file.read_bytes() for name, file in names.items() if name.startswith(CURRICULUM)}


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size
