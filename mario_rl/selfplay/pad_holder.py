"""Any player with the pad of one console in its hands, frame by frame: for rounds that people look at."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from mario_rl.emulators.base import RAM_SIZE
from mario_rl.environment.drmario.bots import BotPlayer, Rating
from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.environment.drmario.planner import at_decision
from mario_rl.selfplay.cartridge_player import CartridgePlayer
from mario_rl.selfplay.players import ButtonPlayer, Player


class PadHolder(Protocol):
    """Holds the pad of one seat."""

    seat: int
    placement: int | None
    """Where its capsule is to go; None if it has none under control, or does not plan."""
    ratings: list[Rating]
    """What it thought of the placements, the best first; nothing if it does not think like that."""

    def pads(self, ram: npt.NDArray[np.uint8]) -> int:
        """What to hold in the next frame; to be asked before every frame."""


class ButtonHolder:
    """The pad in the hands of somebody who presses buttons, for one round.

    It is asked for the first time when the round's first capsule can be moved, as in training and in matches.
    """

    def __init__(self, player: ButtonPlayer, seat: int):
        self.seat = seat
        self.placement: int | None = None
        self.ratings: list[Rating] = []
        self._player = player
        self._ram = np.zeros((1, RAM_SIZE), np.uint8)
        self._game = GameMemory(self._ram)
        self._held = 0
        self._frames: int | None = None  # since then

    def pads(self, ram: npt.NDArray[np.uint8]) -> int:
        """See `PadHolder.pads`."""
        self._ram[0] = ram
        if self._frames is None and at_decision(self._game, self.seat)[0]:
            self._frames = 0
        if self._frames is None:
            return 0
        if self._frames % self._player.frame_skip == 0:
            self._held = int(self._player.hold(self._game, self.seat)[0])
        self._frames += 1
        return self._held


class IdleHolder:
    """The pad of a seat that the cartridge plays: nobody touches it."""

    def __init__(self, seat: int):
        self.seat = seat
        self.placement: int | None = None
        self.ratings: list[Rating] = []

    def pads(self, ram: npt.NDArray[np.uint8]) -> int:
        """See `PadHolder.pads`."""
        return 0


def give_pad(player: Player, seat: int) -> PadHolder:
    """A player takes seat 0 or 1 for one round."""
    if isinstance(player, CartridgePlayer):
        return IdleHolder(seat)
    return ButtonHolder(player, seat) if isinstance(player, ButtonPlayer) else BotPlayer(player, seat + 1)
