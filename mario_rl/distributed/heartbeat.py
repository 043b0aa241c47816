"""Signs of life: every process of a run writes down the time, over and over; the supervisor looks how long ago."""

from __future__ import annotations

import math
import time

from mario_rl.distributed.shared_memory import SharedBlock

_NEVER = 0.0


class SharedHeartbeat:
    """One float64 timestamp per worker, and one for the coordinator, whose index is `coordinator`.

    Timestamps are `time.monotonic`, which all processes of a machine share, and which neither a changed clock nor a
    suspended machine moves.
    """

    def __init__(self, name: str, workers: int, *, create: bool = False) -> None:
        self.name = name
        self.coordinator = workers
        self._block = SharedBlock(name, (workers + 1) * 8, kind="heart", shape=(workers,), create=create)
        self._times = self._block.numbers(0, workers + 1)

    def beat(self, index: int) -> None:
        """Say that this process is alive and gets on."""
        self._times[index] = time.monotonic()

    def age(self, index: int) -> float:
        """Seconds since the last beat; infinite if there was none since the start or `forget`."""
        beaten: float = self._times[index]
        return math.inf if beaten == _NEVER else max(time.monotonic() - beaten, 0.0)

    def stale(self, limit_seconds: float) -> list[int]:
        """Those who have beaten and then fell silent for longer than the limit."""
        return [index for index in range(len(self._times)) if limit_seconds < self.age(index) < math.inf]

    def forget(self, index: int) -> None:
        """Wait for the first beat again: a new process takes this place."""
        self._times[index] = _NEVER

    def close(self) -> None:
        """Let go of the memory; its creator also removes it from the machine."""
        self._block.close()
