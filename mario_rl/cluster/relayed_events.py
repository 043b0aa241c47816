"""Events on a cluster: they ride along with what actors send each other anyway, and end up in the parent's dashboard.

No socket of the parent has to be reachable from the nodes, which it seldom is.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable

from mario_rl.distributed.events import BACKLOG, Event, Events


class RelayedEvents(Events):
    """Keeps the newest events until somebody takes them along."""

    def __init__(self, source: str, backlog: int = BACKLOG):
        super().__init__(source)
        self.dropped = 0
        self._backlog = backlog
        self._waiting: deque[Event] = deque()
        self._lock = threading.Lock()

    def _send(self, event: Event) -> None:
        self.relay([event])

    def relay(self, events: Iterable[Event]) -> None:
        """Take over events of others."""
        with self._lock:
            self._waiting.extend(events)
            while len(self._waiting) > self._backlog:
                self._waiting.popleft()
                self.dropped += 1

    def take(self) -> list[Event]:
        """All that wait, in their order; they are the caller's now."""
        with self._lock:
            events = list(self._waiting)
            self._waiting.clear()
        return events
