"""Teachers: what a player that knows more thinks of the drops that a player inside the cartridge has."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from mario_rl.distill.drops import NOWHERE, Drops
from mario_rl.environment.drmario.bots import SearchBot
from mario_rl.environment.drmario.placements import PLACEMENTS
from mario_rl.environment.drmario.rules import RulesBatch
from mario_rl.runs.directory import RunError
from mario_rl.selfplay.placement_player import PlacementPlayer
from mario_rl.selfplay.players import Player

HALF_A_TURN = 2 * (PLACEMENTS // 4)
UNKNOWN = -np.inf
Floats = npt.NDArray[np.float64]


class Teacher(Protocol):
    """Rates drops."""

    def rate(self, games: RulesBatch, lanes: npt.NDArray[np.intp], drops: Drops) -> Floats:
        """float64[m, 32]: logarithms of probabilities of the drops of these games; UNKNOWN where it has none."""


class ScorerTeacher:
    """A trained policy: it knows what every placement leads to, and the next capsule."""

    def __init__(self, player: PlacementPlayer):
        self._player = player

    def rate(self, games: RulesBatch, lanes: npt.NDArray[np.intp], drops: Drops) -> Floats:
        """See `Teacher.rate`."""
        ids, scores = self._player.scores(games, lanes.astype(np.int32), np.zeros(len(lanes), np.int32))
        return of_drops(ids, scores, drops)


class BotTeacher:
    """A bot that searches; what it thinks a field is worth, on a scale on which the better one is taken."""

    SCALE = 0.3

    def __init__(self, bot: SearchBot):
        self._bot = bot

    def rate(self, games: RulesBatch, lanes: npt.NDArray[np.intp], drops: Drops) -> Floats:
        """See `Teacher.rate`."""
        mask = np.zeros(games.n, np.bool_)
        mask[lanes] = True
        _, ids, values = games.ratings(self._bot.weights, self._bot.plies, 0, mask)
        worth = values[lanes].astype(np.float64)
        worth = np.where(ids[lanes] == NOWHERE, UNKNOWN, worth - worth.max(axis=1, keepdims=True))
        return of_drops(ids[lanes], worth * self.SCALE, drops)


def teacher_of(player: Player) -> Teacher:
    """The teacher that a player can be; a RunError if it cannot."""
    if isinstance(player, PlacementPlayer):
        return ScorerTeacher(player)
    if isinstance(player, SearchBot):
        return BotTeacher(player)
    raise RunError(f"{player.name} does not rate placements, so it cannot teach: use champion, greedy or search")


def of_drops(ids: npt.NDArray[np.int16], scores: Floats, drops: Drops) -> Floats:
    """The scores of drops, by those of placements [m, k]; of two that look the same one may be listed."""
    rows, columns = np.nonzero(ids != NOWHERE)
    known = np.full((len(ids), PLACEMENTS + 1), UNKNOWN)  # the last one is that of NOWHERE
    known[rows, ids[rows, columns]] = scores[rows, columns]
    own = known[np.arange(len(ids))[:, None], drops.ids]
    turned = np.where(drops.ids == NOWHERE, NOWHERE, (drops.ids + HALF_A_TURN) % PLACEMENTS)
    one_colour = (drops.colours[:, 0] == drops.colours[:, 1])[:, None]
    alike = known[np.arange(len(ids))[:, None], turned]
    return np.where(one_colour, np.maximum(own, alike), own)
