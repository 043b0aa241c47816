"""The parent's line to the actors of its run: makes them, hears from them, tells them what the user wants.

To the supervisor this is all it looks at: the board, the signs of life, the last words. What arrives of the run's files
goes into the run's directory, which is the parent's alone.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError
from ray.util import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from mario_rl.cluster.coordinator_actor import CoordinatorActor
from mario_rl.cluster.messages import ClusterPlan, News, Sender
from mario_rl.cluster.metric_files import MetricFiles
from mario_rl.cluster.node import ROM, Whereabouts, check_version, whereabouts
from mario_rl.cluster.remote_process import RemoteProcess
from mario_rl.cluster.shared_files import SAVED, Folder, curriculum_files
from mario_rl.cluster.worker_actor import WorkerActor
from mario_rl.config import TrainingConfig
from mario_rl.distributed.board import Board
from mario_rl.distributed.coordinator import Counters, Totals
from mario_rl.distributed.events import Event, LocalEvents
from mario_rl.distributed.keeper import progress_in_status
from mario_rl.emulators.rom import find_rom
from mario_rl.runs.checkpoint import (
    CheckpointError,
    load_checkpoint,
    save_checkpoint,
    save_run_checkpoint,
    state_in,
)
from mario_rl.runs.directory import RunDirectory

ASK_SECONDS = 0.2  # between two questions for news
WAITING_SECONDS = 20.0  # without a place, people are told; importing torch takes a while, too
COORDINATOR_BUNDLE, FIRST_WORKER_BUNDLE = range(2)


class ClusterLine:
    """The actors of a run, and everything known of them."""

    def __init__(self, run: RunDirectory, config: TrainingConfig, before: Totals):
        self.board = Board.of_one_process(config.workers)
        self.events = LocalEvents("cluster", self._note)
        self._noted: list[Event] = []
        self._run, self._config = run, config
        self._plan = ClusterPlan(config, before)
        self._folder = Folder(run.path)
        self._metrics = MetricFiles(run, config, before)
        self._rom = find_rom("smb", config.rom).read_bytes()
        self._installed = whereabouts().version
        # What a run cannot do without is reserved together: two runs that share a full cluster never hold half each.
        bundle = {"CPU": 1.0} | ({"GPU": config.gpu_share} if config.device.startswith("cuda") else {})
        self._core = placement_group([bundle, bundle], strategy="PACK")
        options = {"num_cpus": 1, "num_gpus": bundle.get("GPU", 0), "max_restarts": -1, "max_task_retries": 0}
        self._coordinator: Any = (
            ray.remote(CoordinatorActor)
            .options(**options, **self._in_core(COORDINATOR_BUNDLE), max_concurrency=4 * config.workers + 64)
            .remote()
        )
        first = ray.remote(WorkerActor).options(**options, **self._in_core(FIRST_WORKER_BUNDLE))
        others = ray.remote(WorkerActor).options(**options, scheduling_strategy="SPREAD")
        self._workers: list[Any] = [(others if index else first).remote() for index in range(config.workers)]
        self._processes: dict[int, RemoteProcess] = {}
        self._lives: dict[int, int] = {}
        self._told_waiting: set[int] = set()
        self._question: Any = None
        self._asked = self._heard = time.monotonic()
        self._news: News | None = None
        self._stamp = 0
        self._orders = (False, False, 0)  # stop, pause, save requests: as the coordinator knows them
        self._unsaved: dict[str, str] = {}  # files that could not be saved when they arrived last, and why

    def _in_core(self, bundle: int) -> dict[str, Any]:
        strategy = PlacementGroupSchedulingStrategy(self._core, placement_group_bundle_index=bundle)
        return {"scheduling_strategy": strategy}

    # --- what the supervisor does ---------------------------------------------------------------------------------

    def start_worker(self, index: int) -> RemoteProcess:
        """Begin a worker's next life."""
        sender = Sender(index, self._next_life(index))
        actor = self._workers[index]

        def begin(here: Whereabouts) -> Any:
            check_version(here, self._installed)
            self.events.worker_status(index, "starting", f"worker {index} is on {here}")
            self.events.log("info", f"worker {index} is on {here}")
            files = curriculum_files(self._run.path) | {ROM: self._rom}
            last = self._metrics.last_of_worker(index)
            return actor.run.remote(self._plan, sender, self._coordinator, files, last)

        return self._begun(index, RemoteProcess(actor, begin))

    def start_coordinator(self) -> RemoteProcess:
        """Begin the coordinator's next life, with the newest checkpoint that there is."""
        index = self._config.workers
        life = self._next_life(index)

        def begin(here: Whereabouts) -> Any:
            check_version(here, self._installed)
            self.events.log("info", f"the coordinator is on {here}")
            files = curriculum_files(self._run.path) | {ROM: self._rom}
            if self._run.checkpoint_pt.exists():
                files[self._run.checkpoint_pt.name] = self._run.checkpoint_pt.read_bytes()
                self._metrics.rewind_coordinator(load_checkpoint(self._run.checkpoint_pt)["counters"]["steps"])
            self._orders, self._stamp = (False, False, self.board.control.save_requests), 0
            return self._coordinator.run.remote(self._plan, life, files)

        self._news, self._heard = None, time.monotonic()
        return self._begun(index, RemoteProcess(self._coordinator, begin))

    def _next_life(self, index: int) -> int:
        self._lives[index] = self._lives.get(index, -1) + 1
        return self._lives[index]

    def _begun(self, index: int, process: RemoteProcess) -> RemoteProcess:
        self._told_waiting.discard(index)
        self._processes[index] = process
        return process

    def clear(self, worker: int) -> None:
        """A worker has died: the coordinator shall not wait for it."""
        with contextlib.suppress(RayError):
            self._coordinator.forget.remote(worker)

    def age(self, index: int) -> float:
        """Seconds since a sign of life. Who waits for a place is not dead: a node may join in an hour."""
        process = self._processes[index]
        if process.placed is None:
            return 0.0
        now = time.monotonic()
        since_placed, since_news = now - process.placed, now - self._heard
        if self._news is None:
            return since_placed
        if index == self._config.workers:
            silent = self._news.silent_seconds
        else:
            known = self._news.workers.get(index)
            silent = known.silent_seconds if known is not None and known.life == self._lives[index] else None
            since_news = 0.0  # that there is no news is the coordinator's silence
        return since_placed if silent is None else min(silent + since_news, since_placed)

    def hear(self, index: int) -> str:
        """What it died of."""
        return self._processes[index].words if index in self._processes else ""

    def forget(self, index: int) -> None:
        """Nothing was said yet."""
        if index in self._processes:
            self._processes[index].words = ""

    # --- what the session does ------------------------------------------------------------------------------------

    def poll(self) -> list[Event]:
        """What has happened; tells the coordinator in turn what the user wants. Never waits."""
        self._tell_orders()
        now = time.monotonic()
        if self._question is not None and ray.wait([self._question], timeout=0)[0]:
            self._take(self._question)
            self._question = None
        if self._question is None and now - self._asked > ASK_SECONDS and self._coordinator_is_there():
            self._asked = now
            self._question = self._ask()
        self._tell_who_waits()
        noted, self._noted = self._noted, []
        return noted

    def drain(self, seconds: float) -> list[Event]:
        """The last news, for which it is worth waiting."""
        with contextlib.suppress(RayError, GetTimeoutError):
            if self._question is not None:
                self._take(self._question, seconds)
            if self._coordinator_is_there():
                self._take(self._ask(), seconds)
        self._question = None
        noted, self._noted = self._noted, []
        return noted

    def rescue(self, seconds: float) -> list[Event]:
        """The head is lost, the coordinator perhaps not: have it save, and take what it saved.

        In small pieces: a large answer would go through the object store, which is lost with the head.
        """
        deadline = time.monotonic() + seconds
        if self._coordinator_is_there():
            with contextlib.suppress(RayError, GetTimeoutError):
                ray.get(self._coordinator.order.remote(stop=True, pause=False), timeout=seconds)
                process = self._processes[self._config.workers]
                while process.exitcode is None and time.monotonic() < deadline:
                    process.join(0.2)
                if process.exitcode == 0:
                    for name in SAVED:
                        self._keep_if_there(name, deadline)
        noted, self._noted = self._noted, []
        return noted

    def _keep_if_there(self, name: str, deadline: float) -> None:
        content = b""
        while time.monotonic() < deadline:
            piece = ray.get(self._coordinator.piece.remote(name, len(content)), timeout=deadline - time.monotonic())
            if not piece:
                break
            content += piece
        if content:  # one that is not whole is found out
            self._keep(name, content)

    def close(self, cluster_lost: bool = False) -> None:
        """End all actors; nothing of the run stays on the cluster. One that is lost is not asked for anything."""
        self._metrics.close()
        if cluster_lost:
            return
        for actor in (*self._workers, self._coordinator):
            with contextlib.suppress(RayError, ConnectionError):
                ray.kill(actor)
        with contextlib.suppress(RayError, ConnectionError):
            remove_placement_group(self._core)

    def _coordinator_is_there(self) -> bool:
        process = self._processes.get(self._config.workers)
        return process is not None and process.placed is not None

    def _ask(self) -> Any:
        return self._coordinator.news.remote(self._stamp, self._folder.changed([self._run.death_hotspots_json.name]))

    def _tell_orders(self) -> None:
        control = self.board.control
        orders = (control.stop != 0, control.pause != 0, control.save_requests)
        if orders != self._orders and self._coordinator_is_there():
            save = orders[2] != self._orders[2]
            self._coordinator.order.remote(stop=orders[0], pause=orders[1], save=save)
            self._orders = orders

    def _take(self, question: Any, seconds: float | None = None) -> None:
        try:
            news: News = ray.get(question, timeout=seconds)
        except RayError:  # the supervisor notices that the coordinator is lost
            return
        self._heard = time.monotonic()
        self._news = news
        self._stamp = news.stamp
        for index, known in news.workers.items():
            row = self.board.workers[index]
            if known.life == self._lives.get(index):
                row.nonfinite_in_a_row = known.nonfinite_in_a_row
        self._metrics.write(news.events)
        self._noted += news.events
        for name, content in news.files.items():
            self._keep(name, content)

    def _keep(self, name: str, content: bytes) -> None:
        """A file of the run, from the coordinator or a worker. A full disk must not end a run."""
        try:
            if name.endswith(".pt"):
                self._keep_checkpoint(name, state_in(content, f"{name} as it arrived"))
            elif name.startswith("snapshots/"):
                self._folder.write({name: content})
        except (CheckpointError, OSError) as problem:
            self._unsaved[name] = str(problem)
            self.events.log("warning", f"not saved: {problem}")
        else:
            self._unsaved.pop(name, None)

    @property
    def unsaved(self) -> str | None:
        """What is lost if the run ends now."""
        problem = self._unsaved.get(self._run.checkpoint_pt.name)
        return None if problem is None else f"the last checkpoint could not be saved: {problem}"

    def _keep_checkpoint(self, name: str, state: dict[str, Any]) -> None:
        run, config = self._run, self._config
        state["config"] = dataclasses.asdict(config)  # it had the node's paths
        if name == run.checkpoint_pt.name:
            save_run_checkpoint(run, state, config.keep)
            run.update_status(**progress_in_status(Counters(**state["counters"])))
        else:
            save_checkpoint(run.path / name, state)

    def _tell_who_waits(self) -> None:
        for index, process in self._processes.items():
            waited = math.inf if process.placed is not None else time.monotonic() - process.asked
            if WAITING_SECONDS < waited < math.inf and index not in self._told_waiting:
                self._told_waiting.add(index)
                if index < self._config.workers:
                    text = f"worker {index} waits for a node with room; the others go on without it"
                    self.events.worker_status(index, "starting", text)
                else:
                    text = "the coordinator waits for a node with room for it and one worker"
                self.events.log("info", text)

    def _note(self, event: Event) -> None:
        self._noted.append(event)
