"""Files that are either the old ones or the new ones, whatever happens while they are written.

The new content goes into a temporary file beside the target, is forced to the disk, and then takes the target's name in
one step. A power cut, kill -9 or a full disk in between leaves the old file as it was.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path


def write_atomically(path: Path, *parts: bytes | memoryview) -> None:
    """Replace a file by these bytes. An OSError (a full disk, say) leaves the old file and no temporary one."""
    with prepared(path, parts) as temporary:
        take_name(temporary, path)


@contextlib.contextmanager
def prepared(path: Path, parts: Iterable[bytes | memoryview]) -> Iterator[Path]:
    """The content, safe on disk under a temporary name, to be renamed to `path` within the block."""
    _remove_leftovers(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def take_name(source: Path, target: Path) -> None:
    """Rename, and do not return before the disk knows."""
    source.replace(target)
    directory = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _remove_leftovers(path: Path) -> None:
    """Remove what writers of this file left when they were killed."""
    for file in path.parent.glob(f".{path.name}.*.tmp"):
        writer = re.fullmatch(r"(\d+)\.tmp", file.name.removeprefix(f".{path.name}."))
        if writer and not _is_running(int(writer[1])):
            file.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True
