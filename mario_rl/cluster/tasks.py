"""Independent work on a cluster: Ray tasks, each with a core of its own on whatever node has one free.

What a task answers depends on its job alone, so one that is lost with its node is simply done again elsewhere. Nodes
that join meanwhile take their share.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import ray
from ray.exceptions import RayError, RayTaskError

from mario_rl.cluster.connection import Connection
from mario_rl.cluster.node import check_version, whereabouts
from mario_rl.runs.directory import RunError

Job = TypeVar("Job")
Result = TypeVar("Result")

TRIES = 10  # of a task whose nodes are lost; what kills its process every time has an end
END_SECONDS = 5.0  # for tasks that nobody wants any more
NAP = 0.5  # seconds between two looks at the head while nothing is done


def done_on(connection: Connection, work: Callable[[Job], Result], jobs: Sequence[Job]) -> Iterator[tuple[int, Result]]:
    """The number of each job and what `work` makes of it, as they are done; a RunError is passed on.

    `work` is a function of a module that the nodes have, too.
    """
    carry_out = ray.remote(_carry_out).options(num_cpus=1, max_retries=TRIES)
    installed = importlib.metadata.version("mario-rl")
    calls = {carry_out.remote(installed, work, job): number for number, job in enumerate(jobs)}
    try:
        while calls:
            connection.check()
            if connection.silent:
                time.sleep(NAP)
                continue
            for call in ray.wait(list(calls), timeout=NAP)[0]:
                yield calls.pop(call), _answer(call)
    finally:
        if calls and not connection.silent:
            _call_off(list(calls))


def _call_off(calls: list[Any]) -> None:
    """Those that run get a KeyboardInterrupt, and a while to clear up."""
    with contextlib.suppress(RayError, ConnectionError):
        for call in calls:
            ray.cancel(call)
        ray.wait(calls, num_returns=len(calls), timeout=END_SECONDS)


def _carry_out(installed: str, work: Callable[[Any], Any], job: Any) -> Any:
    """On a node."""
    check_version(whereabouts(), installed)
    return work(job)


def _answer(call: Any) -> Any:
    try:
        return ray.get(call)
    except RayTaskError as problem:
        if isinstance(problem.cause, RunError):
            raise RunError(str(problem.cause)) from problem
        raise
    except RayError as problem:
        said = str(problem).splitlines()[0]
        raise RunError(f"a task was lost {TRIES} times with its process (too little memory?): {said}") from problem
