"""Mednafen as a child process: how it is started, watched and ended so that nothing of it is ever left.

- A child is started by a thread of its own, which then waits for its end. So the end is noticed at once, and a child
  that asked to die with its parent (for the kernel that is the thread that started it) does so when this process ends.
- Its home directory exists only while it starts: the shim removes it at the first frame. What two processes killed in
  that tenth of a second leave, the next start removes: a home whose lock nobody holds.
- The cartridge, the log and the shared memory are memory files, which have no names.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from mario_rl.emulators.mednafen_build import MednafenError

LAUNCH_SECONDS = 30.0  # it takes a tenth of a second
END_SECONDS = 5.0
HOME_PREFIX = "mario-rl-mednafen-"


class Child:
    """A running program. `on_end`, if given, is called by the thread that waits for it."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        fds: Sequence[int],
        log: Log,
        on_end: Callable[[], None] = lambda: None,
    ):
        self._ended = threading.Event()
        self._started = threading.Event()
        self._problem: OSError | None = None
        self._pidfd = -1
        self.pid = 0
        self.returncode: int | None = None
        arguments = (list(command), dict(environment), list(fds), log.fd, on_end)
        threading.Thread(target=self._live, args=arguments, name=f"keeper of {command[0]}", daemon=True).start()
        self._started.wait()
        if self._problem is not None:
            raise MednafenError(f"cannot start {command[0]}: {self._problem.strerror}") from self._problem

    def _live(
        self, command: list[str], environment: dict[str, str], fds: list[int], log: int, on_end: Callable[[], None]
    ) -> None:
        try:
            process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=fds,
                start_new_session=True,  # Ctrl-C in a terminal is for us, not for it
            )
            self._pidfd = os.pidfd_open(process.pid)
        except OSError as problem:
            self._problem = problem
            self._started.set()
            return
        self.pid = process.pid
        self._started.set()
        self.returncode = process.wait()
        self._ended.set()
        on_end()

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return not self._ended.is_set()

    def send(self, number: signal.Signals) -> None:
        """Send a signal; one that has ended gets none."""
        with contextlib.suppress(ProcessLookupError):
            if self._pidfd >= 0:
                signal.pidfd_send_signal(self._pidfd, number)

    def kill(self) -> None:
        """At once, without waiting."""
        self.send(signal.SIGKILL)

    def ended_within(self, seconds: float) -> bool:
        """Wait for its end."""
        return self._ended.wait(seconds)

    def end(self, ask: Callable[[], None] | None = None) -> None:
        """End it: `ask` it to, then kill it. Returns when it is gone. Once only."""
        if ask is not None and self.alive:
            ask()
            self.ended_within(1.0)
        self.send(signal.SIGKILL)
        self.ended_within(END_SECONDS)
        pidfd, self._pidfd = self._pidfd, -1
        os.close(pidfd)

    def how_it_ended(self) -> str:
        """In words."""
        if self.returncode is None:
            return "still runs"
        if self.returncode < 0:
            return f"was ended by {signal.Signals(-self.returncode).name}"
        return f"ended with exit code {self.returncode}"


class Log:
    """What a child says, in memory."""

    def __init__(self) -> None:
        self.fd = os.memfd_create("mario-rl-mednafen-log")

    def last_line(self) -> str:
        """The last thing it said."""
        size = os.fstat(self.fd).st_size
        text = os.pread(self.fd, 4096, max(0, size - 4096)).decode(errors="replace")
        return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it said nothing")

    def close(self) -> None:
        """Forget it."""
        os.close(self.fd)


@contextlib.contextmanager
def home_directory() -> Iterator[Path]:
    """A directory for one start of Mednafen, gone afterwards whatever happened."""
    _remove_abandoned_homes()
    home, lock = _locked_home()
    try:
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)
        os.close(lock)


def _locked_home() -> tuple[Path, int]:
    while True:
        home = Path(tempfile.mkdtemp(prefix=HOME_PREFIX))
        with contextlib.suppress(FileNotFoundError):
            lock = os.open(home, os.O_RDONLY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if home.exists():  # until it was locked, another process could take it for abandoned
                return home, lock
            os.close(lock)


def _remove_abandoned_homes() -> None:
    for home in Path(tempfile.gettempdir()).glob(f"{HOME_PREFIX}*"):
        try:
            lock = os.open(home, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:  # it has just gone, or is somebody else's
            continue
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(home, ignore_errors=True)
        os.close(lock)
