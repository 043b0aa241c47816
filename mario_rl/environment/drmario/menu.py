"""From power-on into a round of one's choice, on any console: the menus, walked through by looking at RAM.

Nothing here counts frames: every button is pressed because the RAM says where the cartridge is ($46), and again until
it says that it got further. The level, the speed and the random generator are written into RAM at the moments at which
the cartridge takes them over, so the round is the one the rules engine plays for the same seed, from its first frame.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from mario_rl.emulators.base import SELECT, START, Screen
from mario_rl.environment.drmario import memory
from mario_rl.environment.drmario.memory import GameMemory, Ints, Mask

Bytes = npt.NDArray[np.uint8]

# From power-on to the options it takes some 15 frames, from there to play 130 and one per virus (and failed attempt).
LONGEST_WAY = 1200
VIRUS_WAIT = 120  # a little less than the 128 they take


class Consoles(Protocol):
    """What a menu needs of a batch of consoles."""

    lanes: int
    ram: Bytes

    def step(self, pads: Bytes, frames: int | Ints, mask: Mask | None = None, screen: Screen = "off") -> None:
        """Run the masked lanes."""

    def poke(self, lane: int, address: int, value: int) -> None:
        """Write a byte of RAM."""

    def save(self, lane: int) -> bytes:
        """A lane's state."""

    def load_lanes(self, mask: Mask, states: list[bytes]) -> None:
        """Restore one state into each masked lane."""

    def power(self, lane: int) -> None:
        """Switch a lane off and on."""


class Menu:
    """Begins rounds on the lanes of some consoles. The way to the options is walked once and then remembered."""

    _options_button = START  # leads from the options into the round

    def __init__(self, consoles: Consoles):
        self._consoles = consoles
        self._game = GameMemory(consoles.ram)
        self._options: dict[int, bytes] = {}  # the state in which the options appear, by number of players

    def begin(self, lanes: Mask, seeds: Ints, levels: Ints, speeds: Ints, players: int) -> None:
        """Bring the masked lanes to the start of play; a ValueError if the cartridge never gets there."""
        consoles, game = self._consoles, self._game
        if players not in self._options:
            self._options[players] = self._reach_options(int(np.flatnonzero(lanes)[0]), players)
        consoles.load_lanes(lanes, [self._options[players]] * int(lanes.sum()))

        pads = np.zeros((consoles.lanes, 2), np.uint8)
        waiting = lanes.copy()
        for _ in range(LONGEST_WAY):
            for lane in np.flatnonzero(waiting).tolist():
                self._prepare(lane, int(seeds[lane]), levels[lane], speeds[lane])
            in_options = waiting & (game.mode == memory.MODE_OPTIONS)
            # a button counts when it is newly pressed, so it is released in between
            pads[:, 0] = np.where(in_options & (pads[:, 0] == 0), self._options_button, 0)
            consoles.step(pads, self._frames(), waiting)
            waiting &= game.mode != memory.MODE_PLAY
            if not waiting.any():
                break
        self._check(lanes & ~waiting, levels, players)
        if waiting.any():
            raise ValueError(_stuck(game, int(np.flatnonzero(waiting)[0])))

    def _frames(self) -> Ints:
        """One at a time, but for the viruses: one appears in a frame, and a wait of VIRUS_WAIT frames follows."""
        left = self._game.blocks[:, 0, memory.VIRUSES_TO_PLACE]
        appearing = (self._game.mode == memory.MODE_VIRUSES_APPEAR) & (left > 0)
        return np.where(appearing, left + np.int32(VIRUS_WAIT), 1).astype(np.int32)

    def _prepare(self, lane: int, seed: int, levels: Ints, speeds: Ints) -> None:
        """Write what the round is to be, when the cartridge is about to read it."""
        mode = int(self._game.mode[lane])
        blocks = (memory.BLOCK, memory.BLOCK + memory.BLOCK_SIZE)
        if mode == memory.MODE_OPTIONS:
            for block, level, speed in zip(blocks, levels.tolist(), speeds.tolist(), strict=True):
                self._consoles.poke(lane, block + memory.LEVEL, level)
                self._consoles.poke(lane, block + memory.SPEED, speed)
        elif mode in (memory.MODE_LOAD, memory.MODE_INIT_ROUND):
            # Nothing steps the generator between the options and the round's own draws.
            self._consoles.poke(lane, memory.RANDOM_HIGH, seed >> 8)
            self._consoles.poke(lane, memory.RANDOM_LOW, seed & 0xFF)
            # A round inherits these from the menus and from the round before.
            for block in (*blocks, memory.WORKING_COPY):
                self._consoles.poke(lane, block + memory.SHIFT, 0)
                for offset in range(memory.ATTACK_COLOURS.start, memory.ATTACK_COLOURS.stop):
                    self._consoles.poke(lane, block + offset, 0)
            if mode == memory.MODE_INIT_ROUND:
                self._consoles.poke(lane, memory.FRAME_COUNT, 0)

    def _reach_options(self, lane: int, players: int) -> bytes:
        """Power on and choose the number of players; the state in which the options appear."""
        consoles, game = self._consoles, self._game
        only = np.zeros(consoles.lanes, np.bool_)
        only[lane] = True
        pads = np.zeros((consoles.lanes, 2), np.uint8)
        consoles.power(lane)
        consoles.step(pads, 1, only)
        for _ in range(LONGEST_WAY):
            if game.mode[lane] == memory.MODE_OPTIONS:
                return consoles.save(lane)
            button = 0
            if game.mode[lane] == memory.MODE_TITLE and pads[lane, 0] == 0:
                button = self._title_button(lane, players)
            pads[lane, 0] = button
            consoles.step(pads, 1, only)
        raise ValueError(_stuck(game, lane))

    def _title_button(self, lane: int, players: int) -> int:
        """What to press next on the title, where nothing is held."""
        return START if self._game.players[lane] == players else SELECT

    def _check(self, lanes: Mask, levels: Ints, players: int) -> None:
        """Bytes of another game can look like these for a moment, but hardly all of them."""
        viruses = 4 * (levels[lanes, 0] + 1)
        if (self._game.players[lanes] != players).any() or (self._game.viruses()[lanes, 0] != viruses).any():
            raise ValueError("this cartridge is neither Dr. Mario nor Antidote: check the ROM (`mario-rl rom list`)")


def _stuck(game: GameMemory, lane: int) -> str:
    return (
        f"the cartridge did not get into a round of Dr. Mario within {LONGEST_WAY} frames "
        f"(its mode, $46, is {game.mode[lane]}): check the ROM (`mario-rl rom list`)"
    )
