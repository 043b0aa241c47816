"""A good child process dies with its parent, leaves signals to it, computes on one thread, and says why it died."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from pathlib import Path

from mario_rl.distributed.last_words import SharedLastWords

_PR_SET_PDEATHSIG = 1  # <sys/prctl.h>
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # <malloc.h>
_KEPT_BYTES = 1 << 30

# Ctrl-C, a closing terminal and `timeout` send these to everyone. The parent answers, by stopping all in good order.
_FOR_THE_PARENT = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)


def become_child(parent_pid: int, output: Path | None = None) -> None:
    """Call this first in a child process that the parent's main thread started.

    The kernel kills the child when that thread ends, however it ends. Ctrl-C and its like are left to the parent, which
    then stops its children in good order. What the child prints goes to the end of the file `output`, if there is one:
    the terminal may be the dashboard's.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:  # it died before the kernel knew
        os._exit(1)
    for number in _FOR_THE_PARENT:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _FOR_THE_PARENT)
    if output is not None:
        _print_to(output)
    keep_memory()
    os.environ["OMP_NUM_THREADS"] = "1"  # for a torch that is not loaded yet
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


def keep_memory() -> None:
    """Let this process keep the memory that it frees, since it will want as much again.

    Gradients are made of arrays of megabytes, thousands of times. glibc gives each back to the kernel at once, and gets
    new pages full of zeros for the next: from pixels that is a quarter of a gradient's time.
    """
    with contextlib.suppress(AttributeError):  # a C library without it
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_THRESHOLD, _KEPT_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)


def run_child(
    body: Callable[[], None], index: int, last_words: SharedLastWords, parent_pid: int, output: Path | None = None
) -> None:
    """Run a child's body; an exception becomes its last words and exit code 1, without a traceback on the terminal."""
    become_child(parent_pid, output)
    try:
        body()
    except Exception:
        last_words.say(index, traceback.format_exc())
        if output is not None:
            traceback.print_exc()
        sys.exit(1)


@contextmanager
def ctrl_c_held_back() -> Iterator[None]:
    """Start children within: they are born deaf to Ctrl-C and its like, which reach the parent afterwards."""
    resource_tracker.ensure_running()  # or else the first child starts it, which unblocks Ctrl-C (CPython's gh-127586)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _FOR_THE_PARENT)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def exit_reason(exit_code: int | None) -> str:
    """How a process ended, for people."""
    if exit_code is None:
        return "is still running"
    if exit_code >= 0:
        return f"ended with exit code {exit_code}"
    try:
        name = signal.Signals(-exit_code).name
    except ValueError:
        name = f"signal {-exit_code}"
    return f"was killed by {name}"


def _print_to(output: Path) -> None:
    """Append all output, native code's and that of a crash included, to a file."""
    sys.stdout.flush()
    sys.stderr.flush()
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(file)
    faulthandler.enable()
