"""What processes tell the parent: metrics, log lines, death positions, and how workers and learner are doing.

Events travel as JSON over a ZMQ PUSH/PULL pair on a local socket. Watching must never slow training down: a publisher
neither waits nor fails when the parent is slow, dead or was never there. It keeps the newest events, drops the oldest
and counts what it dropped.

    subscriber = EventSubscriber()                                # in the parent
    events = EventPublisher(subscriber.address, "worker_0")       # in a child
    events.metrics({"loss": 0.5})
    subscriber.poll() == [{"type": "metrics", "source": "worker_0", "time": ..., "values": {"loss": 0.5}}]
"""

from __future__ import annotations

import json
import math
import os
import shutil
import socket
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import zmq

Event = dict[str, Any]

LOG_LEVELS = ("info", "warning", "error")
WORKER_STATUSES = ("starting", "collecting", "learning", "paused", "restarting", "given up", "done")
LEARNER_STATUSES = ("starting", "learning", "paused", "saving", "evaluating", "done")

BACKLOG = 1000  # events a publisher keeps while nobody takes them
IN_TRANSIT = 64  # messages ZMQ may hold on either side of the socket
LARGEST = 4 << 20  # bytes of one event; a peer that sends more is disconnected by ZMQ
GOODBYE_SECONDS = 0.5  # how long closing a publisher waits for the last events to leave
EVENTS_IN_A_POLL = 10_000  # so that a flood cannot keep the parent from its other work

_DIRECTORY = "mario-rl-events-"
_LONGEST_SOCKET_PATH = 103  # bytes: sun_path of macOS without its final zero; Linux has 107
_NEWBORN_SECONDS = 60  # a directory without a socket is this long taken for one that is just being made


class Events(ABC):
    """Where a worker or coordinator reports to. None of these calls waits, or fails because nobody listens."""

    def __init__(self, source: str):
        self.source = source

    def metrics(self, values: Mapping[str, float]) -> None:
        """The newest values by name."""
        self._tell("metrics", values={name: float(value) for name, value in values.items()})

    def log(self, level: str, text: str) -> None:
        """A line for people; `level` is one of LOG_LEVELS."""
        self._tell("log", level=_one_of(LOG_LEVELS, level), text=text)

    def deaths(self, deaths: Iterable[tuple[str, int, int]]) -> None:
        """Where Mario died: (level, area, x in pixels)."""
        self._tell("death_positions", deaths=[[level, int(area), int(x)] for level, area, x in deaths])

    def worker_status(self, worker: int, status: str, text: str = "") -> None:
        """What a worker does; `status` is one of WORKER_STATUSES."""
        self._tell("worker_status", worker=int(worker), status=_one_of(WORKER_STATUSES, status), text=text)

    def learner_status(self, status: str, text: str = "") -> None:
        """What the coordinator does; `status` is one of LEARNER_STATUSES."""
        self._tell("learner_status", status=_one_of(LEARNER_STATUSES, status), text=text)

    def close(self) -> None:
        """Send what can still be sent, and let go."""
        return

    def _tell(self, kind: str, **content: Any) -> None:
        self._send({"type": kind, "source": self.source, "time": time.time(), **content})

    @abstractmethod
    def _send(self, event: Event) -> None:
        """Deliver, or drop."""


class LocalEvents(Events):
    """Events without a socket, for everything in one process: each goes straight to `sink`."""

    def __init__(self, source: str, sink: Callable[[Event], object]):
        super().__init__(source)
        self._sink = sink

    def _send(self, event: Event) -> None:
        self._sink(event)


class EventPublisher(Events):
    """Sends events to the subscriber at `address`, from a thread of its own.

    `dropped` counts the events it gave up: `backlog` newer ones were waiting, or it was closed before their turn.
    """

    def __init__(self, address: str, source: str, backlog: int = BACKLOG):
        super().__init__(source)
        self.dropped = 0
        self._backlog = backlog
        self._waiting: deque[bytes] = deque()
        self._change = threading.Condition()  # guards all the others
        self._leave_by: float | None = None  # monotonic seconds, once closing
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.PUSH)
        self._socket.setsockopt(zmq.SNDHWM, IN_TRANSIT)
        # Without a connection nothing is queued inside ZMQ, which would keep the oldest: it waits here.
        self._socket.setsockopt(zmq.IMMEDIATE, 1)
        self._socket.setsockopt(zmq.RECONNECT_IVL_MAX, 1000)  # milliseconds
        self._socket.connect(address)
        self._postman = threading.Thread(target=self._deliver, name="events", daemon=True)
        self._postman.start()

    def _send(self, event: Event) -> None:
        message = json.dumps(event).encode()
        with self._change:
            if self._leave_by is not None:
                self.dropped += 1
                return
            if len(self._waiting) == self._backlog:
                self._waiting.popleft()
                self.dropped += 1
            self._waiting.append(message)
            self._change.notify()

    def _deliver(self) -> None:
        """The thread: hand events over one by one, as fast as they are taken."""
        while self._await_work():
            if self._socket.poll(100, zmq.POLLOUT):
                with self._change, suppress(zmq.Again):
                    self._socket.send(self._waiting[0], zmq.NOBLOCK)
                    self._waiting.popleft()
        self._socket.close(linger=max(0, int(self._seconds_left() * 1000)))
        self._context.term()

    def _await_work(self) -> bool:
        with self._change:
            self._change.wait_for(lambda: self._waiting or self._leave_by is not None)
            return bool(self._waiting) and self._seconds_left() > 0

    def _seconds_left(self) -> float:
        return math.inf if self._leave_by is None else self._leave_by - time.monotonic()

    def close(self) -> None:
        """Let the last events leave, for GOODBYE_SECONDS at most; closing twice is fine."""
        with self._change:
            if self._leave_by is None:
                self._leave_by = time.monotonic() + GOODBYE_SECONDS
                self._change.notify()
        self._postman.join()
        self.dropped += len(self._waiting)
        self._waiting.clear()


