"""The 32 levels: their names, how the game is talked into each of them, and their cached start states.

A start state is the console in the first frame in which the pad moves Mario. It is made once per ROM and level and
kept in memory and in the user's cache directory (`MARIO_RL_CACHE_DIR` overrides it).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import platformdirs

from mario_rl._native import StateError
from mario_rl.atomic_file import write_atomically
from mario_rl.emulators.base import START
from mario_rl.emulators.embedded import EmbeddedBatch
from mario_rl.environment.smb import memory
from mario_rl.environment.smb.memory import GameMemory

LEVELS = tuple(f"{world}-{stage}" for world in range(1, 9) for stage in range(1, 5))
RANDOM = "random"

# In these worlds the second stage is entered by a pipe, and that short intro is an area of its own.
WORLDS_WITH_PIPE_INTRO = (1, 2, 4, 7)

START_X = 40
TITLE_SCREEN_FRAMES = 40  # from power-on until the title screen takes the pad
LONGEST_BOOT_FRAMES = 1500  # a level is playable after about 200
BOOT_VERSION = 1  # raise when `boot` changes: it is part of the cache key


def parse_levels(level: str | Sequence[str]) -> tuple[str, ...]:
    """The levels to choose from at each reset: one name, "random" for all 32, or a list of names."""
    if isinstance(level, str):
        names: tuple[str, ...] = LEVELS if level == RANDOM else (level,)
    else:
        names = tuple(level)
    if not names:
        raise ValueError('level is an empty list; give at least one level such as "1-1", or "random"')
    for name in names:
        if name not in LEVELS:
            raise ValueError(f'unknown level {name!r}; use "1-1" to "8-4", "random", or a list of levels')
    return names


def level_pokes(level: str) -> dict[int, int]:
    """What to write into RAM on the title screen, before Start is pressed, to play this level."""
    world, stage = (int(number) for number in level.split("-"))
    area = stage - 1 + (world in WORLDS_WITH_PIPE_INTRO and stage >= 2)
    return {memory.WORLD: world - 1, memory.STAGE: stage - 1, memory.AREA_OF_WORLD: area}


def boot(console: EmbeddedBatch, lane: int, level: str) -> None:
    """Power the lane on and play it to the first frame of `level` in which Mario can be moved."""
    ram = console.ram[lane]
    game = GameMemory(console.ram)
    mask = np.zeros(console.lanes, np.bool_)
    mask[lane] = True
    pads = np.zeros((console.lanes, 2), np.uint8)

    console.power(lane)
    console.step(pads, TITLE_SCREEN_FRAMES, mask)
    # The game chooses the map when Start is accepted: poking later gives the map of 1-1 under another name.
    for address, value in level_pokes(level).items():
        ram[address] = value
    pads[lane, 0] = START
    console.step(pads, 2, mask)
    pads[lane, 0] = 0
    for _ in range(LONGEST_BOOT_FRAMES):
        console.step(pads, 1, mask)
        game.look()
        if game.controllable()[lane]:
            return
    raise ValueError(f"this ROM does not start level {level}: is it Super Mario Bros.?")


def cache_directory() -> Path:
    """Where start states are kept: `MARIO_RL_CACHE_DIR`, or the user cache directory of the platform."""
    override = os.environ.get("MARIO_RL_CACHE_DIR")
    return Path(override).expanduser() if override else platformdirs.user_cache_path("mario-rl", appauthor=False)


class StartStates:
    """The start state of each level of one ROM."""

    # Shared by the whole process: (ROM, level) -> state, and (ROM, level, frames waited) -> state.
    _in_memory: dict[tuple[str, str], bytes] = {}  # noqa: RUF012
    _waited: dict[tuple[str, str, int], bytes] = {}  # noqa: RUF012

    def __init__(self, rom: bytes):
        self._rom = rom
        self._rom_id = hashlib.sha256(rom).hexdigest()
        self._console: EmbeddedBatch | None = None

    def __getitem__(self, level: str) -> bytes:
        key = (self._rom_id, level)
        if key not in self._in_memory:
            self._in_memory[key] = self._from_disk(level) or self._made_new(level)
        return self._in_memory[key]

    def after_waiting(self, level: str, frames: int) -> bytes:
        """The start state of a level after that many frames in which nothing is pressed (kept in memory only)."""
        key = (self._rom_id, level, frames)
        if key not in self._waited:
            console = self._scratch_console()
            console.load(0, self[level])
            console.step(np.zeros((1, 2), np.uint8), frames)
            self._waited[key] = console.save(0)
        return self._waited[key]

    def file(self, level: str) -> Path:
        """The cache file of a level. The state itself carries the core's version, ROM hash and checksum."""
        return cache_directory() / "start_states" / f"{self._rom_id[:16]}-v{BOOT_VERSION}" / f"{level}.state"

    def _from_disk(self, level: str) -> bytes | None:
        """The cached state, or None if there is none, or it is damaged, of another core, or of another level."""
        console = self._scratch_console()
        try:
            state = self.file(level).read_bytes()
            console.load(0, state)
        except (OSError, StateError):
            return None
        game = GameMemory(console.ram)
        game.look()
        found = f"{game.world[0] + 1}-{game.stage[0] + 1}"
        return state if found == level and game.controllable()[0] and game.x[0] == START_X else None

    def _made_new(self, level: str) -> bytes:
        console = self._scratch_console()
        boot(console, 0, level)
        state = console.save(0)
        with contextlib.suppress(OSError):  # a cache that cannot be written only costs time
            self.file(level).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.file(level), state)
        return state

    def _scratch_console(self) -> EmbeddedBatch:
        if self._console is None:
            self._console = EmbeddedBatch(self._rom, lanes=1)
        return self._console
