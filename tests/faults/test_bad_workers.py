"""Workers that hang, send nonsense, or die again and again: noticed, replaced, and in the end given up."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import partial
from multiprocessing.process import BaseProcess

import numpy as np
import pytest
import torch

from mario_rl import config as configuration
from mario_rl.cli import main
from mario_rl.distributed import supervisor as supervisor_module
from mario_rl.distributed.coordinator import Totals, TrainingCoordinator
from mario_rl.distributed.exchange import SharedExchange, SharedWorkers
from mario_rl.distributed.run_memory import MemoryPlan, RunMemory
from mario_rl.distributed.supervisor import Supervisor
from mario_rl.distributed.worker import Gradient
from mario_rl.runs import training
from mario_rl.runs.checkpoint import load_checkpoint
from tests.faults.runs import FOREVER, PPO, Place, wait_until


def train_here(place: Place, *settings: str) -> int | str | None:
    """The command with this process as its parent; its exit code."""
    with pytest.raises(SystemExit) as end:
        main(["train", "--no-ui", "--name", place.name, "--checkpoints", str(place.checkpoints), *settings])
    return end.value.code


@pytest.fixture
def short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restarts come quickly, and five deaths are five deaths, however slow this machine is."""
    monkeypatch.setattr(training, "Supervisor", partial(Supervisor, first_delay=0.01))
    monkeypatch.setattr(supervisor_module, "DEATH_WINDOW", 600.0)


@pytest.mark.usefixtures("short_delays")
def test_gradients_that_are_not_finite_cost_a_worker_its_place_and_never_reach_the_weights(
    place: Place, capfd: pytest.CaptureFixture[str]
) -> None:
    # squares of such rewards are beyond float32: every loss is infinite
    code = train_here(place, *PPO, "--workers", "1", "--reward-scale", "1e38", "--steps", FOREVER)
    output, errors = capfd.readouterr()
    assert code == 1
    blame = "worker 0 sent 3 gradients in a row that were not finite"
    assert errors.count(f"{blame}; it starts again") == 4
    assert f"FAILED: {blame}: 5 deaths within 600 s, so it is given up" in output
    assert "Traceback" not in output + errors
    assert place.status()["state"] == "FAILED"
    last = place.coordinator_rows()[-1]
    assert last["grads_nonfinite"] == last["grads_received"] >= 15
    assert last["updates"] == 0
    weights = load_checkpoint(place.run / "weights.pt")["model"]
    assert all(torch.isfinite(value).all() for value in weights.values())


def test_one_gradient_that_is_not_finite_among_good_ones() -> None:
    config = configuration.from_dict({"model": "ddqn", "workers": 3, "hidden": 16, "max_grad_norm": 1e9})
    coordinator = TrainingCoordinator(config)
    size, weights_size = coordinator.flat.trained_size, coordinator.flat.size
    memory = RunMemory(MemoryPlan.of_run("faults-nan", 3, size, weights_size), create=True)
    try:
        workers = SharedWorkers(memory, coordinator, lockstep=False, before=Totals())
        workers.publish(coordinator.flat.weights_array(), coordinator.version)
        lines = [SharedExchange(memory, index, lockstep=False, steps_before=0) for index in range(3)]
        weights = np.empty(weights_size, np.float32)
        before = coordinator.flat.weights_array().copy()
        for round_ in range(1, 4):
            for line in lines:
                line.fetch(weights)
            good = np.full(size, 0.5, np.float32)
            bad = good.copy()
            bad[size // 2] = np.nan
            lines[0].send(Gradient(good, 1.0))
            lines[1].send(Gradient(bad if round_ != 2 else np.full(size, np.inf, np.float32), 1.0))
            lines[2].send(Gradient(good * 3, float("inf") if round_ == 3 else 1.0))  # a loss can be bad, too
            offers = workers.gather(coordinator.version)
            assert {offer.worker for offer in offers} == {0, 1, 2}
            spoilt = coordinator.apply(offers)
            assert spoilt == ([1] if round_ < 3 else [1, 2])
            workers.release(offers, spoilt)
            workers.publish(coordinator.flat.weights_array(), coordinator.version)
            in_a_row = [row.nonfinite_in_a_row for row in memory.board.workers]
            assert in_a_row == [0, round_, 0 if round_ < 3 else 1]
            averaged = coordinator.flat.gradient.numpy()
            assert np.array_equal(averaged, np.full(size, 1.0 if round_ < 3 else 0.5)), "the mean of the good ones"
        lines[0].fetch(weights)
        assert np.isfinite(weights).all()
        assert not np.array_equal(weights, before), "the good ones count"
        assert (coordinator.counters.grads_received, coordinator.counters.grads_nonfinite) == (9, 4)
    finally:
        memory.close()


@pytest.mark.usefixtures("short_delays")
def test_a_worker_that_dies_again_and_again_is_given_up(
    place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    starts: list[int] = []
    start_worker = training.start_worker

    def start_and_kill(plan: training.ChildPlan, index: int) -> BaseProcess:
        """As a system without memory does, with the worker it likes least."""
        process = start_worker(plan, index)
        starts.append(index)
        if index == 0:
            process.kill()
        return process

    monkeypatch.setattr(training, "start_worker", start_and_kill)
    assert train_here(place, *PPO, "--steps", FOREVER) == 1
    output, errors = capfd.readouterr()
    assert starts.count(0) == 5
    assert starts.count(1) == 1
    why = "worker 0 was killed by SIGKILL: 5 deaths within 600 s, so it is given up"
    assert f"FAILED: {why}" in output
    assert f"error: {why}" in errors
    assert "Traceback" not in output + errors
    assert place.status()["state"] == "FAILED"
    assert place.status()["why"] == why
    load_checkpoint(place.run / "checkpoint.pt")


def test_a_worker_that_hangs_is_noticed_and_replaced(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "Supervisor", partial(Supervisor, stale_seconds=5.0))
    settings = {name[2:].replace("-", "_"): value for name, value in zip(PPO[::2], PPO[1::2], strict=True)}
    numbers = {
        name: float(value) if "." in value else int(value) for name, value in settings.items() if name != "model"
    }
    config = configuration.from_dict(
        numbers | {"model": "ppo", "steps": int(FOREVER), "name": place.name, "checkpoints": str(place.checkpoints)}
    )
    run, before = training.begin(config)
    session = training.open_session(run, config, before)
    assert isinstance(session, training.ProcessSession)

    def tick_until(happened: Callable[[], bool], what: str) -> None:
        def tick_and_look() -> bool:
            assert session.tick(), session.problem
            return happened()

        wait_until(tick_and_look, what)

    try:
        rows = session._memory.board.workers
        tick_until(lambda: min(row.steps for row in rows) > 100, "both work")
        victim, other = (session.supervisor.pids[f"worker {index}"] for index in (1, 0))
        os.kill(victim, signal.SIGSTOP)
        tick_until(lambda: rows[1].restarts == 1, "the hang is noticed")
        steps = rows[1].steps
        assert steps > 100, "what it counted is kept"
        tick_until(lambda: rows[1].steps > steps, "its successor works")
        assert session.supervisor.pids["worker 0"] == other
        assert session.supervisor.pids["worker 1"] != victim
        assert any("worker 1 gave no sign of life for" in line.text for line in session.aggregator.log)
    finally:
        state = session.close()
    assert state == "INTERRUPTED"
