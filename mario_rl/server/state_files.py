"""States that clients keep under names, as files: they are there again after the server was restarted."""

from __future__ import annotations

import re
from pathlib import Path

from mario_rl.atomic_file import write_atomically
from mario_rl.server.errors import Invalid, NotKept, NotThere, TooMany
from mario_rl.server.schemas import NAME_PATTERN, SavedState

MOST_STATES = 1000
LARGEST_STATE = 256 * 1024  # bytes; a console's state has some ten thousand
_SUFFIX = ".state"
_NAME = re.compile(NAME_PATTERN.removeprefix("^").removesuffix("$"))


class StateFiles:
    """The named states of a server, in one folder. What a state is of is written in it, and checked by the console."""

    def __init__(self, folder: Path):
        self._folder = folder

    def keep(self, name: str, state: bytes) -> SavedState:
        """Write a state, over one of the same name if there is one."""
        file = self._file(name)
        if not file.exists() and len(self._files()) >= MOST_STATES:
            raise TooMany(f"there are {MOST_STATES} saved states: delete some first")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(file, state)
            return _described(file)
        except OSError as problem:
            raise NotKept(f"the server cannot keep the state ({problem.strerror}): make room, or delete some") from None

    def state(self, name: str) -> bytes:
        """The state of that name."""
        try:
            return self._file(name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            raise NotThere(f"there is no saved state {name!r}") from None

    def delete(self, name: str) -> None:
        """Forget a state."""
        try:
            self._file(name).unlink()
        except (FileNotFoundError, NotADirectoryError):
            raise NotThere(f"there is no saved state {name!r}") from None

    def all(self) -> list[SavedState]:
        """What there is, by name."""
        return [_described(file) for file in self._files()]

    def _files(self) -> list[Path]:
        found = self._folder.glob(f"*{_SUFFIX}") if self._folder.is_dir() else ()
        return sorted(file for file in found if _NAME.fullmatch(file.name.removesuffix(_SUFFIX)))

    def _file(self, name: str) -> Path:
        # A name is letters, digits and . _ -, and begins with a letter or digit: no path, no hidden file.
        if not _NAME.fullmatch(name):
            raise Invalid(f"{name[:80]!r} is no name of a state: up to 64 letters, digits, dots, - and _")
        return self._folder / f"{name}{_SUFFIX}"


def _described(file: Path) -> SavedState:
    facts = file.stat()
    return SavedState(name=file.name.removesuffix(_SUFFIX), size=facts.st_size, saved_at=facts.st_mtime)
