"""An actor's work as the supervisor knows processes: running, ended well, or dead of something.

First the actor must have a place: `where` is answered once there is a node with room, be it in an hour when one joins.
Then its body begins. An actor that is lost is started again by Ray itself, on a node that is left (`max_restarts`); the
supervisor then begins a new `RemoteProcess` on it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import ray
from ray.exceptions import ActorUnavailableError, RayError, RayTaskError

from mario_rl.cluster.node import Whereabouts

ENDED_WELL, FAILED = 0, 1


class RemoteProcess:
    """One life of a worker or coordinator on a cluster; `begin` starts its body and gives the call to wait for."""

    def __init__(self, actor: Any, begin: Callable[[Whereabouts], Any]):
        self.asked = time.monotonic()
        self.placed: float | None = None  # monotonic: when it got a place
        self.here: Whereabouts | None = None
        self.words = ""  # what it died of
        self._actor = actor
        self._begin = begin
        self._where = actor.where.remote()
        self._body: Any = None
        self._exit_code: int | None = None

    @property
    def pid(self) -> int | None:
        """Of its process, on whatever node that is."""
        return None if self.here is None else self.here.pid

    @property
    def exitcode(self) -> int | None:
        """None while it waits for a place or runs."""
        if self._exit_code is None:
            self._look()
        return self._exit_code

    def kill(self) -> None:
        """End the actor's process; Ray starts a new one."""
        ray.kill(self._actor, no_restart=False)
        self._exit_code = FAILED

    def join(self, timeout: float | None = None) -> None:
        """Wait for the end, or so many seconds."""
        if self._exit_code is None:
            ray.wait([self._where if self._body is None else self._body], timeout=timeout)

    def close(self) -> None:
        """A process whose body failed is not used again: who knows what is left in it."""
        if self._exit_code == FAILED and self._body is not None:
            ray.kill(self._actor, no_restart=False)

    def _look(self) -> None:
        try:
            if self._body is None:
                if _is_ready(self._where):
                    self.here = ray.get(self._where)
                    self.placed = time.monotonic()
                    self._body = self._begin(self.here)
            elif _is_ready(self._body):
                ray.get(self._body)
                self._exit_code = ENDED_WELL
        except ActorUnavailableError as problem:
            if self._body is None:  # between two processes of the actor
                self._where = self._actor.where.remote()
            else:
                self._die(problem)
        except RayError as problem:
            self._die(problem)

    def _die(self, problem: RayError) -> None:
        self._exit_code = FAILED
        if isinstance(problem, RayTaskError):
            self.words = str(problem).strip()
        else:  # Ray itself does not know yet whether a process or its machine is gone
            self.words = "the loss of its process" + ("" if self.here is None else f" on {self.here}")


def _is_ready(call: Any) -> bool:
    return bool(ray.wait([call], timeout=0)[0])
