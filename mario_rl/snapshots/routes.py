"""Routes: the inputs that lead from power-on to a level's end, as small files that any exact emulator can replay.

The game is talked into a level by three bytes written while the title screen waits, so a route has a few of those
(`pokes`) besides its inputs. Nothing of the cartridge is in the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from mario_rl.atomic_file import write_atomically
from mario_rl.emulators.base import RAM_SIZE, START
from mario_rl.emulators.embedded import EmbeddedBatch, EmbeddedEmulator
from mario_rl.environment.smb.levels import LEVELS, TITLE_SCREEN_FRAMES, boot, level_pokes
from mario_rl.environment.smb.memory import GameMemory

__all__ = ["Arrival", "Replayer", "Route", "RouteError", "frame_by_frame", "packaged_route", "replay", "route_of"]

FORMAT = "mario-rl route"
VERSION = 1
LONGEST_ROUTE = 10**6  # frames; the game's clock ends a level long before
STEP_FRAMES = 4  # what one byte of an archive's way stands for


class RouteError(ValueError):
    """A file that is no route, or a route that cannot be played."""


class Replayer(Protocol):
    """What a console must do to replay a route; it has just been switched on."""

    def play(self, pad: int, frames: int) -> None:
        """Hold the pad for so many frames."""

    def poke(self, address: int, value: int) -> None:
        """Write a byte of RAM."""

    def look(self) -> np.ndarray:
        """The RAM, uint8[2048]."""


@dataclass(frozen=True)
class Route:
    """A way through a level."""

    level: str
    rom: str
    """SHA-256 of the ROM file it was found with."""
    start_frame: int
    """Frames from power-on to the first in which the pad moves Mario."""
    pokes: tuple[tuple[int, int, int], ...]
    """(frame, address, value): what is written into RAM before that frame is played."""
    inputs: tuple[tuple[int, int], ...]
    """(pad, frames) from power-on to the end."""
    found: dict[str, Any] = field(default_factory=dict)
    """How it was found: seed, frames explored, ..."""

    @property
    def frames(self) -> int:
        """From power-on to the end."""
        return sum(frames for _, frames in self.inputs)

    @property
    def steps(self) -> int:
        """Steps of four frames from the level's start to the end."""
        return (self.frames - self.start_frame) // STEP_FRAMES

    def pads(self) -> Iterator[int]:
        """The pad of every frame since power-on."""
        for pad, frames in self.inputs:
            yield from (pad for _ in range(frames))

    def level_pads(self) -> bytes:
        """The pad of every step since the level's start, as an environment with frame_skip 4 takes them.

        The first frame of an episode is played without a pad (see `SmbLanes.reset`) and not part of it.
        """
        every = bytes(self.pads())[self.start_frame + 1 :]
        return every[::STEP_FRAMES]

    def save(self, file: Path) -> None:
        """Write the file."""
        content = {"format": FORMAT, "version": VERSION} | asdict(self)
        write_atomically(file, (json.dumps(content) + "\n").encode())

    @classmethod
    def load(cls, file: Path) -> Route:
        """Read a file; a RouteError says what is wrong with it."""
        try:
            content = json.loads(file.read_bytes())
            if content["format"] != FORMAT or content["version"] != VERSION:
                raise RouteError(f"{file} is no route of this version")
            route = cls(
                level=content["level"],
                rom=content["rom"],
                start_frame=_number(content["start_frame"], 1, LONGEST_ROUTE),
                pokes=tuple(
                    (_number(frame, 0, LONGEST_ROUTE), _number(address, 0, RAM_SIZE), _number(value, 0, 0x100))
                    for frame, address, value in content["pokes"]
                ),
                inputs=tuple(
                    (_number(pad, 0, 0x100), _number(frames, 1, LONGEST_ROUTE)) for pad, frames in content["inputs"]
                ),
                found=dict(content["found"]),
            )
            if route.level not in LEVELS or not route.start_frame < route.frames < LONGEST_ROUTE:
                raise ValueError
        except OSError as problem:
            raise RouteError(f"cannot read {file}: {problem.strerror}") from problem
        except RouteError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
            raise RouteError(f"{file} is no route, or damaged: mario-rl explore writes a new one") from problem
        return route


def _number(value: object, low: int, limit: int) -> int:
    """The whole number that a file should have here."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value < limit:
        raise ValueError(f"{value!r} is not from {low} to {limit - 1}")
    return value


def packaged_route(level: str) -> Route:
    """The route through a level that comes with the package, found by `mario-rl explore`."""
    if level not in LEVELS:
        raise RouteError(f'unknown level {level!r}; use "1-1" to "8-4"')
    with resources.as_file(resources.files("mario_rl") / "routes" / f"{level}.json") as file:
        return Route.load(file)


def route_of(level: str, pads: Sequence[int], rom: bytes, found: dict[str, Any]) -> Route:
    """The route that holds each of `pads` for four frames from the level's start on."""
    console = EmbeddedBatch(rom, lanes=1)
    boot(console, 0, level)
    start = int(console.frames[0])
    press = TITLE_SCREEN_FRAMES
    frames = [0] * press + [START] * 2 + [0] * (start - press - 2) + [0]
    for pad in pads:
        frames += [pad] * STEP_FRAMES
    inputs = tuple((pad, len(list(same))) for pad, same in groupby(frames))
    pokes = tuple((press, address, value) for address, value in level_pokes(level).items())
    return Route(level, hashlib.sha256(rom).hexdigest(), start, pokes, inputs, found)


@dataclass(frozen=True)
class Arrival:
    """How the replay of a route ended."""

    arrived: bool
    frames: int
    """From power-on."""
    clock: int
    """Time left."""
    x: int


def replay(route: Route, console: Replayer, between: Callable[[], None] = lambda: None) -> Arrival:
    """Play the route from power-on and see whether it ends at the flag or the axe of its level.

    `between` is called every now and then.
    """
    pokes = list(route.pokes)
    played = 0
    for pad, frames in route.inputs:
        while frames:
            while pokes and pokes[0][0] == played:
                _, address, value = pokes.pop(0)
                console.poke(address, value)
            run = min(frames, pokes[0][0] - played) if pokes else frames
            console.play(pad, run)
            between()
            played, frames = played + run, frames - run
    game = GameMemory(np.ascontiguousarray(console.look())[None])
    game.look()
    world, stage = (int(number) - 1 for number in route.level.split("-"))
    here = int(game.world[0]) == world and int(game.stage[0]) == stage
    return Arrival(bool(game.finished()[0]) and here, played, int(game.clock[0]), int(game.x[0]))


def frame_by_frame(route: Route, console: EmbeddedEmulator, render: bool = False) -> Iterator[int]:
    """Play a route from power-on; yields the number of every frame when it has been played."""
    pokes: dict[int, list[tuple[int, int]]] = {}
    for frame, address, value in route.pokes:
        pokes.setdefault(frame, []).append((address, value))
    console.power()
    for number, pad in enumerate(route.pads()):
        for address, value in pokes.get(number, ()):
            console.poke(address, value)
        console.step((pad, 0), 1, render=render)
        yield number
