"""The supervisor's rules, to the second: made-up processes and a made-up clock."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from mario_rl.distributed import heartbeat as heartbeat_module
from mario_rl.distributed import supervisor as supervisor_module
from mario_rl.distributed.supervisor import CoordinatorGivenUp, WorkerGivenUp
from tests.distributed.supervised_run import COORDINATOR, WORKERS, Run


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
    made_up.supervisor._children[1].start = lambda: fail(0)
    made_up.pass_time(1.0)
    assert "worker 0 could not be started (Resource temporarily unavailable)" in made_up.texts("warning")[1]
    made_up.supervisor._children[1].start = lambda: made_up.start(0)
    made_up.pass_time(2.0)
    assert made_up.starts(0) == 2
