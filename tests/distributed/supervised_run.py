"""A run for the supervisor's tests: all the shared memory, and children that behave as they are told."""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing.process import BaseProcess
from typing import Any

from mario_rl.distributed.board import SharedBoard
from mario_rl.distributed.gradient_pool import SharedGradientPool
from mario_rl.distributed.heartbeat import SharedHeartbeat
from mario_rl.distributed.last_words import SharedLastWords
from mario_rl.distributed.supervisor import Supervisor
from tests.distributed.child_processes import a_name, start_in_child, wait_until

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
