"""Small processes for the tests to start, kill and stop. Spawned children import this file, so it must stay light."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import psutil

from mario_rl.distributed.board import SharedBoard
from mario_rl.distributed.heartbeat import SharedHeartbeat
from mario_rl.distributed.last_words import SharedLastWords
from mario_rl.distributed.process import run_child
from mario_rl.distributed.shared_memory import block_name

PATIENCE = 60.0  # seconds until a test takes something for hung; nothing is asserted about how long things take


def script(text: str) -> subprocess.Popen[str]:
    """A Python process of its own, in a process group of its own, that runs `text`."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(text)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        start_new_session=True,
    )


def outcome(process: subprocess.Popen[str], input: str | None = None) -> tuple[str, str, int]:
    """Wait for a script's end: what it said on stdout and stderr, and its exit code."""
    try:
        output, errors = process.communicate(input, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return output, errors, process.returncode


def a_name(what: str) -> str:
    """A name for shared memory that no other test uses."""
    return block_name(f"test.{uuid.uuid4().hex[:8]}", what)


def wait_until(happened: Callable[[], bool], what: str) -> None:
    """Look a hundred times a second; fail with `what` if it does not happen."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.01)


def is_dead(pid: int) -> bool:
    """Whether a process has ended; one that nobody has buried yet has, too."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def start_in_child(behaviour: str, index: int, names: dict[str, str], workers: int, parent_pid: int) -> None:
    """The target of a spawned process: one of the behaviours below, as a member of a run."""
    last_words = SharedLastWords(names["words"], workers)
    heartbeat = SharedHeartbeat(names["heartbeat"], workers)
    board = SharedBoard(names["board"], workers)
    run_child(lambda: BEHAVIOURS[behaviour](index, heartbeat, board), index, last_words, parent_pid)


def _obey(index: int, heartbeat: SharedHeartbeat, board: SharedBoard) -> None:
    """A good worker: beats, counts, ends when told."""
    while not board.control.stop:
        heartbeat.beat(index)
        if index < len(board.workers):
            board.workers[index].steps += 1
        time.sleep(0.01)


def _crash(index: int, heartbeat: SharedHeartbeat, board: SharedBoard) -> None:
    heartbeat.beat(index)
    raise ValueError("the flagpole is missing")


def _hang(index: int, heartbeat: SharedHeartbeat, board: SharedBoard) -> None:
    """Beats once, then neither beats nor listens, not even to SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    heartbeat.beat(index)
    time.sleep(3600)


def _finish(index: int, heartbeat: SharedHeartbeat, board: SharedBoard) -> None:
    """A coordinator whose run is over as soon as the workers have done something."""
    while board.total("steps") < 5:
        heartbeat.beat(index)
        time.sleep(0.01)


BEHAVIOURS = {"obey": _obey, "crash": _crash, "hang": _hang, "finish": _finish}
