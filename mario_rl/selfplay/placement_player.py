"""A trained policy as a player: it scores the placements of a capsule and takes the best one."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from mario_rl.environment.drmario.bots import Rating
from mario_rl.environment.drmario.memory import GameMemory, Ints, Mask
from mario_rl.environment.drmario.rules import RulesBatch
from mario_rl.selfplay.scorer import PlacementScorer, slot_masks

DIGITS = 9
LONG_GAME = 200
"""Capsules after which the best placement is no longer taken every time."""


class PlacementPlayer:
    """A `Bot` with a scorer. It sees one capsule and, in the features of its prospects, what the next one could do.

    Who always takes the best can go round in circles for ever. So in a long game it draws, each placement with its own
    probability; by numbers that come from the game itself, so that the same game is still played the same way.
    """

    def __init__(self, scorer: PlacementScorer, name: str, card: Mapping[str, Any] | None = None):
        self.name = name
        self.scorer = scorer.eval().double()
        self.card = dict(card or {})

    def choose(self, games: RulesBatch, lanes: Mask, seat: int) -> npt.NDArray[Any]:
        """See `Bot.choose`."""
        numbers = np.flatnonzero(lanes).astype(np.int32)
        chosen = np.full(games.n, -1, np.int64)
        if len(numbers):
            chosen[numbers] = self.decide(games, numbers, np.full(len(numbers), seat, np.int32))
        return chosen

    def decide(self, games: RulesBatch, numbers: Ints, seats: Ints) -> npt.NDArray[np.int16]:
        """Placements for these games and seats, whose capsules wait: one forward pass."""
        ids, scores = self.scores(games, numbers, seats)
        game = GameMemory(games.ram)
        capsules = game.capsules()[numbers, seats]
        for row in np.flatnonzero(capsules >= LONG_GAME).tolist():
            seed = zlib.crc32(game.fields[numbers[row], seats[row]].tobytes(), int(capsules[row]))
            scores[row] += np.random.default_rng(seed).gumbel(size=scores.shape[1])  # its argmax is a draw
        return ids[np.arange(len(ids)), scores.argmax(axis=1)]

    def ratings(self, games: RulesBatch, lane: int, seat: int) -> list[Rating]:
        """See `Bot.ratings`: the logarithm of each placement's probability."""
        ids, scores = self.scores(games, np.array([lane], np.int32), np.array([seat], np.int32))
        there = ids[0] >= 0
        rated = zip(ids[0, there].tolist(), scores[0, there].tolist(), strict=True)
        return sorted((Rating(*pair) for pair in rated), key=lambda rating: -rating.value)

    def scores(
        self, games: RulesBatch, numbers: Ints, seats: Ints
    ) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.float64]]:
        """Placements [m, slots] (-1: none) and the logarithms of their probabilities.

        Sums are rounded differently with every number of games, and placements that look the same are as good as each
        other. So that a game is played the same way however many others there are, it computes with doubles and keeps
        fewer digits than those in which the sums differ.
        """
        prospects = games.prospects(numbers, seats)
        with torch.no_grad():
            situations = torch.from_numpy(prospects.situations) * self.scorer.situation_scale
            masks = torch.from_numpy(slot_masks(prospects))
            logits = self.scorer.logits(torch.from_numpy(prospects.features), situations, masks)
            return prospects.ids, torch.log_softmax(logits, dim=1).numpy().round(DIGITS)


class BotOpponent:
    """A bot in the seats of self-play."""

    def __init__(self, bot: Any):
        self.bot = bot

    def decide(self, games: RulesBatch, numbers: Ints, seats: Ints) -> npt.NDArray[Any]:
        """See `Opponent.decide`."""
        placements = np.full(len(numbers), -1, np.int64)
        for seat in np.unique(seats).tolist():
            own = seats == seat
            lanes = np.zeros(games.n, np.bool_)
            lanes[numbers[own]] = True
            placements[own] = self.bot.choose(games, lanes, seat)[numbers[own]]
        return placements
