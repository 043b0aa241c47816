"""Exploring a level with an archive and no network at all, on many lanes at once.

Every lane returns to a promising cell, plays `ROLLOUT` steps of sticky random actions (mostly to the right, with pipes
and swimming), and goes back to another. One archive serves all lanes; lanes are booked in their order after every step,
so a seed decides everything, whatever the number of threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mario_rl.emulators.base import DOWN, LEFT, RIGHT, A, B
from mario_rl.environment.smb import memory
from mario_rl.environment.smb.lanes import WAIT_FRAMES, SmbLanes
from mario_rl.environment.smb.memory import GameMemory, Mask
from mario_rl.environment.smb.settings import SmbSettings
from mario_rl.snapshots.archive import DRAWS, Archive, Cell, CellKeys, Way

__all__ = ["Exploration", "Watching", "explore"]

LANES = 16
ROLLOUT = 40  # steps
FRAME_SKIP = WAIT_FRAMES  # so that every byte of a way is a pad for as many frames
# Steps an action is held at most: one in four, the others, in water, and down (a pipe takes Mario at once or never).
LONG_HOLD, SHORT_HOLD, SWIM_HOLD, DOWN_HOLD = 14, 6, 3, 2
LONG_HOLDS = 0.25

# How often each pad is taken, in three moods. Searching finds pipes, ladders of blocks and the ways back.
RUNNING = {
    RIGHT | B: 28, RIGHT | A | B: 34, RIGHT: 6, RIGHT | A: 8, A: 5, LEFT: 6, LEFT | A: 5, DOWN: 4, 0: 3,
    LEFT | A | B: 1,
}  # fmt: skip
SEARCHING = {
    RIGHT | B: 18, RIGHT | A | B: 22, RIGHT: 10, RIGHT | A: 10, A: 6, LEFT: 10, LEFT | A: 8, DOWN: 10, 0: 3,
    LEFT | A | B: 3,
}  # fmt: skip
HURRYING = {
    RIGHT | B: 42, RIGHT | A | B: 48, RIGHT: 2, RIGHT | A: 2, A: 2, LEFT: 1, LEFT | A: 1, DOWN: 2, 0: 1,
}  # fmt: skip
MOODS = (RUNNING, SEARCHING, HURRYING)
# The share of rollouts that run; the others search until the end is found, and hurry when it is about shorter ways.
RUNNING_TO_FIND, RUNNING_TO_SHORTEN = 0.5, 0.4
PIPE_TRIED = 0.3  # chance a step that a searching Mario who stands on a pipe one can enter ducks into it
PIPE_MOUTH = (0x10, 0x11)  # metatiles: the left and the right half of such a pipe's top


@dataclass
class Exploration:
    """What was found out about a level."""

    level: str
    seed: int
    archive: Archive
    frames: int = 0
    cpu_seconds: float = 0.0
    found_after: int | None = None
    """Frames explored by the first arrival."""
    first_steps: int | None = None
    """Steps of the first way that led to the end; `way` is the shortest since."""
    way: Way | None = None
    deaths: int = 0
    loops: int = 0


Watching = Callable[[Exploration], bool]
"""Called after every step of all lanes; whether to go on."""


def explore(
    level: str,
    seed: int = 0,
    *,
    frames: int,
    shorten: float = 0.0,
    actions: str = "complex",
    lanes: int = LANES,
    threads: int = 1,
    rom: str | None = None,
    watching: Watching = lambda exploration: True,
) -> Exploration:
    """Explore until the level's end is found, at most `frames`; then `shorten` times as long for shorter ways."""
    began = time.process_time()
    explorer = Explorer(level, seed, actions, lanes, threads, rom)
    found = explorer.found
    try:
        while found.way is None and found.frames < frames and watching(found):
            explorer.step()
        if found.way is not None:
            limit = found.frames * (1 + shorten)
            while found.frames < limit and watching(found):
                explorer.step()
        return found
    finally:
        found.cpu_seconds = time.process_time() - began
        explorer.close()


