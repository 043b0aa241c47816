"""The coordinator as a Ray actor: the same body as in a process, in a thread; calls are answered beside it.

The parent makes it, and makes it go: `run` returns when the run is over. It writes into a directory of its own, as a
coordinator does; the parent asks for `news` and gets the files along with everything else that is to be known.
"""

from __future__ import annotations

import asyncio
import time

import torch

from mario_rl.cluster.messages import SMALL_BYTES, Answer, ClusterPlan, News, Report, Sender, Version
from mario_rl.cluster.node import Whereabouts, config_here, scratch_directory, whereabouts
from mario_rl.cluster.relayed_events import RelayedEvents
from mario_rl.cluster.shared_files import CURRICULUM, SAVED, Files, Folder, SharedFiles
from mario_rl.cluster.wire import Packed
from mario_rl.cluster.workers import ClusterWorkers
from mario_rl.distributed.coordinator import TrainingCoordinator, coordinate
from mario_rl.distributed.curriculum import warm_start
from mario_rl.distributed.keeper import RunKeeper
from mario_rl.distributed.process import keep_memory
from mario_rl.learners.registry import algorithm
from mario_rl.runs.checkpoint import load_checkpoint
from mario_rl.runs.directory import RunDirectory
from mario_rl.runs.status import RunStatus, write_status

NAP = 0.02  # seconds between two looks whether the body has come as far as a caller needs
BACKLOG = 20_000  # events of all workers that wait for the parent


class CoordinatorActor:
    """Everything the coordinator's actor can be asked. Calls wait beside each other; none keeps another waiting."""

    def __init__(self) -> None:
        keep_memory()
        torch.set_num_threads(1)
        self._events = RelayedEvents("coordinator", BACKLOG)
        self._files = SharedFiles()
        self._workers: ClusterWorkers | None = None
        self._save_requests = 0
        self._stop = self._pause = False

    async def where(self) -> Whereabouts:
        """Which node this is, and what is installed there."""
        return whereabouts()

    # --- the parent's ---------------------------------------------------------------------------------------------

    async def run(self, plan: ClusterPlan, life: int, files: Files) -> None:
        """Coordinate until the run is over; `files` are those of the run's directory that this needs."""
        self._loop = asyncio.get_running_loop()
        with scratch_directory() as directory:
            folder = Folder(directory)
            folder.write(files)
            self._files.put({name: content for name, content in files.items() if name.startswith(CURRICULUM)})
            self._folder = folder
            try:
                await asyncio.to_thread(self._coordinate, plan, life, RunDirectory(folder.path))
            finally:
                self._files.put(folder.changed(SAVED))
                del self._folder
                if self._workers is not None:
                    self._workers.end()

    def _coordinate(self, plan: ClusterPlan, life: int, run: RunDirectory) -> None:
        config = config_here(plan.config, run.path)
        write_status(run.status_json, RunStatus(state="RUNNING", why=""))
        coordinator = TrainingCoordinator(config)
        if run.checkpoint_pt.exists():
            coordinator.load_state_dict(load_checkpoint(run.checkpoint_pt))
        else:
            warm_start(coordinator, run.path)
        before = plan.before
        if coordinator.counters.steps > before.steps:  # a predecessor of ours had come so far
            counters = coordinator.counters
            before = type(before)(counters.steps, counters.episodes, counters.flags, before.best_x)
        workers = ClusterWorkers(coordinator, algorithm(config).lockstep, before, life)
        workers.stop, workers.pause = self._stop, self._pause
        keeper = RunKeeper(run, coordinator, self._events, save_wanted=self._save_wanted, alive=workers.alive)
        keeper.save()  # so that a coordinator that dies in its first minute has a successor
        self._workers = workers
        self._events.learner_status("learning")
        coordinate(coordinator, workers, keeper)
        workers.stop = True  # for the workers: the run is over
        if not keeper.close():
            raise RuntimeError("the last checkpoint could not be saved")

    def _save_wanted(self) -> bool:
        wanted, self._save_requests = self._save_requests > 0, 0
        return wanted

    async def order(self, *, stop: bool, pause: bool, save: bool = False) -> None:
        """What the user wants."""
        self._stop, self._pause = stop, pause
        self._save_requests += save
        if self._workers is not None:
            self._workers.stop, self._workers.pause = self._workers.stop or stop, pause

    async def forget(self, worker: int) -> None:
        """A worker has died."""
        if self._workers is not None:
            self._workers.forget(worker)

    async def news(self, stamp: int, shared: Files) -> News:
        """What has happened since the last question; `shared` is what the parent has for the workers."""
        self._files.put(shared)
        folder = getattr(self, "_folder", None)
        if folder is not None:
            self._files.put(await asyncio.to_thread(folder.changed, SAVED))
        stamp, files = self._files.since(stamp)
        workers = self._workers
        alive_at = None if workers is None else workers.alive_at
        return News(
            self._events.take(),
            files,
            stamp,
            {} if workers is None else workers.presence(),
            None if alive_at is None else time.monotonic() - alive_at,
        )

    async def piece(self, name: str, start: int) -> bytes | None:
        """Some of a saved file, so little that it comes with the answer itself; None if there is no such file."""
        content = self._files.since(0)[1].get(name)
        return None if content is None else content[start : start + SMALL_BYTES // 2]

    # --- the workers' ---------------------------------------------------------------------------------------------

    async def join(self, report: Report) -> Answer:
        """A worker would like to take part; it asks again until it is told that it does."""
        workers = await self._hear(report)
        joined = workers.hear(report.sender, report.totals) and workers.join(report.sender)
        answer = workers.answer(report.sender)
        return answer if joined else Answer(answer.stop, answer.pause, False, answer.run_steps, None)

    async def begin_round(self, sender: Sender) -> None:
        """A worker begins to collect."""
        if self._workers is not None and self._workers.answer(sender).joined:
            self._workers.begin_round(sender)

    async def offer(self, report: Report, version: Version, loss: float, packed: Packed) -> Answer:
        """A gradient; the answer comes when it has been used."""
        workers = await self._hear(report)
        if workers.hear(report.sender, report.totals):
            used: asyncio.Future[None] = self._loop.create_future()
            workers.receive(report.sender, version, loss, packed, lambda: self._settle(used))
            await used
        return workers.answer(report.sender)

    def _settle(self, future: asyncio.Future[None]) -> None:
        """From any thread."""
        self._loop.call_soon_threadsafe(lambda: None if future.done() else future.set_result(None))

    async def beat(self, report: Report) -> Answer:
        """A worker lives, and sends nothing else."""
        workers = await self._hear(report)
        workers.hear(report.sender, report.totals)
        return workers.answer(report.sender)

    async def following(self) -> Packed:
        """The weights that only follow the trained ones; asked for before a round, and not by who has none of them."""
        while self._workers is None or (packed := self._workers.following()) is None:
            await asyncio.sleep(NAP)
        return packed

    async def share(self, stamp: int, files: Files) -> tuple[int, Files]:
        """Files of a worker for the others, and theirs for it."""
        self._files.put(files)
        return self._files.since(stamp, lambda name: name.startswith(CURRICULUM) and name not in files)

    async def _hear(self, report: Report) -> ClusterWorkers:
        """Pass a worker's events on. A worker may be there before the coordinator has loaded its model: it waits."""
        self._events.relay(report.events)
        while self._workers is None:
            await asyncio.sleep(NAP)
        return self._workers
