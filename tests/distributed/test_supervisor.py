"""Who dies is replaced, who hangs is killed, who dies too often is given up, and in the end nobody is left."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from multiprocessing.process import BaseProcess
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mario_rl.distributed import heartbeat as heartbeat_module
from mario_rl.distributed import supervisor as supervisor_module
from mario_rl.distributed.board import SharedBoard
from mario_rl.distributed.gradient_pool import SharedGradientPool
from mario_rl.distributed.heartbeat import SharedHeartbeat
from mario_rl.distributed.last_words import SharedLastWords
from mario_rl.distributed.supervisor import CoordinatorGivenUp, Supervisor, WorkerGivenUp
from tests.distributed.child_processes import a_name, is_dead, start_in_child, wait_until

WORKERS = 2
COORDINATOR = WORKERS


class Run:
    """Shared memory and a supervisor of children that behave as `behaviours` says, by index."""

    def __init__(self) -> None:
        self.board = SharedBoard(a_name("board"), WORKERS, create=True)
        self.pool = SharedGradientPool(a_name("gradients"), WORKERS, 4, create=True)
        self.heartbeat = SharedHeartbeat(a_name("heartbeat"), WORKERS, create=True)
        self.words = SharedLastWords(a_name("words"), WORKERS, create=True)
        self.behaviours = ["obey"] * (WORKERS + 1)
        self.events: list[dict[str, Any]] = []
        self.seen_pids: set[int] = set()
        self.started: list[tuple[int, Any]] = []  # who, and the process

    def supervise(self, **settings: Any) -> Supervisor:
        """A supervisor whose restarts come quickly, unless `settings` says otherwise."""
        self.supervisor = Supervisor(
            self.start,
            lambda: self.start(COORDINATOR),
            board=self.board,
            pool=self.pool,
            heartbeat=self.heartbeat,
            last_words=self.words,
            report=self.events.append,
            **({"first_delay": 0.01} | settings),
        )
        return self.supervisor

    def start(self, index: int) -> BaseProcess:
        names = {"board": self.board.name, "heartbeat": self.heartbeat.name, "words": self.words.name}
        process = multiprocessing.get_context("spawn").Process(
            target=start_in_child, args=(self.behaviours[index], index, names, WORKERS, os.getpid()), daemon=True
        )
        process.start()
        assert process.pid is not None
        self.seen_pids.add(process.pid)
        self.started.append((index, process))
        return process

    def tick_until(self, happened: Any, what: str) -> None:
        def tick_and_look() -> bool:
            self.supervisor.tick()
            return bool(happened())

        wait_until(tick_and_look, what)

    def texts(self, level: str) -> list[str]:
        return [event["text"] for event in self.events if event["type"] == "log" and event["level"] == level]

    def statuses(self, worker: int) -> list[str]:
        return [event["status"] for event in self.events if event.get("worker") == worker]

    def close(self) -> None:
        for part in (self.board, self.pool, self.heartbeat, self.words):
            part.close()


@pytest.fixture
def run() -> Iterator[Run]:
    run = Run()
    yield run
    if hasattr(run, "supervisor"):
        run.supervisor.shutdown(timeout=0)
    run.close()
    assert [pid for pid in run.seen_pids if not is_dead(pid)] == [], "nobody outlives the run"


# Real processes


def test_a_killed_worker_is_replaced_and_the_run_goes_on_to_its_end(run: Run) -> None:
    with run.supervise():
        run.tick_until(lambda: run.board.workers[0].steps > 3 and run.board.workers[1].steps > 3, "both work")
        assert run.pool.write(0, np.ones(4, np.float32), 1, 1, 1.0)
        run.board.workers[0].joined = 1
        victim = run.supervisor.pids["worker 0"]
        other = run.supervisor.pids["worker 1"]
        os.kill(victim, signal.SIGKILL)
        run.tick_until(lambda: run.board.workers[0].restarts == 1, "the death is noticed")
        assert run.pool.ready() == [], "a dead worker's gradient is withdrawn"
        assert run.board.workers[0].joined == 0
        steps = run.board.workers[0].steps
        assert steps > 3, "what it counted is kept"
        run.tick_until(lambda: run.board.workers[0].steps > steps, "its successor works")
        assert run.supervisor.pids["worker 0"] != victim
        assert run.supervisor.pids["worker 1"] == other, "the other one is left alone"
        assert run.texts("warning") == ["worker 0 was killed by SIGKILL; it starts again in 0.01 s"]
        assert run.statuses(0) == ["starting", "restarting", "starting"]
        run.board.control.stop = 1
        wait_until(lambda: not run.supervisor.tick(), "all have ended")
    assert run.statuses(0)[-1] == run.statuses(1)[-1] == "done"
    assert run.texts("error") == []


def test_a_stopped_worker_is_killed_and_replaced(run: Run) -> None:
    with run.supervise(stale_seconds=1.0):
        run.tick_until(lambda: run.board.workers[1].steps > 3, "it works")
        victim = run.supervisor.pids["worker 1"]
        os.kill(victim, signal.SIGSTOP)
        run.tick_until(lambda: is_dead(victim), "it is killed")
        steps = run.board.workers[1].steps
        run.tick_until(lambda: run.board.workers[1].steps > steps, "its successor works")
        assert any("worker 1 gave no sign of life" in text for text in run.texts("warning"))


def test_a_killed_coordinator_is_replaced(run: Run) -> None:
    with run.supervise():
        run.tick_until(lambda: run.heartbeat.age(COORDINATOR) < math.inf, "it works")
        victim = run.supervisor.pids["coordinator"]
        os.kill(victim, signal.SIGKILL)
        run.tick_until(lambda: run.supervisor.pids.get("coordinator", victim) != victim, "it is replaced")
        run.tick_until(lambda: run.heartbeat.age(COORDINATOR) < math.inf, "its successor works")
        assert run.texts("warning") == ["coordinator was killed by SIGKILL; it starts again in 0.01 s"]


def test_a_worker_that_always_crashes_is_given_up_with_its_error(run: Run) -> None:
    run.behaviours[1] = "crash"
    error = r"^worker 1 died of ValueError: the flagpole is missing.*5 deaths within 60 s"
    with pytest.raises(WorkerGivenUp, match=error), run.supervise():
        run.tick_until(lambda: False, "it is given up")
    assert run.statuses(1).count("starting") == 5
    assert run.statuses(1)[-1] == "given up"
    assert any("Traceback" in text for text in run.texts("error")), "the log has all of it"


def test_the_coordinators_end_is_the_runs(run: Run) -> None:
    run.behaviours[COORDINATOR] = "finish"
    with run.supervise():
        wait_until(lambda: not run.supervisor.tick(), "all have ended")
        assert run.supervisor.pids == {}
    assert run.board.control.stop == 1
    assert [event["status"] for event in run.events if event["type"] == "learner_status"] == ["starting", "done"]


def test_shutdown_ends_even_those_who_do_not_listen(run: Run) -> None:
    run.behaviours[0] = "hang"
    run.supervise()
    run.tick_until(lambda: run.heartbeat.age(0) < math.inf and run.board.workers[1].steps > 0, "they run")
    pids = run.supervisor.pids
    os.kill(pids["coordinator"], signal.SIGSTOP)
    pumped: list[float] = []
    run.supervisor.shutdown(timeout=0.3, meanwhile=lambda: pumped.append(time.monotonic()))
    assert all(is_dead(pid) for pid in pids.values())
    assert pumped, "who waits goes on listening"
    assert not run.supervisor.tick()
    run.supervisor.shutdown()


# Made-up processes and a made-up clock: the rules, to the second


class MadeUpProcess:
    """Lives until the test or a supervisor says otherwise."""

    def __init__(self) -> None:
        self.pid = 1
        self.exitcode: int | None = None

    def kill(self) -> None:
        self.exitcode = -9

    terminate = kill

    def join(self, timeout: float | None = None) -> None:
        assert self.exitcode is not None

    def close(self) -> None:
        pass


class MadeUpRun(Run):
    """A run without real processes, in which time passes when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.now = 1000.0
        clock = SimpleNamespace(monotonic=lambda: self.now, time=lambda: self.now)
        for module in (supervisor_module, heartbeat_module):
            monkeypatch.setattr(module, "time", clock)

    def start(self, index: int) -> Any:
        process = MadeUpProcess()
        self.started.append((index, process))
        return process

    def starts(self, index: int) -> int:
        return sum(who == index for who, _ in self.started)

    def process(self, index: int) -> Any:
        return [process for who, process in self.started if who == index][-1]

    def pass_time(self, seconds: float, beating: tuple[int, ...] = (0, 1, COORDINATOR)) -> None:
        """Tick every quarter of a second; those in `beating` beat meanwhile."""
        for _ in range(round(seconds * 4)):
            self.now += 0.25
            for index in beating:
                self.heartbeat.beat(index)
            self.supervisor.tick()


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[MadeUpRun]:
    run = MadeUpRun(monkeypatch)
    run.supervise(first_delay=0.5)
    run.supervisor.tick()
    yield run
    run.close()


