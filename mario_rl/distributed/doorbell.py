"""A bell between processes, so that one that waits for another sleeps instead of looking again and again.

The bell is a pipe: ringing writes a byte, waiting is sleeping until there is one. It has no name, so nothing is left of
it whoever is killed. It is only a hint to look at shared memory: what is true stands there, and every wait has a
time-out.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import select


class Doorbell:
    """Any process may ring, one waits. Made by the parent; children get it as an argument of their `Process`."""

    def __init__(self) -> None:
        self._listening, self._ringing = multiprocessing.Pipe(duplex=False)  # these know how to reach a spawned child
        for end in (self._listening, self._ringing):
            os.set_blocking(end.fileno(), False)

    def ring(self) -> None:
        """Wake the one who waits, or the next one who will. Never waits itself."""
        with contextlib.suppress(BlockingIOError):  # a full pipe is a bell that rings already
            os.write(self._ringing.fileno(), b"!")

    def wait(self, seconds: float) -> bool:
        """Sleep until the bell has rung since the last wait, at most so long; whether it has."""
        poll = select.poll()
        poll.register(self._listening.fileno(), select.POLLIN)
        if not poll.poll(max(seconds, 0.0) * 1000):
            return False
        with contextlib.suppress(BlockingIOError):
            while len(os.read(self._listening.fileno(), 4096)) == 4096:
                pass
        return True

    def close(self) -> None:
        """Let go of the pipe."""
        self._listening.close()
        self._ringing.close()