class EventSubscriber:
    """Receives the events of all publishers, on a socket in a private directory that `close` removes.

    `ignored` counts messages that are not events.
    """

    def __init__(self) -> None:
        remove_dead_sockets()
        self._directory = _private_directory()
        self.address = f"ipc://{self._directory / 'events'}"
        self.ignored = 0
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.PULL)
        self._socket.setsockopt(zmq.MAXMSGSIZE, LARGEST)
        self._socket.bind(self.address)

    def poll(self, timeout_seconds: float = 0) -> list[Event]:
        """The events that have come, each publisher's in its order; waits up to `timeout_seconds` for the first."""
        events: list[Event] = []
        if not self._socket.poll(int(timeout_seconds * 1000)):
            return events
        for _ in range(EVENTS_IN_A_POLL):
            try:
                parts = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                break
            event = _decoded(parts)
            if event is None:
                self.ignored += 1
            else:
                events.append(event)
        return events

    def close(self) -> None:
        """Stop listening and remove the socket; closing twice is fine."""
        if not self._socket.closed:
            self._socket.close(linger=0)
            self._context.term()
        shutil.rmtree(self._directory, ignore_errors=True)

    def __enter__(self) -> EventSubscriber:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def remove_dead_sockets() -> list[str]:
    """Remove the socket directories of parents that were killed; the paths that were removed.

    Nobody listening on a socket is the sign of a dead owner, so a process number in use again cannot mislead.
    """
    removed = []
    for place in _places():
        for directory in place.glob(_DIRECTORY + "*"):
            if _is_ours(directory) and not _is_alive(directory):
                shutil.rmtree(directory, ignore_errors=True)
                removed.append(str(directory))
    return removed


def _is_ours(directory: Path) -> bool:
    try:
        return directory.lstat().st_uid == os.getuid() and directory.is_dir() and not directory.is_symlink()
    except OSError:
        return False


def _is_alive(directory: Path) -> bool:
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knock:
            knock.settimeout(1)
            knock.connect(str(directory / "events"))
        return True
    except ConnectionRefusedError:
        return False
    except FileNotFoundError:
        try:
            return time.time() - directory.stat().st_mtime < _NEWBORN_SECONDS
        except FileNotFoundError:
            return True  # its owner removed it just now: nothing left to do
    except OSError:
        return True  # when in doubt it stays


def _places() -> list[Path]:
    """Where sockets may lie: the user's temporary directory, or /tmp where that one's name is too long."""
    return list(dict.fromkeys((Path(tempfile.gettempdir()), Path("/tmp"))))


def _private_directory() -> Path:
    for place in _places():
        # mkdtemp adds 8 random characters; only the owner can enter what it makes
        if len(os.fsencode(place / (_DIRECTORY + "x" * 8) / "events")) <= _LONGEST_SOCKET_PATH and place.is_dir():
            return Path(tempfile.mkdtemp(prefix=_DIRECTORY, dir=place))
    raise ValueError(
        f"the temporary directory {tempfile.gettempdir()} has too long a name; set TMPDIR to a shorter one"
    )


def _decoded(parts: list[bytes]) -> Event | None:
    """The event in a message, or None if it is not one."""
    try:
        (message,) = parts
        event = json.loads(message)
        return event if _is_event(event) else None
    except (ValueError, RecursionError):  # not one part, not UTF-8, not JSON, nested without end
        return None


def _is_event(event: object) -> bool:
    if not isinstance(event, dict) or not isinstance(event.get("source"), str) or not _is_number(event.get("time")):
        return False
    match event:
        case {"type": "metrics", "values": dict(values)}:
            return all(map(_is_number, values.values()))
        case {"type": "log", "level": level, "text": str()}:
            return level in LOG_LEVELS
        case {"type": "death_positions", "deaths": list(deaths)}:
            return all(map(_is_death, deaths))
        case {"type": "worker_status", "worker": int(), "status": status, "text": str()}:
            return status in WORKER_STATUSES
        case {"type": "learner_status", "status": status, "text": str()}:
            return status in LEARNER_STATUSES
    return False


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_death(death: object) -> bool:
    match death:
        case [str(), int(), int()]:
            return True
    return False


def _one_of(known: tuple[str, ...], word: str) -> str:
    if word not in known:
        raise ValueError(f"{word!r} is none of {', '.join(known)}")
    return word