def test_restarts_come_later_and_later_until_it_is_given_up(made_up: MadeUpRun) -> None:
    delays = []
    for death in range(4):
        made_up.process(0).exitcode = 1
        made_up.supervisor.tick()
        died = made_up.now
        while made_up.starts(0) == death + 1:
            made_up.pass_time(0.25)
        delays.append(made_up.now - died)
    assert delays == [0.5, 1.0, 2.0, 4.0]
    made_up.process(0).exitcode = -11
    with pytest.raises(WorkerGivenUp, match="worker 0 was killed by SIGSEGV"):
        made_up.supervisor.tick()
    assert made_up.starts(1) == 1


def test_deaths_that_lie_far_apart_are_forgiven(made_up: MadeUpRun) -> None:
    for death in range(12):
        made_up.process(0).exitcode = 1
        made_up.pass_time(16.0)  # at most four within any minute
        assert made_up.starts(0) == death + 2
    assert max(float(text.split(" in ")[1][:-2]) for text in made_up.texts("warning")) == 4.0


def test_a_coordinator_can_be_given_up_too(made_up: MadeUpRun) -> None:
    with pytest.raises(CoordinatorGivenUp, match=r"^coordinator ended with exit code 1"):
        for _ in range(5):
            made_up.process(COORDINATOR).exitcode = 1
            made_up.pass_time(8.0)


