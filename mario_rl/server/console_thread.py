"""A thread in which one console is used, and the way of the event loop to it and back.

The standard library's executors do the same with twice the overhead, which would be a tenth of a step's time.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

Result = TypeVar("Result")
_Job = tuple["asyncio.Future[Any]", Callable[[], Any]]


class ThreadEnded(RuntimeError):
    """Nothing is done here any more."""


class ConsoleThread:
    """Does one thing after the other, in the order in which they were asked for."""

    def __init__(self, name: str):
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._ended = False
        threading.Thread(target=self._work, name=name, daemon=True).start()

    async def run(self, job: Callable[[], Result]) -> Result:
        """The job's result, or what it raises. A job that nobody waits for any more is not begun."""
        if self._ended:
            raise ThreadEnded
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._jobs.put((future, job))
        return await future

    def end(self) -> None:
        """End when everything asked for so far is done."""
        self._ended = True
        self._jobs.put(None)

    def _work(self) -> None:
        while (work := self._jobs.get()) is not None:
            future, job = work
            if future.cancelled():
                continue
            result, error = None, None
            try:
                result = job()
            except Exception as problem:
                error = problem
            future.get_loop().call_soon_threadsafe(_settle, future, result, error)
            del work, future, job, result, error  # what is in them must not live until the next job


def _settle(future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if future.done():
        return  # whoever asked has left
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
