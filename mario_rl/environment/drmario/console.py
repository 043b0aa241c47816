"""What the games run on: the rules engine, or consoles with a cartridge.

`Games` is what the environments need of either.

A round that begins with the same seed, levels and speeds is the same round on all of them, byte for byte
(docs/drmario.md), so everything above this file neither knows nor asks what is underneath.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mario_rl.emulators.base import RAM_SIZE, SCREEN_HEIGHT, SCREEN_WIDTH, Emulator, EmulatorReset, Screen
from mario_rl.emulators.embedded import EmbeddedBatch
from mario_rl.emulators.mednafen import MednafenManager
from mario_rl.emulators.remote import RemoteEmulator
from mario_rl.emulators.rom import find_rom
from mario_rl.environment.drmario.memory import GameMemory, Ints, Mask
from mario_rl.environment.drmario.menu import Menu
from mario_rl.environment.drmario.picture import draw
from mario_rl.environment.drmario.rules import RulesBatch
from mario_rl.environment.drmario.settings import GameSettings

Bytes = npt.NDArray[np.uint8]


class Games(Protocol):
    """n games that are stepped together."""

    lanes: int
    game: GameMemory  # looks at their RAM
    lost: Mask  # their consoles were lost since they began, and are there again, but somewhere else in the game

    def begin(self, lanes: Mask, seeds: Ints, levels: Ints, speeds: Ints, players: int) -> None:
        """Bring the masked games to the start of play (mode 4) with nothing pressed.

        `seeds` int32[n]; `levels` and `speeds` int32[n, 2], by player.
        """

    def step(self, pads: Bytes, frames: int | Ints = 1, lanes: Mask | None = None) -> None:
        """Hold pads[n, 2] for some frames (for all, or by game) in every game, or in the masked ones."""

    def frame(self, lane: int) -> Bytes:
        """A picture of a game, uint8[240, 256, 3]."""

    def save(self, lane: int) -> bytes:
        """The whole state of a game."""

    def load_all(self, states: list[bytes]) -> None:
        """Put a saved state into every game; a ValueError, and no change, if one of them is none."""

    def identity(self) -> str:
        """What the states are of: they load only where this is the same."""

    def close(self) -> None:
        """Release everything. Idempotent."""


class RulesGames:
    """Games on the rules engine."""

    def __init__(self, lanes: int, threads: int = 1):
        self.lanes = lanes
        self.batch = RulesBatch(lanes, threads)
        self.game = GameMemory(self.batch.ram)
        self.lost = np.zeros(lanes, np.bool_)

    def begin(self, lanes: Mask, seeds: Ints, levels: Ints, speeds: Ints, players: int) -> None:
        """See `Games.begin`."""
        self.batch.reset(seeds, levels, speeds, players, lanes)
        self.batch.skip_intro(lanes)

    def step(self, pads: Bytes, frames: int | Ints = 1, lanes: Mask | None = None) -> None:
        """See `Games.step`."""
        self.batch.step(pads, frames, lanes)

    def frame(self, lane: int) -> Bytes:
        """Drawn from the RAM: both bottles, the next capsules, the viruses left."""
        return draw(self.batch.ram[lane])

    def save(self, lane: int) -> bytes:
        """See `Games.save`."""
        return self.batch.save(lane)

    def load_all(self, states: list[bytes]) -> None:
        """See `Games.load_all`."""
        before = [self.batch.save(lane) for lane in range(self.lanes)]
        try:
            for lane, state in enumerate(states):
                self.batch.load(lane, state)
        except ValueError:
            for lane, state in enumerate(before):
                self.batch.load(lane, state)
            raise

    def identity(self) -> str:
        """See `Games.identity`."""
        return "rules"

    def close(self) -> None:
        """Nothing to release early."""


class EmulatorGames:
    """Games on consoles, one a lane; a menu is walked through to begin one."""

    def __init__(self, console: EmbeddedBatch | ConsoleList, name: str, draw: bool, menu: type[Menu] = Menu):
        self.lanes = console.lanes
        self.console = console
        self.game = GameMemory(console.ram)
        self.lost = console.lost if isinstance(console, ConsoleList) else np.zeros(console.lanes, np.bool_)
        self._menu = menu(console)
        self._name = name
        self._screen: Screen = "draw" if draw else "off"

    def begin(self, lanes: Mask, seeds: Ints, levels: Ints, speeds: Ints, players: int) -> None:
        """See `Games.begin`."""
        self.lost[lanes] = False
        try:
            self._menu.begin(lanes, seeds, levels, speeds, players)
        except EmulatorReset:
            self.lost[lanes] = True
        except ValueError:
            if not self.lost[lanes].any():  # a console that came back somewhere else leads a menu astray
                raise

    def step(self, pads: Bytes, frames: int | Ints = 1, lanes: Mask | None = None) -> None:
        """See `Games.step`."""
        self.console.step(pads, frames, lanes, self._screen)

    def frame(self, lane: int) -> Bytes:
        """The console's own picture."""
        return self.console.frame(lane)

    def save(self, lane: int) -> bytes:
        """See `Games.save`."""
        return self.console.save(lane)

    def load_all(self, states: list[bytes]) -> None:
        """See `Games.load_all`."""
        self.console.load_lanes(np.ones(self.lanes, np.bool_), states)

    def identity(self) -> str:
        """See `Games.identity`."""
        return self._name

    def close(self) -> None:
        """Release the consoles."""
        self.console.close()


