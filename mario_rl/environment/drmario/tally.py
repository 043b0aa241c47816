"""What both players have done in a round, counted from the game's own counters in RAM.

The game keeps some of its counters only for a while: the combo and the matched cells start anew with every capsule, an
attack leaves its counter when it is delivered. `Tally.look` adds up what happened since the last look. It misses
nothing if it looks at least every LONGEST_GAP frames: between the frame in which a counter is zeroed and the earliest
match that can raise it again there are six (the lock, or the arrival of garbage, and five settle steps).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mario_rl.environment.drmario.memory import ACTION_FALLING, ACTION_SPAWNED, GameMemory, Ints, Mask

LONGEST_GAP = 6  # frames
MOST_GARBAGE = 4  # pieces that arrive at once, however large the attack

# What is counted, in the order of `Tally.totals` and of native/drmario/tally.hpp.
VIRUSES, PIECES, LINES, LINKS, SENT, RECEIVED, LOCKS, COUNTS = range(8)


class Tally:
    """Totals of the running rounds, int32[n, 2] each (player 1 first)."""

    def __init__(self, games: int):
        self.totals = np.zeros((COUNTS, games, 2), np.int32)
        self.viruses = self.totals[VIRUSES]  # cleared
        # of capsules and garbage cleared; where lines cross, as often as the game counts it
        self.pieces = self.totals[PIECES]
        self.lines = self.totals[LINES]  # of four and more
        self.links = self.totals[LINKS]  # lines beyond the first of each capsule's (or garbage's) settling
        self.sent = self.totals[SENT]  # pieces of garbage, as large as the attack was
        self.received = self.totals[RECEIVED]  # pieces of garbage that fell into the own bottle
        self.locks = self.totals[LOCKS]  # capsules that have come to rest
        self._before = np.zeros((5, games, 2), np.int32)  # as of the last look

    def begin(self, games: Mask, game: GameMemory) -> None:
        """Start counting in the masked games."""
        self.totals[:, games] = 0
        self._before[:, games] = self._counters(game)[:, games]

    def look(self, game: GameMemory) -> None:
        """Add what happened since the last look; a game that has not run since adds nothing."""
        counters = self._counters(game)
        viruses, cells, combo, attack, locks = counters
        viruses_before, cells_before, combo_before, attack_before, locks_before = self._before

        cleared = np.maximum(viruses_before - viruses, 0)
        matched = np.where(cells >= cells_before, cells - cells_before, cells)
        self.viruses += cleared
        self.pieces += np.maximum(matched - cleared, 0)

        anew = combo < combo_before
        start = np.where(anew, 0, combo_before)
        self.lines += combo - start
        self.links += np.maximum(combo - 1, 0) - np.maximum(start - 1, 0)

        # A combo of two and more is zeroed when it becomes an attack.
        sent = np.where(anew & (combo_before >= 2) & game.two_players()[:, None], combo_before, 0)
        delivered = attack_before + sent - attack
        self.sent += sent
        self.received += np.where(delivered >= 2, np.minimum(delivered, MOST_GARBAGE), 0)[:, ::-1]
        self.locks += locks - locks_before
        self._before[:] = counters

    def catch_up(self, game: GameMemory) -> None:
        """Somebody else has counted into `totals` what happened since the last look (RulesBatch.follow)."""
        self._before[:] = self._counters(game)

    @property
    def arrays(self) -> dict[str, npt.NDArray[np.int32]]:
        """Everything there is to know, by name: the arrays themselves."""
        return {"totals": self.totals, "counters": self._before}

    @staticmethod
    def _counters(game: GameMemory) -> Ints:
        counters = np.empty((5, *game.action.shape), np.int32)
        counters[0] = game.viruses()
        counters[1] = game.cells_matched
        counters[2] = game.combo
        counters[3] = game.attack
        # every capsule thrown has locked but the one in the air
        in_the_air = (game.action == ACTION_FALLING) | (game.action == ACTION_SPAWNED)
        counters[4] = game.capsules() - in_the_air
        return counters
