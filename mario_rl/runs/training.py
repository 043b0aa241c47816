"""A training run from beginning to end: its directory, its processes or its thread, its end, whatever that is."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import queue
import threading
from abc import abstractmethod
from functools import partial

import torch

from mario_rl._native import Rom
from mario_rl.config import ConfigError, TrainingConfig, write_yaml
from mario_rl.distributed.board import Board
from mario_rl.distributed.children import ChildPlan, recall, start_coordinator, start_worker
from mario_rl.distributed.coordinator import Totals, TrainingCoordinator
from mario_rl.distributed.curriculum import warm_start, worker_curriculum
from mario_rl.distributed.events import Event, EventSubscriber, LocalEvents
from mario_rl.distributed.in_process import train_in_process
from mario_rl.distributed.keeper import RunKeeper
from mario_rl.distributed.run_memory import MemoryPlan, RunMemory
from mario_rl.distributed.shared_memory import release_leftovers
from mario_rl.distributed.supervisor import GivenUp, Supervisor
from mario_rl.distributed.worker import TrainingWorker
from mario_rl.emulators.rom import find_rom
from mario_rl.environment.actions import pad_table
from mario_rl.environment.smb.observation import OBSERVATIONS
from mario_rl.environment.smb.settings import SmbSettings
from mario_rl.learners.registry import algorithm, build_model
from mario_rl.metrics.logger import MetricLogger
from mario_rl.models.flat import FlatModel
from mario_rl.runs.checkpoint import load_checkpoint, load_newest_good, save_run_checkpoint
from mario_rl.runs.directory import RunDirectory, RunError
from mario_rl.runs.session import AtOnce, Session
from mario_rl.runs.status import State
from mario_rl.snapshots.preparation import KnownWay, Watching

__all__ = ["begin", "open_session", "prepare", "resume"]

SHUTDOWN_SECONDS = 60.0  # for the last checkpoint, which may hold a replay


WAYS_NEEDED = ("archive", "demo")  # the curricula that must know the way through a level


def begin(config: TrainingConfig) -> tuple[RunDirectory, Totals]:
    """A new run on disk."""
    _check(config)
    return RunDirectory.create(config.checkpoints, config.name, config), Totals()


def prepare(run: RunDirectory, before: Totals, watching: Watching) -> Totals:
    """Find out what the curriculum needs to know; what the run has done then: exploring counts as steps of its own."""
    config = run.config()
    if config.curriculum not in WAYS_NEEDED:
        return before
    way = KnownWay(run.path, config)
    way.prepare(watching)
    return before if before.steps else dataclasses.replace(before, steps=way.explored_steps())


def resume(run: RunDirectory, config: TrainingConfig) -> tuple[Totals, list[str]]:
    """Make an existing run ready to go on with this configuration; what it had done, and what the user should know."""
    _check(config)
    _refuse_running(run)
    trained = run.config()
    for name in ("model", "observation", "actions", "torso", "hidden", "size"):
        ours, theirs = getattr(config, name), getattr(trained, name)
        if ours != theirs:
            raise ConfigError(f"--{name} {ours} does not fit {run.path}, which has {theirs}: leave it out to resume")
    if not (run.chosen_file or run.checkpoint_pt.exists() or run.numbered_checkpoints()):
        _write_config(run, config)
        return Totals(), ["nothing had been saved yet: starting from the beginning"]
    state, file, warnings = load_newest_good(run)
    saved = state.get("config", {}).get("model")
    if saved != config.model or "optimizer" not in state:
        what = f"of the model {saved}" if saved != config.model else "without an optimizer: weights only"
        raise RunError(f"{file} cannot be resumed, it is {what}; name the run or one of its checkpoint files")
    if file != run.checkpoint_pt:  # the next one to look finds what was chosen, or what was found to be whole
        damaged = run.checkpoint_pt.exists() and run.chosen_file is None
        if damaged:
            run.checkpoint_pt.replace(run.checkpoint_pt.with_suffix(".pt.damaged"))
        save_run_checkpoint(run, state, config.keep)
        warnings = [*warnings, f"going on from {file.name}"]
    _write_config(run, config)
    counters = state["counters"]
    best_x = int(state["collector"]["metrics"].get("best_x", [0])[0] or 0) if "collector" in state else 0
    return Totals(counters["steps"], counters["episodes"], counters["flags"], best_x), warnings


def _refuse_running(run: RunDirectory) -> None:
    """Before anything of it is touched. `RunDirectory.begin` looks again, then with a lock."""
    with contextlib.suppress(RunError):  # no readable status: that is put right when the run begins
        status = run.status()
        if status.state == "RUNNING":
            text = f"{run.path} is running already, as process {status.pid}; stop it first, then resume"
            raise ConfigError(text)


def _write_config(run: RunDirectory, config: TrainingConfig) -> None:
    """Whole or not at all: without its configuration a run is lost."""
    new = run.config_yaml.with_suffix(".yaml.new")
    write_yaml(config, new)
    new.replace(run.config_yaml)


def _check(config: TrainingConfig) -> None:
    """Find out now, not in a child, what cannot work."""
    algorithm(config)
    Rom(find_rom("smb", config.rom).read_bytes())
    try:
        SmbSettings(**config.environment())
        torch.ones(1, device=config.device).item()
    except (RuntimeError, AssertionError) as problem:
        raise ConfigError(f"--device {config.device} cannot be used: {str(problem).splitlines()[0]}") from problem
    except ValueError as problem:
        raise ConfigError(str(problem)) from problem


class SupervisedSession(Session):
    """Workers and coordinator in processes of their own, which a supervisor keeps alive. Where, says the subclass."""

    board: Board
    supervisor: Supervisor

    @abstractmethod
    def poll(self) -> list[Event]:
        """What the processes have told since the last time."""

    @abstractmethod
    def let_go(self) -> None:
        """Nothing runs any more: leave nothing behind."""

    def tick(self) -> bool:
        """Events in, the dead replaced."""
        self._listen_once()
        if self.stop_at_once_asked:
            return False
        try:
            return self.supervisor.tick()
        except (GivenUp, RunError) as problem:
            self.problem = str(problem)
            return False

    def pause(self, paused: bool) -> None:
        """Workers wait before their next collection."""
        self.board.control.pause = int(paused)

    def save(self) -> None:
        """The coordinator saves, and the workers what they remember, if that is wanted."""
        self.board.control.save_requests += 1

    def stop(self) -> None:
        """Everybody ends after what is in hand."""
        super().stop()
        self.board.control.stop = 1

    def close(self) -> State:
        """Wait for the processes, and for none of them longer than is reasonable."""
        try:
            with contextlib.suppress(AtOnce):
                self.supervisor.shutdown(SHUTDOWN_SECONDS, meanwhile=self._listen)
            self.take(self.poll())
            self.problem = self.problem or self.supervisor.bad_end
        finally:
            self.let_go()
            state = self.finish()
        return state

    def _listen_once(self) -> None:
        self.take(self.poll())
        self.tell_stop()

    def _listen(self) -> None:
        self._listen_once()
        if self.stop_at_once_asked:
            raise AtOnce


class ProcessSession(SupervisedSession):
    """On this machine, with shared memory between them."""

    def __init__(self, run: RunDirectory, config: TrainingConfig, before: Totals):
        for name in release_leftovers():
            print(f"released shared memory that a killed run had left behind: {name}")
        space = OBSERVATIONS[config.observation].space
        flat = FlatModel(build_model(config, space, len(pad_table(config.actions))))  # only to know the sizes
        super().__init__(run, config, before)
        self._events = EventSubscriber()
        try:
            plan = MemoryPlan.of_run(run.name, config.workers, flat.trained_size, flat.size)
            self._memory = RunMemory(plan, create=True)
        except BaseException:
            self._events.close()
            raise
        self.board = self._memory.board
        child = ChildPlan(config, run.path.resolve(), plan, self._events.address, before, os.getpid())
        self.supervisor = Supervisor(
            partial(start_worker, child),
            partial(start_coordinator, child),
            board=self.board,
            pool=self._memory.gradients,
            heartbeat=self._memory.heartbeat,
            last_words=self._memory.last_words,
            report=lambda event: self.take([event]),
        )

    def poll(self) -> list[Event]:
        """From the socket."""
        return self._events.poll()

    def let_go(self) -> None:
        """Of memory and socket."""
        self._memory.close()
        self._events.close()


class InProcessSession(Session):
    """Everything in a thread of this process, so that the main thread can show it."""

    def __init__(self, run: RunDirectory, config: TrainingConfig, before: Totals):
        super().__init__(run, config, before)
        torch.set_num_threads(1)
        self._queue: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._stop, self._paused, self._save = threading.Event(), threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._train, name="training", daemon=True)
        self._thread.start()

    def _train(self) -> None:
        try:
            with contextlib.suppress(AtOnce):
                self._train_well()
        except Exception as problem:  # whatever it is, the main thread tells the user
            self.problem = f"{type(problem).__name__}: {problem}"

    def _train_well(self) -> None:
        run, config = self.run, self.config
        coordinator = TrainingCoordinator(config)
        worker_events = LocalEvents("worker_0", self._queue.put)
        curriculum = worker_curriculum(run.path, config, 0, warn=lambda text: worker_events.log("warning", text))
        worker = TrainingWorker(config, 0, worker_events, curriculum)
        if run.checkpoint_pt.exists():
            state = load_checkpoint(run.checkpoint_pt)
            coordinator.load_state_dict(state)
            if state["workers"]:
                recall(worker, 0, state["workers"][0])
        else:
            warm_start(coordinator, run.path)
        worker.logger = MetricLogger(run.worker_csv(0), worker.collector.names, worker_events, self.before.steps)

        def save_wanted() -> bool:
            wanted = self._save.is_set()
            self._save.clear()
            return wanted

        keeper = RunKeeper(
            run,
            coordinator,
            LocalEvents("coordinator", self._queue.put),
            worker_states=lambda: [worker.state_dict()] if config.saves_replay else [],
            save_wanted=save_wanted,
            alive=self._go_on_evaluating,
        )
        worker_events.worker_status(0, "collecting")
        train_in_process(worker, coordinator, keeper, self.before, self._stop.is_set, self._paused.is_set)
        well = keeper.close()
        worker.close()
        worker_events.worker_status(0, "done")
        if not well:
            raise RuntimeError("the last checkpoint could not be saved")

    def _go_on_evaluating(self) -> None:
        """Evaluations are the one thing that takes longer than a user who has no patience should wait."""
        if self.stop_at_once_asked:
            raise AtOnce

    def tick(self) -> bool:
        """Events in; whether the thread still trains."""
        self.tell_stop()
        alive = self._thread.is_alive()
        events: list[Event] = []
        with contextlib.suppress(queue.Empty):
            while True:
                events.append(self._queue.get_nowait())
        self.take(events)
        return alive

    def pause(self, paused: bool) -> None:
        """Wait between two rounds."""
        self._paused.set() if paused else self._paused.clear()

    def save(self) -> None:
        """After the round that is going on."""
        self._save.set()

    def stop(self) -> None:
        """After the round that is going on."""
        super().stop()
        self._stop.set()

    def close(self) -> State:
        """Wait for the thread to save."""
        self._stop.set()
        self._thread.join()
        self.tick()
        return self.finish()


def open_session(run: RunDirectory, config: TrainingConfig, before: Totals) -> Session:
    """Start training."""
    config = dataclasses.replace(config, name=run.name)
    if config.cluster != "off":
        from mario_rl.cluster.session import ClusterSession  # Ray is an extra

        return ClusterSession(run, config, before)
    return (ProcessSession if config.workers else InProcessSession)(run, config, before)