class ConsoleList:
    """Single consoles side by side, with the calls of `EmulatorBatch` that are needed here.

    A console that was lost in a step, or when it was looked at, is marked in `lost` and not spoken of otherwise.
    """

    def __init__(self, consoles: Sequence[Emulator]):
        self._consoles = list(consoles)
        self.lanes = len(self._consoles)
        self.lost = np.zeros(self.lanes, np.bool_)
        # A copy: the RAM of a console elsewhere may come as a new array each time.
        self.ram = np.zeros((self.lanes, RAM_SIZE), np.uint8)
        self._look(range(self.lanes))

    def step(self, pads: Bytes, frames: int | Ints, mask: Mask | None = None, screen: Screen = "off") -> None:
        """See `EmulatorBatch.step`."""
        counts = np.broadcast_to(frames, self.lanes)
        lanes = np.flatnonzero(counts if mask is None else counts * mask).tolist()
        for lane in lanes:
            both = (int(pads[lane, 0]), int(pads[lane, 1]))
            try:
                self._consoles[lane].step(both, int(counts[lane]), render=screen != "off")
            except EmulatorReset:
                self.lost[lane] = True
        self._look(lanes)

    def poke(self, lane: int, address: int, value: int) -> None:
        """Write a byte of RAM."""
        self._consoles[lane].ram[address] = value
        self.ram[lane, address] = value

    def frame(self, lane: int) -> Bytes:
        """The lane's last drawn frame; black if that was lost with its console."""
        try:
            return self._consoles[lane].frame()
        except EmulatorReset:
            self.lost[lane] = True
            return np.zeros((SCREEN_HEIGHT, SCREEN_WIDTH, 3), np.uint8)

    def save(self, lane: int) -> bytes:
        """The lane's state."""
        try:
            return self._consoles[lane].save()
        except EmulatorReset:
            self.lost[lane] = True
            return self._consoles[lane].save()

    def load_lanes(self, mask: Mask, states: list[bytes]) -> None:
        """Restore one state into each lane of `mask`, in order; if one is refused, all lanes are as they were."""
        lanes = np.flatnonzero(mask).tolist()
        before = [self._consoles[lane].save() for lane in lanes]
        try:
            for lane, state in zip(lanes, states, strict=True):
                self._consoles[lane].load(state)
        except ValueError:
            for lane, state in zip(lanes, before, strict=True):
                self._consoles[lane].load(state)
            raise
        self._look(lanes)

    def power(self, lane: int) -> None:
        """Switch the lane off and on again."""
        self._consoles[lane].power()
        self._look([lane])

    def close(self) -> None:
        """Release the consoles."""
        for console in self._consoles:
            console.close()

    def _look(self, lanes: Sequence[int]) -> None:
        for lane in lanes:
            self.ram[lane] = self._consoles[lane].ram


def open_games(
    settings: GameSettings, lanes: int, threads: int = 1, draw: bool = False, menu: type[Menu] = Menu
) -> Games:
    """The games an environment of these settings plays; a ValueError, RomNotFound or RemoteError in one line if not.

    The menu is how consoles get into a round.
    """
    backend = settings.backend
    if backend == "rules":
        return RulesGames(lanes, threads)
    if not isinstance(backend, str):
        consoles: list[Any] = list(backend) if isinstance(backend, Sequence) else [backend]
        if len(consoles) != lanes or not all(isinstance(console, Emulator) for console in consoles):
            raise ValueError(
                f"backend is not {lanes} console(s): each lane needs an object that keeps the Emulator contract"
            )
        return EmulatorGames(ConsoleList(consoles), type(consoles[0]).__name__, draw, menu)
    if backend == "embedded":
        batch = EmbeddedBatch(_cartridge(settings), lanes, threads)
        return EmulatorGames(batch, f"embedded {batch.rom.hash:016x}", draw, menu)
    if backend == "mednafen":
        return EmulatorGames(ConsoleList(_mednafens(_cartridge(settings), lanes)), backend, draw, menu)
    if backend.startswith(("http://", "https://")):
        if lanes != 1:
            raise ValueError(f"{backend} is one console: it plays one lane, not {lanes}")
        return EmulatorGames(ConsoleList([RemoteEmulator(backend)]), backend, draw, menu)
    raise ValueError(f"unknown backend {backend!r}; use rules, embedded, mednafen, an http:// address or an Emulator")


def _cartridge(settings: GameSettings) -> Path:
    return find_rom("drmario", settings.rom)


def _mednafens(cartridge: Path, count: int) -> list[Emulator]:
    """Consoles that come back when they are lost."""
    consoles: list[Emulator] = []
    try:
        for _ in range(count):
            manager = MednafenManager(cartridge, play=False)
            report = manager.launch()
            if not report["success"]:
                raise ValueError(report["message"])
            consoles.append(manager.get_mcp())
    except BaseException:
        for console in consoles:
            console.close()
        raise
    return consoles
