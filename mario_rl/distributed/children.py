"""What runs in the child processes of a run: a worker, or the coordinator.

Both find everything they need in their arguments and on disk, so that the supervisor can start them again at any time:
a worker goes on from its counters, the coordinator from the newest good checkpoint.
"""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import torch

from mario_rl.config import TrainingConfig
from mario_rl.distributed.coordinator import Totals, TrainingCoordinator, coordinate
from mario_rl.distributed.curriculum import warm_start, worker_curriculum
from mario_rl.distributed.events import EventPublisher
from mario_rl.distributed.exchange import SharedExchange, SharedWorkers
from mario_rl.distributed.keeper import RunKeeper
from mario_rl.distributed.process import become_child, run_child
from mario_rl.distributed.run_memory import MemoryPlan, RunMemory
from mario_rl.distributed.worker import TrainingWorker, work
from mario_rl.learners.registry import algorithm
from mario_rl.metrics.logger import MetricLogger, last_values
from mario_rl.runs.checkpoint import CheckpointError, load_checkpoint, load_newest_good, save_checkpoint
from mario_rl.runs.directory import RunDirectory


@dataclass(frozen=True)
class ChildPlan:
    """What the parent tells every child."""

    config: TrainingConfig
    run: Path
    memory: MemoryPlan
    events: str  # the subscriber's address
    before: Totals  # what the run had done before it was resumed
    parent_pid: int


def start_worker(plan: ChildPlan, index: int) -> BaseProcess:
    """Start a worker's process."""
    return _start(_worker_process, f"mario-rl worker {index}", plan, index)


def start_coordinator(plan: ChildPlan) -> BaseProcess:
    """Start the coordinator's process."""
    return _start(_coordinator_process, "mario-rl coordinator", plan)


def _start(target: Any, name: str, *arguments: Any) -> BaseProcess:
    # spawn: a forked copy of a process with threads (torch, ZMQ) may hang
    process = multiprocessing.get_context("spawn").Process(target=target, name=name, args=arguments)
    process.start()
    return process


def _worker_process(plan: ChildPlan, index: int) -> None:
    memory = _memory(plan)
    run_child(lambda: _run_worker(plan, index, memory), index, memory.last_words, plan.parent_pid, _log(plan))


def _coordinator_process(plan: ChildPlan) -> None:
    memory = _memory(plan)
    run_child(
        lambda: _run_coordinator(plan, memory),
        memory.last_words.coordinator,
        memory.last_words,
        plan.parent_pid,
        _log(plan),
    )


def _memory(plan: ChildPlan) -> RunMemory:
    become_child(plan.parent_pid, _log(plan))  # first: the memory of a parent that is gone may be, too
    return RunMemory(plan.memory)


def _log(plan: ChildPlan) -> Path:
    return RunDirectory(plan.run).training_log


def _run_worker(plan: ChildPlan, index: int, memory: RunMemory) -> None:
    torch.set_num_threads(1)
    config, run = plan.config, RunDirectory(plan.run)
    events = EventPublisher(plan.events, f"worker_{index}")
    curriculum = worker_curriculum(plan.run, config, index, warn=lambda text: events.log("warning", text))
    worker = TrainingWorker(config, index, events, curriculum)
    state = _saved_state(plan, run, index) if memory.board.workers[index].restarts == 0 else None
    if state is None or not recall(worker, index, state):
        worker.continue_from(last_values(run.worker_csv(index)))
    steps = int(worker.collector.values()["steps"])
    worker.logger = MetricLogger(run.worker_csv(index), worker.collector.names, events, keep_steps=steps)
    exchange = SharedExchange(memory, index, worker.experience.lockstep, plan.before.steps)
    events.worker_status(index, "collecting")

    def save() -> None:
        if config.saves_replay:
            try:
                save_checkpoint(run.worker_state(index), worker.state_dict())
            except CheckpointError as problem:
                events.log("warning", f"worker {index}: {problem}")

    work(worker, exchange, save)
    save()
    worker.close()
    events.worker_status(index, "done")
    events.close()


def recall(worker: TrainingWorker, index: int, state: dict[str, Any]) -> bool:
    """Let a worker go on with what it remembered; false if that does not fit, because settings were changed since."""
    try:
        worker.load_state_dict(state)
    except (ValueError, RuntimeError) as problem:
        worker.events.log("warning", f"worker {index} begins anew, what it remembered does not fit: {problem}")
        return False
    worker.events.log("info", f"worker {index} goes on with what it remembered")
    return True


def _saved_state(plan: ChildPlan, run: RunDirectory, index: int) -> dict[str, Any] | None:
    """What this worker remembered when the run was stopped, if that was saved and can be read."""
    if not plan.config.saves_replay or not run.worker_state(index).exists():
        return None
    try:
        return load_checkpoint(run.worker_state(index))
    except CheckpointError:
        return None


def _run_coordinator(plan: ChildPlan, memory: RunMemory) -> None:
    torch.set_num_threads(1)
    config, run = plan.config, RunDirectory(plan.run)
    events = EventPublisher(plan.events, "coordinator")
    coordinator = TrainingCoordinator(config)
    if run.checkpoint_pt.exists() or run.numbered_checkpoints():
        state, _, warnings = load_newest_good(run)
        for warning in warnings:
            events.log("warning", warning)
        coordinator.load_state_dict(state)
    else:
        warm_start(coordinator, plan.run)
    control = memory.board.control
    saves_seen = control.save_requests

    def save_wanted() -> bool:
        nonlocal saves_seen
        wanted = control.save_requests != saves_seen
        saves_seen = control.save_requests
        return wanted

    keeper = RunKeeper(
        run,
        coordinator,
        events,
        save_wanted=save_wanted,
        alive=lambda: memory.heartbeat.beat(memory.heartbeat.coordinator),
    )
    keeper.save()  # so that a coordinator that dies in its first minute has a successor
    workers = SharedWorkers(memory, coordinator, algorithm(config).lockstep, plan.before)
    events.learner_status("learning")
    coordinate(coordinator, workers, keeper)
    well = keeper.close()
    events.close()
    if not well:
        control.stop = 1  # a successor would only have the weights of the checkpoint before
        raise RuntimeError("the last checkpoint could not be saved")