def test_a_hang_is_noticed_after_the_limit_and_not_before(made_up: MadeUpRun) -> None:
    made_up.pass_time(1.0)
    made_up.pass_time(30.0, beating=(1, COORDINATOR))
    assert made_up.process(0).exitcode is None
    made_up.pass_time(0.25, beating=(1, COORDINATOR))
    assert made_up.process(0).exitcode == -9
    assert made_up.texts("warning") == ["worker 0 gave no sign of life for 30 s; it starts again in 0.5 s"]


def test_starting_may_take_longer(made_up: MadeUpRun) -> None:
    made_up.pass_time(120.0, beating=(1, COORDINATOR))
    assert made_up.process(0).exitcode is None
    made_up.pass_time(0.25, beating=(1, COORDINATOR))
    assert made_up.process(0).exitcode == -9


def test_a_successor_is_not_measured_by_the_beats_of_its_predecessor(made_up: MadeUpRun) -> None:
    made_up.pass_time(1.0)
    made_up.process(0).exitcode = 1
    made_up.pass_time(100.0, beating=(1, COORDINATOR))
    assert made_up.starts(0) == 2
    assert made_up.process(0).exitcode is None


def test_when_all_were_stopped_together_nobody_is_blamed(made_up: MadeUpRun) -> None:
    """Ctrl-Z stops the whole group; afterwards everyone's last beat is long ago."""
    made_up.pass_time(1.0)
    made_up.now += 3600
    made_up.supervisor.tick()
    made_up.pass_time(5.0)
    assert len(made_up.started) == WORKERS + 1
    made_up.pass_time(31.0, beating=(1, COORDINATOR))
    assert made_up.texts("warning") != [], "but who stays silent is"


def test_three_gradients_that_are_not_finite_cost_a_worker_its_place(made_up: MadeUpRun) -> None:
    row = made_up.board.workers[1]
    row.nonfinite_in_a_row = 2
    made_up.pass_time(1.0)
    assert made_up.starts(1) == 1
    row.nonfinite_in_a_row = 3
    made_up.pass_time(1.0)
    assert made_up.starts(1) == 2
    assert (row.nonfinite_in_a_row, row.restarts) == (0, 1)
    assert "worker 1 sent 3 gradients in a row that were not finite" in made_up.texts("warning")[0]


def test_a_restart_can_be_asked_for(made_up: MadeUpRun) -> None:
    made_up.supervisor.request_restart(0, "plays badly")
    made_up.supervisor.request_restart(0, "plays badly")  # it is dead by now
    made_up.pass_time(1.0)
    assert made_up.starts(0) == 2
    assert made_up.texts("warning") == ["worker 0 plays badly; it starts again in 0.5 s"]


def test_a_worker_that_leaves_early_counts_as_dead(made_up: MadeUpRun) -> None:
    made_up.process(0).exitcode = 0
    made_up.pass_time(1.0)
    assert made_up.starts(0) == 2


def test_nobody_is_started_or_given_up_while_the_run_ends(made_up: MadeUpRun) -> None:
    made_up.process(0).exitcode = 1
    made_up.supervisor.tick()  # a restart is due
    made_up.board.control.stop = 1
    made_up.process(1).exitcode = 0
    made_up.process(COORDINATOR).exitcode = -15
    made_up.pass_time(20.0)
    assert len(made_up.started) == WORKERS + 1
    assert not made_up.supervisor.tick()
    assert "coordinator was killed by SIGTERM while the run was ending" in made_up.texts("warning")


def test_a_process_that_cannot_be_started_is_tried_again(made_up: MadeUpRun, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(index: int) -> Any:
        raise OSError(11, "Resource temporarily unavailable")

    made_up.process(0).exitcode = 1
    made_up.supervisor._workers[0].start = lambda: fail(0)
    made_up.pass_time(1.0)
    assert "worker 0 could not be started (Resource temporarily unavailable)" in made_up.texts("warning")[1]
    made_up.supervisor._workers[0].start = lambda: made_up.start(0)
    made_up.pass_time(2.0)
    assert made_up.starts(0) == 2
