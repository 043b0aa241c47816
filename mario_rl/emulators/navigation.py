"""From power-on into play, by looking at RAM: which game a cartridge is, where it is, and what to press.

Nothing here counts frames: Start is pressed because RAM says that the game waits for it, and again until it does not.
The few bytes of RAM that takes are named here; all else about the games is in mario_rl/environment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mario_rl.emulators.base import START, Emulator
from mario_rl.emulators.rom import identify
from mario_rl.roms import antidote

Bytes = NDArray[np.uint8]

UNKNOWN_MODE = "unknown"
LONGEST_WAY = 2000  # frames; Dr. Mario takes 170, Super Mario Bros. 210


@dataclass(frozen=True)
class Game:
    """What one must know of a game to get into it."""

    name: str
    """As in mario_rl.emulators.rom.GAMES."""
    mode_address: int
    modes: Mapping[int, str]
    in_play: Callable[[Bytes], bool]
    """Whether a round or a level is being played, by somebody with a pad."""
    waits_for_start: Callable[[Bytes], bool]

    def mode(self, ram: Bytes) -> str:
        """Where the game is, in a word."""
        return self.modes.get(int(ram[self.mode_address]), UNKNOWN_MODE)

    def into_play(self, emulator: Emulator) -> None:
        """Play from wherever the console is to where it is in play; a ValueError if it never gets there."""
        pressed = False
        for _ in range(LONGEST_WAY):
            # A button counts when it is newly pressed, so it is released in between.
            pressed = not pressed and self.waits_for_start(emulator.ram)
            emulator.step((START if pressed else 0, 0))
            if self.in_play(emulator.ram):
                return
        raise ValueError(
            f"the cartridge did not get into play within {LONGEST_WAY} frames (it is in mode "
            f"{self.mode(emulator.ram)!r}): check the ROM (`mario-rl rom list`)"
        )


# --- Dr. Mario, and Antidote, which has the same RAM -----------------------------------------------------------------

_DR_MODE, _DR_DEMO = 0x46, 0x0741
_DR_MODES = {
    0: "title",
    1: "options",
    2: "loading",
    3: "round start",
    4: "play",
    5: "topped out",
    7: "round over",
    8: "viruses appear",
}


def _dr_mario_in_play(ram: Bytes) -> bool:
    return _DR_MODES.get(int(ram[_DR_MODE])) == "play" and int(ram[_DR_DEMO]) == 0


def _dr_mario_waits(ram: Bytes) -> bool:
    return _DR_MODES.get(int(ram[_DR_MODE])) in ("title", "options", "round over") or int(ram[_DR_DEMO]) != 0


# --- Super Mario Bros. ------------------------------------------------------------------------------------------------

_SMB_PLAYER_STATE, _SMB_MODE, _SMB_TASK = 0x0E, 0x0770, 0x0772
_SMB_MODES = {0: "title", 1: "play", 2: "victory", 3: "game over"}
_SMB_RUNNING = 3  # the task that takes the pads, on the title screen and in play; before it things are set up
_SMB_PLAYER_MOVES = 8


def _smb_in_play(ram: Bytes) -> bool:
    running = _SMB_MODES.get(int(ram[_SMB_MODE])) == "play" and int(ram[_SMB_TASK]) == _SMB_RUNNING
    return running and int(ram[_SMB_PLAYER_STATE]) == _SMB_PLAYER_MOVES


def _smb_waits(ram: Bytes) -> bool:
    return _SMB_MODES.get(int(ram[_SMB_MODE])) == "title" and int(ram[_SMB_TASK]) == _SMB_RUNNING


GAMES = {
    game.name: game
    for game in (
        Game("drmario", _DR_MODE, _DR_MODES, _dr_mario_in_play, _dr_mario_waits),
        Game("smb", _SMB_MODE, _SMB_MODES, _smb_in_play, _smb_waits),
    )
}


def game_of(rom: bytes) -> Game | None:
    """The game on a cartridge, by its bytes; None if it is none of these."""
    return GAMES.get("drmario" if rom == antidote().read_bytes() else identify(rom))
