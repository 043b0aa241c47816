"""Routes through many levels: explore each, verify what was found on two emulators, write it down.

Levels are shared out among processes. Every level is explored on one thread from its own seed, so what is found does
not depend on how many processes there are.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mario_rl.distributed.process import become_child, ctrl_c_held_back, exit_reason
from mario_rl.snapshots.explore import Exploration, explore
from mario_rl.snapshots.replayers import ORACLES, EmbeddedReplayer
from mario_rl.snapshots.routes import Route, RouteError, replay, route_of

if TYPE_CHECKING:
    from multiprocessing.context import SpawnContext
    from multiprocessing.synchronize import Event

MOST_FRAMES = 20_000_000  # after which a level is given up
SHORTEN = 1.0  # times the frames that finding took are spent on shorter ways afterwards
SECONDS_BETWEEN_SIGNS = 0.5
SECONDS_TO_STOP = 1.5  # that processes get to put things away


@dataclass
class Finding:
    """What came of a level."""

    level: str
    found: bool = False
    verified: bool = False
    """Replayed to the end from power-on, on our core and on the other one."""
    frames: int = 0
    """Explored until the end was found."""
    shortening_frames: int = 0
    """Explored afterwards, for shorter ways."""
    cpu_s: float = 0.0
    """Exploring, both."""
    route_steps: int | None = None
    first_route_steps: int | None = None
    """Before it was shortened."""
    route_frames: int | None = None
    """From power-on to the end."""
    clock_left: int | None = None
    cells: int = 0
    deaths: int = 0
    verified_on: list[str] = field(default_factory=list)
    route: str | None = None
    """The files that were written."""
    video: str | None = None
    map: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Sign:
    """A sign of life of a level that is being worked on."""

    level: str
    doing: str
    frames: int
    """Explored so far."""


@dataclass(frozen=True)
class Task:
    """A level to be explored, for another process."""

    level: str
    seed: int
    rom: Path
    directory: Path
    deadline: float | None = None
    """Of time.time, which processes share: exploring ends then."""
    frames: int = MOST_FRAMES
    shorten: float = SHORTEN
    actions: str = "complex"
    oracles: tuple[str, ...] = ()
    """Verify with the second emulator, too."""
    pictures: bool = True
    """Record a video and draw a map."""


@dataclass(frozen=True)
class Check:
    """A route that is there already, to be verified."""

    level: str
    file: Path
    rom: Path
    oracles: tuple[str, ...] = ()


class Stopped(Exception):
    """The survey is to end now."""


Tell = Callable[[str, int], None]
"""Told what is being done and how many frames were explored so far; raises `Stopped` if that is enough."""


def carry_out(task: Task | Check, tell: Tell) -> Finding:
    """Explore, verify, write; or only verify."""
    if isinstance(task, Check):
        return _checked(task, tell)

    def in_time(explored: Exploration) -> bool:
        tell("exploring" if explored.way is None else "shortening", explored.frames)
        return task.deadline is None or time.time() < task.deadline

    explored = explore(
        task.level,
        task.seed,
        frames=task.frames,
        shorten=task.shorten,
        actions=task.actions,
        rom=str(task.rom),
        watching=in_time,
    )
    finding = Finding(task.level, cpu_s=round(explored.cpu_seconds, 2), cells=len(explored.archive))
    finding.deaths = explored.deaths
    finding.frames = explored.frames if explored.found_after is None else explored.found_after
    finding.shortening_frames = explored.frames - finding.frames
    if explored.way is None:
        return finding
    how = {"seed": task.seed, "frames": finding.frames, "actions": task.actions}
    route = route_of(task.level, explored.way.all_pads(), task.rom.read_bytes(), how)
    finding.found = True
    finding.first_route_steps, finding.route_steps = explored.first_steps, route.steps
    verify(route, task.rom, finding, task.oracles, lambda: tell("verifying", explored.frames))
    file = task.directory / f"{task.level}.json"
    route.save(file)
    finding.route = str(file)
    if task.pictures:
        with suppress(Stopped):  # the route itself is there
            _draw(route, explored, task, finding, lambda: tell("drawing", explored.frames))
    return finding


def _draw(route: Route, explored: Exploration, task: Task, finding: Finding, between: Callable[[], None]) -> None:
    # need Pillow and ffmpeg, which not everybody has
    from mario_rl.runs.archive_map import draw_archive_map
    from mario_rl.runs.route_video import record_route

    rom = task.rom.read_bytes()
    picture = task.directory / f"{task.level}.png"
    draw_archive_map(picture, explored, route, rom)
    finding.map = str(picture)
    video = task.directory / f"{task.level}.mp4"
    record_route(video, route, rom, between)
    finding.video = str(video)


def _checked(task: Check, tell: Tell) -> Finding:
    route = Route.load(task.file)
    if route.rom != hashlib.sha256(task.rom.read_bytes()).hexdigest():
        raise RouteError(f"{task.file} was found with another ROM than {task.rom}: name that one with --rom")
    explored = int(route.found.get("frames", 0))
    finding = Finding(route.level, found=True, frames=explored, route_steps=route.steps, route=str(task.file))
    verify(route, task.rom, finding, task.oracles, lambda: tell("verifying", explored))
    return finding


def verify(
    route: Route, rom: Path, finding: Finding, oracles: Sequence[str], between: Callable[[], None] = lambda: None
) -> None:
    """Replay a route from power-on on our core, and on those that are none of ours."""
    ours = replay(route, EmbeddedReplayer(rom.read_bytes()), between)
    finding.route_frames, finding.clock_left = ours.frames, ours.clock
    arrivals = {"embedded": ours}
    for name in oracles:
        arrivals[name] = replay(route, ORACLES[name](rom), between)
    finding.verified_on = [name for name, arrival in arrivals.items() if arrival.arrived]
    finding.verified = bool(oracles) and len(finding.verified_on) == len(arrivals)


class Survey:
    """Tasks that are carried out by several processes. Whoever starts one stops it, whatever happens in between."""

    def __init__(self, tasks: Sequence[Task | Check], processes: int):
        context = multiprocessing.get_context("spawn")
        self._waiting = list(tasks)
        self._stop = context.Event()
        with ctrl_c_held_back():
            self._children = [_Child(context, self._stop) for _ in range(min(processes, len(tasks)))]

    def events(self) -> Iterator[Finding | Sign]:
        """What comes of it, in the order in which it comes; a RouteError if a process cannot go on."""
        for child in self._children:
            child.take(self._waiting.pop(0))
        while busy := [child for child in self._children if child.task is not None]:
            ready = wait([child.connection for child in busy])
            for child in busy:
                if child.connection in ready:
                    message = child.hear()
                    if isinstance(message, Finding) and self._waiting:
                        child.take(self._waiting.pop(0))
                    yield message

    def stop(self) -> list[Finding]:
        """End all processes; what they had found by then."""
        with ctrl_c_held_back():
            self._stop.set()
            deadline = time.monotonic() + SECONDS_TO_STOP
            findings = [child.last_words(deadline) for child in self._children]
            for child in self._children:
                child.end(deadline)
        return [finding for finding in findings if finding is not None]


class _Child:
    """One process and the line to it."""

    def __init__(self, context: SpawnContext, stop: Event):
        self.connection, theirs = context.Pipe()
        self.task: Task | Check | None = None
        self._process = context.Process(target=_serve, args=(theirs, stop, os.getpid()), daemon=True)
        self._process.start()
        theirs.close()

    def take(self, task: Task | Check) -> None:
        """Begin with a task."""
        self.task = task
        with suppress(BrokenPipeError):  # `hear` will say what happened
            self.connection.send(task)

    def hear(self) -> Finding | Sign:
        """The next message about the task; a Finding is the last."""
        assert self.task is not None
        try:
            message: Finding | Sign | Exception = self.connection.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            how = exit_reason(self._process.exitcode)
            raise RouteError(f"the process that worked on {self.task.level} {how}: start again") from None
        if isinstance(message, Exception):
            raise message
        if isinstance(message, Finding):
            self.task = None
        return message

    def last_words(self, deadline: float) -> Finding | None:
        """What it found, if it was about to say so."""
        with suppress(Exception):  # whatever went wrong: nothing was found
            while self.task is not None and self.connection.poll(max(deadline - time.monotonic(), 0)):
                message = self.hear()
                if isinstance(message, Finding):
                    return message
        return None

    def end(self, deadline: float) -> None:
        """Wait for it until then, and no longer."""
        self.connection.close()
        self._process.join(max(deadline - time.monotonic(), 0))
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()


def _serve(connection: Connection, stop: Event, parent_pid: int) -> None:
    """The life of a child: one task after the other, until the line is closed."""
    become_child(parent_pid)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError, Stopped):
        while True:
            task = connection.recv()
            try:
                connection.send(carry_out(task, _Signs(task.level, connection, stop)))
            except (ValueError, OSError, ImportError) as problem:
                connection.send(problem)
            except Stopped:
                raise
            except Exception:
                connection.send(RuntimeError(traceback.format_exc()))


class _Signs:
    """A `Tell` that tells the other end of a line, now and then."""

    def __init__(self, level: str, connection: Connection, stop: Event):
        self._level = level
        self._connection = connection
        self._stop = stop
        self._next = 0.0

    def __call__(self, doing: str, frames: int) -> None:
        if self._stop.is_set():
            raise Stopped
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + SECONDS_BETWEEN_SIGNS
            self._connection.send(Sign(self._level, doing, frames))
