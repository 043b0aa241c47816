"""The rules of an episode, one round of the game: what happened in a step and what ends it, for all lanes at once.

`Rounds` holds every per-lane number that is not in RAM. The game may be seen from either seat (`Rounds.outcome`), so a
versus environment books one step and pays two agents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mario_rl.environment.drmario.memory import COLUMNS, GameMemory, Ints, Mask
from mario_rl.environment.drmario.tally import Tally

Index = npt.NDArray[np.intp]

RESULTS = ("", "win", "loss", "draw", "top_out")  # "": the round is not over


@dataclass(slots=True)
class Outcome:
    """What one step did, seen from one seat, one entry a lane."""

    viruses: Ints  # cleared
    pieces: Ints  # of capsules and garbage cleared
    links: Ints  # lines beyond the first of a capsule
    virus_lead: Ints  # viruses cleared more than the opponent did
    height: npt.NDArray[np.float64]  # average of the columns now
    novelty: npt.NDArray[np.float64]  # 1 / sqrt(n) for a capsule that came to rest, 0 if none did
    win: Mask
    loss: Mask
    draw: Mask
    top_out: Mask
    truncated: Mask
    terminated: Mask
    any_ended: bool

    def interrupt(self, lanes: Mask) -> None:
        """The consoles of these lanes were lost and are somewhere else now: whatever seems to have happened did not."""
        for counted in (self.viruses, self.pieces, self.links, self.virus_lead, self.height, self.novelty):
            counted[lanes] = 0
        for end in (self.win, self.loss, self.draw, self.top_out, self.terminated):
            end[lanes] = False
        self.truncated[lanes] = True
        self.any_ended = True

    def results(self) -> npt.NDArray[np.str_]:
        """The names in RESULTS, one a lane."""
        masks = (self.win, self.loss, self.draw, self.top_out)
        return np.select(masks, RESULTS[1:], RESULTS[0])


class Rounds:
    """The running round of every lane."""

    def __init__(self, lanes: int, max_frames: int | None):
        self._max_frames = max_frames or np.iinfo(np.int32).max
        self.tally = Tally(lanes)
        self.frames = np.zeros(lanes, np.int32)  # since the round began
        self.steps = np.zeros(lanes, np.int32)
        # How often a capsule came to rest in each column and rotation, over all rounds of a lane.
        self.rests = np.zeros((lanes, 2, COLUMNS, 4), np.int32)
        self._novelty = np.zeros((lanes, 2))  # in this step
        self._step_totals = self.tally.totals.copy()  # as of the start of the step

    def begin(self, lanes: Mask, game: GameMemory) -> None:
        """A round begins in the masked lanes, wherever their games stand now."""
        self.tally.begin(lanes, game)
        self.frames[lanes] = self.steps[lanes] = 0

    def begin_step(self) -> None:
        """From here on `watch` counts for the next `outcome`."""
        self._step_totals[:] = self.tally.totals
        self._novelty[:] = 0
        self.steps += 1

    def watch(self, game: GameMemory) -> None:
        """The games ran, but not for more than `tally.LONGEST_GAP` frames (which the caller adds to `frames`)."""
        locks = self.tally.locks.copy()
        self.tally.look(game)
        lanes, seats = np.nonzero(self.tally.locks > locks)
        # x and rotation stay where they are while the capsule settles
        self._came_to_rest(lanes, seats, game.x[lanes, seats] % COLUMNS, game.rotation[lanes, seats] % 4)

    def caught_up(self, game: GameMemory, locks: Ints, columns: Ints, rotations: Ints) -> None:
        """The games ran, and what happened was counted meanwhile.

        `locks` [n, 2] are those before; `columns` and `rotations` say where capsules came to rest, if any did.
        """
        self.tally.catch_up(game)
        new = self.tally.locks - locks
        for already in range(int(new.max(initial=0))):  # who is not asked may have dropped several
            lanes, seats = np.nonzero(new > already)
            self._came_to_rest(lanes, seats, columns[lanes, seats], rotations[lanes, seats])

    def _came_to_rest(self, lanes: Index, seats: Index, columns: npt.NDArray[Any], rotations: npt.NDArray[Any]) -> None:
        self.rests[lanes, seats, columns, rotations] += 1
        self._novelty[lanes, seats] += 1 / np.sqrt(self.rests[lanes, seats, columns, rotations])

    def outcome(self, game: GameMemory, seat: int) -> Outcome:
        """What the step did, from a seat."""
        viruses, pieces, _, links, *_ = self.tally.totals - self._step_totals
        cleared, topped_out = game.cleared(), game.topped_out()
        own, other = seat, 1 - seat
        # The virus check comes first: a bottle cleared in the same frame decides the round.
        any_cleared = cleared[:, 0] | cleared[:, 1]
        only_own_failed = topped_out[:, own] & ~topped_out[:, other] & ~any_cleared
        only_other_failed = topped_out[:, other] & ~topped_out[:, own] & ~any_cleared
        win = (cleared[:, own] & ~cleared[:, other]) | only_other_failed
        loss = cleared[:, other] & ~cleared[:, own]
        draw = (cleared[:, 0] & cleared[:, 1]) | (topped_out[:, 0] & topped_out[:, 1] & ~any_cleared)
        terminated = win | loss | draw | only_own_failed
        truncated = (self.frames >= self._max_frames) & ~terminated
        return Outcome(
            viruses=viruses[:, own],
            pieces=pieces[:, own],
            links=links[:, own],
            virus_lead=np.where(game.two_players(), viruses[:, own] - viruses[:, other], 0).astype(np.int32),
            height=game.heights()[:, own].mean(axis=1),
            novelty=self._novelty[:, own].copy(),
            win=win,
            loss=loss,
            draw=draw,
            top_out=only_own_failed,
            truncated=truncated,
            terminated=terminated,
            any_ended=bool((terminated | truncated).any()),
        )

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Everything there is to know about the running rounds, by name: the arrays themselves."""
        return {"frames": self.frames, "steps": self.steps, "rests": self.rests} | self.tally.arrays
