"""Dr. Mario's rules, frame by frame, for many games at once: the native engine (native/drmario) for Python.

A game is the 2048 bytes of RAM a console would have (docs/drmario.md names them), so everything that reads a console
reads the engine, too, and a game can move from one to the other:

    games = RulesBatch(64)
    games.reset(seeds=0x8988, levels=10, speeds=MEDIUM)
    games.skip_intro()                                # the viruses have appeared, the first capsule is being thrown
    games.step(pads)                                  # uint8[64, 2], one frame
    games.ram[:, 0x324]                               # viruses left of player 1, BCD

or capsule by capsule (see placements.py):

    waiting = games.next_decision()                   # the first capsules have come under control
    found = games.placements()
    waiting = games.place(found.ids[:, 0])            # a placement each, and on to the next decision
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mario_rl._drmario import BOARD_FEATURES, LONGEST_SCRIPT, Games, StateError, image_mask
from mario_rl.environment.drmario.placements import Placements
from mario_rl.environment.drmario.prospects import SLOTS, Prospects

__all__ = ["BOARD_FEATURES", "HIGH", "IMAGE", "LONGEST_SCRIPT", "LOW", "MEDIUM", "RulesBatch", "Scripts", "StateError"]

LOW, MEDIUM, HIGH = 0, 1, 2

IMAGE = image_mask()
"""bool[2048]: the bytes of a console's RAM that are the game; the others belong to pictures and sound."""


class Scripts(NamedTuple):
    """The scripts of one seat, kept by the caller."""

    pads: NDArray[np.uint8]
    """[n, LONGEST_SCRIPT]"""
    lengths: NDArray[np.int32]
    """[n]; 0: none."""
    next: NDArray[np.int32]
    """[n]: the pad of the next frame; behind the last one, nothing is pressed."""