class Explorer:
    """The lanes of an exploration."""

    def __init__(self, level: str, seed: int, actions: str, lanes: int, threads: int, rom: str | None):
        settings = SmbSettings(
            level=level,
            observation="ram",
            actions=actions,
            frame_skip=FRAME_SKIP,
            noop_max=0,
            stuck_steps=None,
            rom=rom,
        )
        self.level = level
        self.lanes = SmbLanes(lanes, settings, threads)
        self.found = Exploration(level, seed, Archive())
        self._random = np.random.default_rng(np.random.SeedSequence([seed, *map(int, level.split("-"))]))
        self._keys = CellKeys(self.lanes.game)
        self._swimming = self.lanes.game.row(memory.SWIMMING)
        pads = self.lanes.pad_table
        self._chances = np.stack([_cumulative(mood, pads) for mood in MOODS])  # float64[moods, actions - 1]
        self._ducks = pads == DOWN

        # what each lane is doing
        self._mood = np.zeros(lanes, np.int64)
        self._action = np.zeros(lanes, np.int64)
        self._hold = np.zeros(lanes, np.int64)  # steps for which the action stays
        self._key = np.zeros(lanes, np.int64)
        self._area = np.zeros(lanes, np.int32)
        self._looped = np.zeros(lanes, np.bool_)
        self._from = [Way(None, b"")] * lanes  # the way to the cell its rollout began in ...
        self._played = [bytearray() for _ in range(lanes)]  # ... and the pads since then, one for every four frames
        self._frames_before = np.zeros(lanes, np.uint64)

        everywhere = np.ones(lanes, np.bool_)
        self.lanes.reset(everywhere)
        self._area[:] = self.lanes.game.area()
        self._key[:] = self._keys(self._looped)
        self._keep(0, self._from[0])
        self._return_to_cells(everywhere)

    def step(self) -> None:
        """One step of every lane."""
        lanes, found = self.lanes, self.found
        self._draw_actions()
        loops_before = lanes.episodes.loops.copy()
        _, outcome = lanes.step(self._action)
        self._book_loops(lanes.episodes.loops > loops_before)
        self._book_pads()

        ended = outcome.terminated | outcome.truncated
        keys = self._keys(self._looped)
        elsewhere = (keys != self._key) & ~ended
        self._key[elsewhere] = keys[elsewhere]
        for lane in np.flatnonzero(elsewhere).tolist():
            steps = self._from[lane].steps + len(self._played[lane])
            late = found.way is not None and steps >= found.way.steps
            if not late and found.archive.wants(int(keys[lane]), steps):
                self._keep(lane, Way(self._from[lane], bytes(self._played[lane])))
        if outcome.any_ended:
            for lane in np.flatnonzero(outcome.flag).tolist():
                self._arrive(Way(self._from[lane], bytes(self._played[lane])))
            found.deaths += int(outcome.death.sum())
        over = ended | np.array([len(pads) >= ROLLOUT for pads in self._played])
        if over.any():
            self._return_to_cells(over)

    def close(self) -> None:
        """Free the consoles."""
        self.lanes.close()

    def _draw_actions(self) -> None:
        """Go on with the action that is held, or take another. All lanes draw every time: each has its own luck."""
        which, how_long, hold, pipe = self._random.random((4, self.lanes.lanes))
        self._hold -= 1
        due = self._hold < 0
        chosen = (which[:, None] >= self._chances[self._mood]).sum(axis=1)
        if self._ducks.any():
            tried = (pipe < PIPE_TRIED) & (self._mood == MOODS.index(SEARCHING)) & self._keys.standing()
            tried &= on_pipe_mouth(self.lanes.game)
            chosen[tried] = self._ducks.argmax()
            due |= tried
        longest = np.where(how_long < LONG_HOLDS, LONG_HOLD, SHORT_HOLD)
        longest = np.where(self._swimming != 0, SWIM_HOLD, longest)
        longest = np.where(self._ducks[chosen], DOWN_HOLD, longest)
        self._action = np.where(due, chosen, self._action)
        self._hold = np.where(due, (hold * longest).astype(np.int64), self._hold)

    def _book_loops(self, looped: Mask) -> None:
        """A loop of a maze castle makes the same place another one, until the area is left."""
        area = self.lanes.game.area()
        self._looped = (self._looped | looped) & (area == self._area)
        self._area = area
        self.found.loops += int(looped.sum())

    def _book_pads(self) -> None:
        """Note what was pressed, and for how long nothing was while Mario could not be moved."""
        now = self.lanes.console.frames
        played = (now - self._frames_before).astype(np.int64)
        self._frames_before = now
        self.found.frames += int(played.sum())
        pads = self.lanes.pad_table[self._action].tolist()
        waits = (played // FRAME_SKIP - 1).tolist()
        for log, pad, wait in zip(self._played, pads, waits, strict=True):
            log.append(pad)
            if wait:
                log.extend(bytes(wait))

    def _keep(self, lane: int, way: Way) -> None:
        game = self.lanes.game
        area, x, y = (int(values[lane]) for values in (game.area(), game.x, game.y()))
        looped, in_the_air = bool(self._looped[lane]), bool(self._keys.in_the_air()[lane])
        state = self.lanes.console.save(lane)
        self.found.archive.put(Cell(int(self._key[lane]), area, x, y, state, way, looped, in_the_air))

    def _arrive(self, way: Way) -> None:
        found = self.found
        if found.way is None:
            found.found_after, found.first_steps = found.frames, way.steps
        if found.way is None or way.steps < found.way.steps:
            found.way = way

    def _return_to_cells(self, lanes: Mask) -> None:
        """Let these lanes go back to promising cells."""
        archive = self.found.archive
        if self.found.way is None:
            choose, running, otherwise = archive.choose, RUNNING_TO_FIND, SEARCHING
        else:
            choose, running, otherwise = archive.choose_shortened, RUNNING_TO_SHORTEN, HURRYING
        numbers = np.flatnonzero(lanes).tolist()
        draws = self._random.random((len(numbers), DRAWS + 1))
        cells = [choose(row[:DRAWS]) for row in draws]
        self.lanes.console.load_lanes(lanes, [cell.state for cell in cells])
        self.lanes.begin(lanes, [self.level] * len(cells))
        self._frames_before = self.lanes.console.frames
        for lane, cell, draw in zip(numbers, cells, draws[:, DRAWS], strict=True):
            mood = RUNNING if draw < running else otherwise
            self._mood[lane] = MOODS.index(mood)
            self._key[lane] = cell.key
            self._looped[lane] = cell.looped
            self._area[lane] = cell.area
            self._from[lane] = cell.way
            self._played[lane] = bytearray()
            self._hold[lane] = 0


def on_pipe_mouth(game: GameMemory) -> Mask:
    """Whether below the middle of Mario's feet is the top of a pipe that can be entered (others look the same)."""
    x = game.x.astype(np.int64) + 8
    row = np.clip(game.y().astype(np.int64) // 16, 0, 12)  # feet are 32 pixels below y, and so are the metatiles' rows
    address = memory.METATILES.start + (x >> 8 & 1) * 0xD0 + row * 16 + (x >> 4 & 15)
    return np.isin(game.ram[np.arange(len(x)), address], PIPE_MOUTH)


def _cumulative(mood: dict[int, int], pads: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """The actions' cumulative chances, without the last (which is 1): an action is how many of them a draw exceeds."""
    weights = np.array([mood.get(int(pad), 0) for pad in pads], np.float64)
    return (weights.cumsum() / weights.sum())[:-1]
