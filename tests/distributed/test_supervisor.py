"""Real processes: who dies is replaced, who hangs is killed, and in the end nobody is left."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Iterator

import numpy as np
import pytest

from mario_rl.distributed.supervisor import WorkerGivenUp
from tests.distributed.child_processes import is_dead, wait_until
from tests.distributed.supervised_run import COORDINATOR, Run


@pytest.fixture
def run() -> Iterator[Run]:
    run = Run()
    yield run
    if hasattr(run, "supervisor"):
        run.supervisor.shutdown(timeout=0)
    run.close()
    assert [pid for pid in run.seen_pids if not is_dead(pid)] == [], "nobody outlives the run"


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