class RulesBatch:
    """`n` games on a thread pool. The GIL is free while they run."""

    def __init__(self, n: int, threads: int = 1) -> None:
        self.n = n
        self._games = Games(n, threads)
        self.ram: NDArray[np.uint8] = self._games.ram
        """uint8[n, 2048], the games themselves: writing pokes them. Any bytes are safe, if not sensible."""
        # The hot calls are the native ones themselves.
        self.step = self._games.step
        self.copy = self._games.copy

    def reset(
        self,
        seeds: ArrayLike,
        levels: ArrayLike = 0,
        speeds: ArrayLike = MEDIUM,
        players: ArrayLike = 1,
        mask: NDArray[np.bool_] | None = None,
    ) -> None:
        """Begin new games (those in `mask`), in the frame before the round is set up.

        A number counts for all games, an array gives one value per game. `seeds`: 2..65535, the random generator's
        state, which fixes all viruses and capsules; `levels`: 0..24 and `speeds`: 0..2, also per player as [n, 2];
        `players`: 1 or 2.
        """
        self._games.reset(seeds, levels, speeds, players, mask)

    def skip_intro(self, mask: NDArray[np.bool_] | None = None) -> None:
        """Let the viruses appear (nothing pressed) until play begins; ValueError for a game that has begun its end."""
        self._games.skip_intro(mask)

    def save(self, game: int) -> bytes:
        """The whole state of one game: its 2048 bytes."""
        return self._games.save(game)

    def load(self, game: int, state: bytes) -> None:
        """Go on from a saved state; StateError (a ValueError) if it is not one, and then nothing changed."""
        self._games.load(game, state)

    def load_ram(self, game: int, console_ram: bytes) -> None:
        """Take over the game in a console's RAM, in a round (not in a menu or the attract mode).

        Only the bytes of IMAGE are taken, the others become 0. StateError if it is no game, and then nothing changed.
        """
        self._games.load_ram(game, console_ram)

    # --- capsule by capsule: native/drmario/placements.hpp, turns.hpp -------------------------------------------------

    def placements(self, seat: int = 0, mask: NDArray[np.bool_] | None = None) -> Placements:
        """Where the capsules that wait for a placement can come to lie; see `Placements`."""
        return Placements(*self._games.placements(seat, mask))

    def placement_features(self, ids: NDArray[np.int16], seat: int = 0) -> NDArray[np.uint8]:
        """uint8[n, k, len(PLACEMENT_FEATURES)]: what there is to say about each placement of ids[n, k].

        The ids are those of `placements`, or any of them in any order; 0 everywhere for an id of -1.
        """
        return self._games.placement_features(ids, seat)

    def script(self, game: int, placement: int, seat: int = 0) -> bytes:
        """The pads, one a frame, that take the waiting capsule to a placement in as few frames as possible.

        The first is for the next frame, with the last it locks. ValueError if it cannot get there.
        """
        return self._games.script(game, placement, seat)

    def next_decision(self, mask: NDArray[np.bool_] | None = None) -> NDArray[np.uint8]:
        """Go on, nothing pressed, until a capsule waits for a placement; games in which one does stay as they are.

        Returns uint8[n]: 1 if the first player's waits, 2 if the second's, 3 if both, and 0 if the round is over (or
        has not begun).
        """
        return self._games.next_decision(mask)

    def place(self, placements: ArrayLike, mask: NDArray[np.bool_] | None = None) -> NDArray[np.uint8]:
        """Take the waiting capsules where they are to go, and go on to the next decision; returns as `next_decision`.

        `placements`: [n] for the first player, or [n, 2] with -1 for a player who does not wait. The pads are held as
        `script` says; after the lock nothing is pressed. With two players the game stops wherever either waits, and
        the other's script goes on with the next call. (It is kept beside the RAM: `copy` takes it along, `save` does
        not, and `step` puts an end to it.) ValueError, and nothing happens, unless every waiting capsule of the
        masked games gets a placement that it can reach.
        """
        return self._games.place(placements, mask)

    def write_scripts(
        self, placements: ArrayLike, scripts: Scripts, seat: int = 0, mask: NDArray[np.bool_] | None = None
    ) -> None:
        """Write what `script` gives for each of the masked games into `scripts`, to be followed from the first pad on.

        ValueError if one of the capsules cannot get there, or does not wait.
        """
        self._games.write_scripts(placements, *scripts, seat, mask)

    def follow(
        self,
        scripts: Sequence[Scripts],
        deciders: int,
        totals: NDArray[np.int32],
        frames: NDArray[np.int32],
        mask: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.uint8]:
        """Go on with the scripts of one or both seats, nothing pressed after them, to the next decision.

        It is the decision of a seat among `deciders` (1 the first, 2 the second, 3 either); returns as `next_decision`.
        What happened is added to `frames` [n] and `totals` [counts, n, 2] (environment/drmario/tally.py). Unlike with
        `place` everything there is to know is in the RAM and in the caller's arrays.
        """
        return self._games.follow(list(scripts), deciders, totals, frames, mask)

    # --- choosing placements: native/drmario/search.hpp, evaluation.hpp -----------------------------------------------

    def board_features(self, seat: int = 0) -> NDArray[np.int16]:
        """int16[n, len(BOARD_FEATURES)]: what there is to say about each game's field of that seat."""
        return self._games.board_features(seat)

    def ratings(
        self, weights: NDArray[np.float32], plies: int = 1, seat: int = 0, mask: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int16], NDArray[np.float32]]:
        """What each placement of a capsule that waits for one is worth: counts[n], placements[n, k], values[n, k].

        The value is the weighted sum of the field's features after it (`plies` 1), or after the best placement of the
        next capsule, too (2). It is 1e9 if the bottle is clear and about -1e9 if the next capsule cannot come in; half
        of that if it comes to it with the next capsule. Of placements that look the same one is listed. Games that do
        not wait have the count 0; unused entries are -1 and -inf.
        """
        return self._games.ratings(weights, plies, seat, mask)

    def search(
        self, weights: NDArray[np.float32], plies: int = 1, seat: int = 0, mask: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int16]:
        """int16[n]: the best-rated placement of each game; -1 where no capsule waits for one."""
        return self._games.search(weights, plies, seat, mask)

    def play(
        self,
        weights: NDArray[np.float32],
        plies: int = 1,
        max_capsules: int = 1000,
        mask: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.int32]:
        """Play each game on by `search`, for both seats, until its round ends or somebody has placed `max_capsules`.

        Returns int32[n, 2], the capsules placed by each player; everything else is in the RAM.
        """
        return self._games.play(weights, plies, max_capsules, mask)

    # --- what placements lead to: native/drmario/prospects.hpp --------------------------------------------------------

    def prospects(self, games: NDArray[np.int32], seats: NDArray[np.int32], slots: int = SLOTS) -> Prospects:
        """What the placements of the waiting capsules of games[m] and seats[m] lead to; see `Prospects`."""
        return Prospects(*self._games.prospects(games, seats, slots))
