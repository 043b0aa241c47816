"""Shared memory that is released, whatever happens to the processes that use it.

A block is a file in /dev/shm, named `mario-rl-<run>-<pid of its creator>-<what>` and mapped into every process that
uses it. The creator removes the name when it closes the block or exits. If it is killed first, the name stays behind,
and `release_leftovers` finds it: a creator holds a lock on its file for as long as it lives. The kernel takes the lock
back however the process ends, so neither a reused process number nor a container's own numbering can mislead us.

Python's own `multiprocessing.shared_memory` is not used: before 3.13 its resource tracker takes a block away from
everyone as soon as one process that attached it ends, and complains about it.
"""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import re
import tempfile
import threading
import weakref
from array import array
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

PREFIX = "mario-rl-"
LAYOUT_VERSION = 1  # of everything the blocks hold; raised whenever a field moves
CACHE_LINE = 64  # bytes; words of different writers stay in different lines

_MAGIC = int.from_bytes(b"MARIO-RL", "little")
_HEADER_WORDS = CACHE_LINE // 8  # magic, layout version, kind, then the shape
_DIRECTORY = Path("/dev/shm") if Path("/dev/shm").is_dir() else Path(tempfile.gettempdir())

_fence_lock = threading.Lock()


class SharedMemoryError(ValueError):
    """Shared memory that cannot be had or is not what it should be; the message says what to do."""


def fence() -> None:
    """Everything read or written before this call is read or written before everything after it.

    Processors such as ARM's reorder memory accesses, and Python has no barrier to say so. A lock has: nothing leaves it
    backwards past `acquire` or forwards past `release`. Two in a row leave nothing that could pass through both.
    """
    with _fence_lock:
        pass
    with _fence_lock:
        pass


def block_name(run: str, what: str) -> str:
    """The name of this process's block `what` of a run."""
    return f"{PREFIX}{re.sub(r'[^A-Za-z0-9_.]', '_', run)[:60]}-{os.getpid()}-{what}"


class SharedBlock:
    """A named piece of memory: a header that says what it holds, then `size` bytes for the owner to lay out.

    The process that creates it owns the name; all others attach. Both sides say what they expect (`kind`, `shape`), so
    that processes that disagree find out at once. Fresh memory is all zeros.
    """

    def __init__(self, name: str, size: int, *, kind: str, shape: tuple[int, ...], create: bool) -> None:
        self.name = name
        path, whole = _DIRECTORY / name, _HEADER_WORDS * 8 + size
        header = [_MAGIC, LAYOUT_VERSION, int.from_bytes(kind.encode()[:8], "little"), *shape]
        self._release: Callable[[], object] = lambda: None
        if create:
            file = _create(path, whole)
            self._release = weakref.finalize(self, _remove, path, file, os.getpid())  # at the latest when Python exits
            self._map = mmap.mmap(file, whole)
            self._header(len(header))[:] = array("q", header)
        else:
            self._map = _attach(path, whole)
            if self._header(len(header)).tolist() != header:
                raise SharedMemoryError(f"shared memory {name} does not hold the {kind} expected: {_SAME_VERSION}")

    def words(self, offset: int, count: int) -> memoryview:
        """`count` int64 words from a byte offset on. Each is read and written as a whole, never half."""
        return self._bytes(offset, count * 8).cast("q")

    def numbers(self, offset: int, count: int) -> memoryview[float]:
        """`count` float64 numbers from a byte offset on, each read and written as a whole."""
        return self._bytes(offset, count * 8).cast("d")

    def floats(self, offset: int, count: int) -> npt.NDArray[np.float32]:
        """`count` float32 numbers from a byte offset on, as an array on the shared memory itself."""
        return np.frombuffer(self._bytes(offset, count * 4), np.float32)

    def close(self) -> None:
        """Let go of the memory; the creator also removes the name. Views that are still around stay valid."""
        self._release()

    def _header(self, words: int) -> memoryview:
        return memoryview(self._map)[: words * 8].cast("q")

    def _bytes(self, offset: int, count: int) -> memoryview:
        start = _HEADER_WORDS * 8 + offset
        return memoryview(self._map)[start : start + count]


_SAME_VERSION = "all processes of a run must come from the same installation of mario-rl"


def leftovers() -> list[str]:
    """The names of blocks whose creator is gone."""
    return [path.name for path in sorted(_DIRECTORY.glob(f"{PREFIX}*")) if _is_left_over(path, remove=False)]


def release_leftovers() -> list[str]:
    """Remove the blocks whose creator is gone and return their names. Those of living runs are left alone."""
    return [path.name for path in sorted(_DIRECTORY.glob(f"{PREFIX}*")) if _is_left_over(path, remove=True)]


def _create(path: Path, size: int) -> int:
    """A new locked file of `size` bytes; the lock says that its creator lives."""
    while True:
        _is_left_over(path, remove=True)  # of a killed process whose number we have now
        try:
            file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        except FileExistsError:
            raise SharedMemoryError(
                f"shared memory {path.name} exists already: close it before it is made again"
            ) from None
        except OSError as problem:
            raise SharedMemoryError(f"cannot create shared memory {path}: {problem.strerror}") from problem
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not _is_named(file, path):  # someone took it for a leftover before the lock was ours
                os.close(file)
                continue
            _reserve(file, size)
        except OSError as problem:
            path.unlink(missing_ok=True)
            os.close(file)
            if problem.errno not in (errno.ENOSPC, errno.EFBIG):
                raise
            raise SharedMemoryError(
                f"{path.parent} has no room for {size / 1e6:.1f} MB of shared memory: `mario-rl doctor --clean` frees"
                " what dead runs left; a container gets more by --shm-size"
            ) from problem
        return file


def _reserve(file: int, size: int) -> None:
    """Take the memory now, where its lack is an error, and not at the first write, where it kills the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
    else:  # macOS
        os.ftruncate(file, size)


def _attach(path: Path, size: int) -> mmap.mmap:
    try:
        file = os.open(path, os.O_RDWR)
    except OSError as problem:
        raise SharedMemoryError(
            f"no shared memory {path.name} to attach to ({problem.strerror}): is the run over?"
        ) from None
    try:
        if os.fstat(file).st_size != size:
            raise SharedMemoryError(f"shared memory {path.name} has another size than expected: {_SAME_VERSION}")
        return mmap.mmap(file, size)
    finally:
        os.close(file)  # a mapping needs no open file; only the creator's lock does


def _is_left_over(path: Path, remove: bool) -> bool:
    """Whether nobody holds the lock of a block; `remove` then removes its name while the lock is ours."""
    try:
        file = os.open(path, os.O_RDWR)
    except OSError:  # gone already, or another user's
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _is_named(file, path):
            return False
        if remove:
            path.unlink()
    except OSError:  # its creator holds the lock
        return False
    finally:
        os.close(file)
    return True


def _is_named(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _remove(path: Path, file: int, creator: int) -> None:
    if os.getpid() == creator:  # a forked copy of the creator owns nothing
        path.unlink(missing_ok=True)
        os.close(file)
