"""What a curriculum needs to know before training begins: the way through the levels.

archive and demo explore the run's levels first, with the run's own actions, and keep what they found in the run's
directory (routes/, archive/). Routes that exist already (`--routes`) are taken over instead.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mario_rl._native import Rom
from mario_rl.config import ConfigError, TrainingConfig
from mario_rl.emulators.rom import find_rom
from mario_rl.environment.smb.settings import SmbSettings
from mario_rl.snapshots.archive import Archive
from mario_rl.snapshots.demonstration import Demonstration, demonstrate
from mario_rl.snapshots.explore import Exploration, explore
from mario_rl.snapshots.routes import STEP_FRAMES, Route, route_of
from mario_rl.snapshots.store import Snapshot, SnapshotStore

ARCHIVE_PER_BUCKET = 3
ARCHIVE_CAPACITY = 2048  # snapshots a level
STEPS_BETWEEN = 4  # of a route, from one snapshot of it to the next
WATCH_EVERY = 4_000  # frames explored from one look at what goes on to the next: a tenth of a second

Watching = Callable[[str], bool]
"""Told what goes on, several times a second; whether to go on."""


class PreparationBrokenOff(Exception):
    """The user wants no more of it; what was found so far is kept."""


class KnownWay:
    """The files of a run that know the way through its levels."""

    def __init__(self, run: Path, config: TrainingConfig):
        self.config = config
        self.settings = SmbSettings(**config.environment())
        self._routes = run / "routes"
        self._archive = run / "archive"

    def route(self, level: str) -> Route:
        """The route through a level; a RouteError if there is none."""
        return Route.load(self._routes / f"{level}.json")

    def demonstrations(self) -> list[Demonstration]:
        """The routes, played with the run's settings."""
        return [demonstrate(self.route(level), self.settings) for level in self.settings.levels]

    def archive(self) -> SnapshotStore:
        """What was reached in all levels."""
        store = SnapshotStore(ARCHIVE_PER_BUCKET, ARCHIVE_CAPACITY * len(self.settings.levels))
        rom = Rom(find_rom("smb", self.config.rom).read_bytes())
        for level in self.settings.levels:
            store.merge(self._archive / f"{level}.json", rom)
        return store

    def explored_steps(self) -> int:
        """Environment steps that finding it all has taken: a run counts them as its own."""
        return sum(int(self.route(level).found.get("frames", 0)) for level in self.settings.levels) // STEP_FRAMES

    def prepare(self, watching: Watching) -> None:
        """Find out what is not known yet; a ConfigError if that cannot be."""
        if self.settings.frame_skip != STEP_FRAMES:
            name, given = self.config.curriculum, self.settings.frame_skip
            raise ConfigError(f"--curriculum {name} needs --frame-skip {STEP_FRAMES}, not {given}")
        for directory in (self._routes, self._archive):
            directory.mkdir(exist_ok=True)
        for level in self.settings.levels:
            if not (self._routes / f"{level}.json").exists():
                self._prepare_level(level, watching)

    def _prepare_level(self, level: str, watching: Watching) -> None:
        store = SnapshotStore(ARCHIVE_PER_BUCKET, ARCHIVE_CAPACITY)
        if self.config.routes is not None:
            route = Route.load(Path(self.config.routes) / f"{level}.json")
        else:
            explored = self._explore(level, watching)
            route = self._route_of(explored)
            add_archive(store, level, explored.archive)
        add_demonstration(store, demonstrate(route, self.settings))
        store.save(self._archive / f"{level}.json")
        route.save(self._routes / f"{level}.json")  # last: where there is a route, the level is prepared

    def _explore(self, level: str, watching: Watching) -> Exploration:
        looked = 0
        wanted = True

        def look(explored: Exploration) -> bool:
            nonlocal looked, wanted
            if explored.frames - looked >= WATCH_EVERY:
                looked = explored.frames
                cells = len(explored.archive)
                wanted = watching(f"looking for a way through {level}: {explored.frames:,} frames, {cells:,} places")
            return wanted

        config = self.config
        limit = config.explore_frames
        explored = explore(level, config.seed, frames=limit, actions=config.actions, rom=config.rom, watching=look)
        if not wanted:
            raise PreparationBrokenOff
        if explored.way is None:
            raise ConfigError(
                f"no way through {level} was found in {explored.frames:,} frames with --actions {config.actions}: "
                "try --actions complex, another --seed or more --explore-frames"
            )
        return explored

    def _route_of(self, explored: Exploration) -> Route:
        assert explored.way is not None
        found = {"seed": self.config.seed, "frames": explored.frames, "actions": self.config.actions}
        rom = find_rom("smb", self.config.rom).read_bytes()
        return route_of(explored.level, explored.way.all_pads(), rom, found)


def add_archive(store: SnapshotStore, level: str, archive: Archive) -> None:
    """Keep the cells that led on: from the others there may be no way out."""
    for cell in archive.productive():
        store.add(Snapshot(level, cell.area, cell.x, cell.way.steps, cell.state))


def add_demonstration(store: SnapshotStore, demonstration: Demonstration) -> None:
    """Keep the states along a route."""
    for step in range(0, len(demonstration) - STEPS_BETWEEN, STEPS_BETWEEN):
        area, x, _ = demonstration.places[step]
        store.add(Snapshot(demonstration.level, area, x, step, demonstration.states[step]))
