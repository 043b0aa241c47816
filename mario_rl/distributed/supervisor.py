"""Keeps the processes of a run alive: starts them, notices who died or hangs, replaces them, ends them all.

They are this machine's (`children.py`) or actors on a cluster's nodes (`mario_rl/cluster/`): the rules are the same.

`tick` does the work of the moment and is called a few times a second, from the main thread: the kernel ends a child
when the thread that started it ends (`process.become_child`).
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from mario_rl.distributed.board import Board
from mario_rl.distributed.process import ctrl_c_held_back, exit_reason

STALE_SECONDS = 30.0  # without a sign of life, a process counts as hung
STARTUP_SECONDS = 120.0  # until its first one: importing, building consoles, loading a checkpoint
FIRST_DELAY, LONGEST_DELAY = 0.5, 8.0  # seconds before a restart; doubled by each further death within a minute
DEATHS_ALLOWED, DEATH_WINDOW = 5, 60.0  # as many deaths within so many seconds are too many
NONFINITE_ALLOWED = 3  # gradients in a row
LONGEST_NAP = 5.0  # seconds between two ticks; after more, it was us who slept, and nobody else is blamed for silence


class Process(Protocol):
    """What is supervised: `multiprocessing`'s processes are such."""

    @property
    def pid(self) -> int | None:
        """Its number, where it has one here."""

    @property
    def exitcode(self) -> int | None:
        """None while it runs; 0 if it ended well, below 0 if a signal killed it."""

    def kill(self) -> None:
        """End it at once."""

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end, or so many seconds."""

    def close(self) -> None:
        """Let go of it, after its end."""


class Places(Protocol):
    """Where gradients lie."""

    def clear(self, worker: int) -> None:
        """Forget what a dead worker had sent."""


class Heartbeat(Protocol):
    """When each was heard of last."""

    def age(self, index: int) -> float:
        """Seconds since its last sign of life; infinite before the first."""

    def forget(self, index: int) -> None:
        """A new process takes this place."""


class LastWords(Protocol):
    """What each said when it died."""

    def hear(self, index: int) -> str:
        """The text; empty if nothing was said."""

    def forget(self, index: int) -> None:
        """A new process takes this place."""


class GivenUp(RuntimeError):
    """A process died too often for another try to make sense; the message says which, and of what."""


class WorkerGivenUp(GivenUp):
    """A worker died too often."""


class CoordinatorGivenUp(GivenUp):
    """The coordinator died too often."""


@dataclass(slots=True)
class Child:
    """One process of the run, and those that had its place before."""

    index: int  # in heartbeat and last words; the coordinator's comes after the workers'
    name: str
    start: Callable[[], Process]
    process: Process | None = None
    started: float = -math.inf
    restart_at: float | None = 0.0  # due to be started then; None: not at all
    deaths: deque[float] = field(default_factory=deque)  # when; those of the last minute
    done: bool = False


class Supervisor:
    """The parent's side of all processes of a run.

    `start_worker(index)` and `start_coordinator()` return a process that they have just started. `report` gets what
    happens, as events (`events.py`). A coordinator that exits with code 0 ends the run; a worker that does so before
    the end counts as dead.
    """

    def __init__(
        self,
        start_worker: Callable[[int], Process],
        start_coordinator: Callable[[], Process],
        *,
        board: Board,
        pool: Places,
        heartbeat: Heartbeat,
        last_words: LastWords,
        report: Callable[[dict[str, Any]], None],
        stale_seconds: float = STALE_SECONDS,
        startup_seconds: float = STARTUP_SECONDS,
        first_delay: float = FIRST_DELAY,
    ) -> None:
        self._board, self._pool, self._heartbeat, self._last_words = board, pool, heartbeat, last_words
        self._report = report
        self._stale_seconds, self._startup_seconds, self._first_delay = stale_seconds, startup_seconds, first_delay
        workers = len(board.workers)
        self._coordinator = Child(workers, "coordinator", start_coordinator)
        self._children = [self._coordinator]
        self._children += [Child(index, f"worker {index}", partial(start_worker, index)) for index in range(workers)]
        self._last_tick = self._awake_since = -math.inf
        self.bad_end: str | None = None  # of what the coordinator died while it should have ended the run in good order

    def __enter__(self) -> Supervisor:
        return self

    def __exit__(self, *exception: object) -> None:
        self.shutdown()

    @property
    def pids(self) -> dict[str, int]:
        """The processes that run now, by name."""
        running = ((child.name, child.process) for child in self._children)
        return {name: process.pid for name, process in running if process is not None and process.pid is not None}

    def tick(self) -> bool:
        """Start, replace, report; whether anything still runs or is about to. Raises GivenUp."""
        now = time.monotonic()
        if now - self._last_tick > LONGEST_NAP:
            self._awake_since = now
        self._last_tick = now
        for child in self._children:
            if child.process is None:
                if child.restart_at is not None and now >= child.restart_at and not self._stopping:
                    self._start(child)
            elif child.process.exitcode is not None:
                self._after_exit(child)
            elif (silence := self._silence(child)) is not None:
                self._replace(child, f"gave no sign of life for {silence:.0f} s")
            elif self._blamed(child):
                self._replace(child, f"sent {NONFINITE_ALLOWED} gradients in a row that were not finite")
        return any(child.process is not None for child in self._children) or not (
            self._stopping or all(child.done for child in self._children)
        )

    def shutdown(self, timeout: float = 10.0, meanwhile: Callable[[], None] = lambda: None) -> None:
        """End all processes: ask, wait up to `timeout` seconds, kill. None is left afterwards.

        `meanwhile` is called over and over while they finish: they may have things to report.
        """
        self._board.control.stop = 1
        try:
            self._wait_for_all(timeout, meanwhile)
        finally:  # also when the user has no more patience than this
            for child in self._children:
                child.restart_at = None
                self._bury(child)

    @property
    def _stopping(self) -> bool:
        return self._board.control.stop != 0

    def _start(self, child: Child) -> None:
        self._heartbeat.forget(child.index)
        self._last_words.forget(child.index)
        child.started = time.monotonic()
        child.restart_at = None
        try:
            with ctrl_c_held_back():
                child.process = child.start()
        except OSError as problem:  # the machine has no memory or process numbers left, for the moment
            self._replace(child, f"could not be started ({problem.strerror})")
            return
        self._tell_status(child, "starting", f"{child.name} starts")

    def _after_exit(self, child: Child) -> None:
        """A process ended by itself: as it should, or of something."""
        assert child.process is not None
        exit_code = child.process.exitcode
        if exit_code == 0 and child is self._coordinator:
            self._board.control.stop = 1  # the run is over
        if exit_code == 0 and self._stopping:
            self._bury(child)
            child.done = True
            self._tell_status(child, "done", f"{child.name} has finished")
            return
        words = self._last_words.hear(child.index)
        if words:
            self._tell("log", level="error", text=f"{child.name}: {words}")
        reason = f"died of {words.splitlines()[-1]}" if words else exit_reason(exit_code)
        self._replace(child, reason)

    def _replace(self, child: Child, reason: str) -> None:
        """Make sure that a process is dead, clear up after it, and arrange for the next one, or give up."""
        self._bury(child)
        if child is not self._coordinator:
            self._pool.clear(child.index)
            row = self._board.workers[child.index]
            row.joined, row.nonfinite_in_a_row, row.restarts = 0, 0, row.restarts + 1
        if self._stopping:  # it would have ended anyway
            text = f"{child.name} {reason} while the run was ending"
            self._tell("log", level="warning", text=text)
            if child is self._coordinator:
                self.bad_end = text
            return

        now = time.monotonic()
        child.deaths.append(now)
        while child.deaths[0] < now - DEATH_WINDOW:
            child.deaths.popleft()
        if len(child.deaths) >= DEATHS_ALLOWED:
            text = f"{child.name} {reason}: {DEATHS_ALLOWED} deaths within {DEATH_WINDOW:.0f} s, so it is given up"
            self._tell("log", level="error", text=text)
            self._tell_status(child, "given up", text)
            raise (CoordinatorGivenUp if child is self._coordinator else WorkerGivenUp)(text)
        delay = min(self._first_delay * 2 ** (len(child.deaths) - 1), LONGEST_DELAY)
        child.restart_at = now + delay
        text = f"{child.name} {reason}; it starts again in {delay:g} s"
        self._tell("log", level="warning", text=text)
        self._tell_status(child, "restarting", text)

    def _bury(self, child: Child) -> None:
        """Kill the process if there is one alive, or stopped. Then forget it."""
        if child.process is None:
            return
        if child.process.exitcode is None:
            child.process.kill()
        child.process.join()
        child.process.close()
        child.process = None

    def _silence(self, child: Child) -> float | None:
        """For how many seconds a process that should be heard of was not; None if all is well."""
        since_start = time.monotonic() - child.started
        age = self._heartbeat.age(child.index)
        limit = self._stale_seconds if math.isfinite(age) else self._startup_seconds
        silence = min(age, since_start, time.monotonic() - self._awake_since)
        return silence if silence > limit else None

    def _blamed(self, child: Child) -> bool:
        if child is self._coordinator:
            return False
        return self._board.workers[child.index].nonfinite_in_a_row >= NONFINITE_ALLOWED

    def _running(self) -> list[Process]:
        processes = [child.process for child in self._children if child.process is not None]
        return [process for process in processes if process.exitcode is None]

    def _wait_for_all(self, seconds: float, meanwhile: Callable[[], None]) -> None:
        deadline = time.monotonic() + seconds
        while (running := self._running()) and (left := deadline - time.monotonic()) > 0:
            meanwhile()
            running[0].join(min(left, 0.1))

    def _tell_status(self, child: Child, status: str, text: str) -> None:
        if child is self._coordinator:
            known = {"restarting": "starting", "given up": "done"}  # a learner has fewer states
            self._tell("learner_status", status=known.get(status, status), text=text)
        else:
            self._tell("worker_status", worker=child.index, status=status, text=text)

    def _tell(self, kind: str, **content: Any) -> None:
        self._report({"type": kind, "source": "supervisor", "time": time.time(), **content})
