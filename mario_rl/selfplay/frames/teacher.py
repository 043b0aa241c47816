"""A teacher for the agent that presses buttons: in any moment of a game it says what to hold for the next few frames.

It takes a bot's ratings of the placements and steers to the best one that can still be reached. A rating depends on the
bottle and the capsule's colours only, not on where the capsule is by now, so the teacher can be asked about states into
which somebody else steered: what DAgger needs (imitation.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mario_rl.emulators.base import DOWN, LEFT, RIGHT, A, B
from mario_rl.environment.drmario import memory
from mario_rl.environment.drmario.bots import SearchBot, make_bot
from mario_rl.environment.drmario.buttons import DISCRETE
from mario_rl.environment.drmario.memory import CELLS, COLUMNS, POP, ROWS, GameMemory, Mask
from mario_rl.environment.drmario.planner import ROTATIONS, SPAWN_COLUMN
from mario_rl.environment.drmario.rules import RulesBatch
from mario_rl.runs.directory import RunError

Ints = npt.NDArray[np.int64]
NOWHERE = -1

_ACTION_OF = np.zeros(256, np.int64)
_ACTION_OF[list(DISCRETE)] = np.arange(len(DISCRETE))


@dataclass
class Lesson:
    """What the teacher says about n games."""

    falling: Mask  # only here it says anything; elsewhere the pad does nothing
    actions: Ints  # of the 12; 0, nothing, where no capsule is falling
    targets: Ints  # rotation * 8 + column; NOWHERE if there is nothing to say
    values: npt.NDArray[np.float32]  # [n, 32]: the bot's ratings; -inf for what cannot be reached any more


class Teacher:
    """Teaches one seat of n games on the rules engine, with the ratings of "greedy" or "search"."""

    def __init__(self, games: RulesBatch, seat: int = 0, bot: str = "greedy"):
        chosen = make_bot(bot) if bot in ("greedy", "search") else None
        if not isinstance(chosen, SearchBot):
            raise RunError(f"no teacher {bot!r}: use greedy or search")
        self._bot = chosen
        self._seat = seat
        self._games = games
        self._game = GameMemory(games.ram)
        self._scratch = RulesBatch(games.n)
        self._values = np.full((games.n, ROTATIONS, COLUMNS), -np.inf, np.float32)
        self._rests = np.zeros((games.n, ROTATIONS, COLUMNS), np.int64)  # y of each; of those with a value
        # what the values are of: the field and the two colours
        self._rated = np.zeros((games.n, CELLS + 2), np.uint8)

    def teach(self) -> Lesson:
        """A lesson about the games as they are now."""
        game, seat = self._game, self._seat
        falling = game.controllable()[:, seat] & ~game.round_over()
        self._rate(falling)
        reachable = _reachable(game, seat, self._rests) & np.isfinite(self._values) & falling[:, None, None]
        values = np.where(reachable, self._values, -np.inf).reshape(len(falling), -1).astype(np.float32)
        some = reachable.any((1, 2))
        targets = np.where(some, values.argmax(1), NOWHERE)
        block = game.blocks[:, seat]
        x, rotation = block[:, memory.X].astype(np.int64), block[:, memory.ROTATION].astype(np.int64)
        # with nowhere to go, it lets the capsule fall where it is
        target = np.where(some, targets, rotation * COLUMNS + x)
        pads = steer(target % COLUMNS - x, rotation, target // COLUMNS, game.held[:, seat])
        return Lesson(falling, np.where(falling, _ACTION_OF[pads], 0), targets, values)

    def _rate(self, falling: Mask) -> None:
        """Rate the placements of capsules that are new."""
        game, seat = self._game, self._seat
        fields = game.fields[:, seat].reshape(len(falling), CELLS)
        now = np.concatenate([fields, game.colours[:, seat]], axis=1)
        new = falling & (now != self._rated).any(1)
        if not new.any():
            return
        self._rated[new] = now[new]
        # The engine rates a capsule that has just come in: put it back there, in a copy.
        scratch = self._scratch
        scratch.ram[new] = self._games.ram[new]
        block = GameMemory(scratch.ram).blocks[:, seat]
        block[new, memory.X], block[new, memory.Y] = SPAWN_COLUMN, ROWS - 1
        block[new, memory.ROTATION] = block[new, memory.GRAVITY] = 0
        straight = np.zeros((len(new), ROTATIONS * ROWS * COLUMNS), np.bool_)
        found = scratch.placements(seat, new)
        lanes, columns = np.nonzero((found.ids >= 0) & (found.tucked == 0))
        straight[lanes, found.ids[lanes, columns]] = True
        _, ids, ratings = scratch.ratings(self._bot.weights, self._bot.plies, seat, new)
        lanes, columns = np.nonzero(ids >= 0)
        placements = ids[lanes, columns].astype(np.int64)
        dropped = straight[lanes, placements]
        lanes, columns, placements = lanes[dropped], columns[dropped], placements[dropped]
        where = lanes, placements // (ROWS * COLUMNS), placements % COLUMNS
        self._values[new] = -np.inf
        self._values[where] = ratings[lanes, columns]
        self._rests[where] = placements // COLUMNS % ROWS


def steer(way: Ints, rotation: Ints, wanted: Ints, held: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """uint8[n]: what to hold next, `way` columns (negative: to the left) and a turn away from the target.

    A direction or a turn counts when it is freshly pressed, so what is held already is let go first; tapping every
    second step (8 frames a column) is faster than the automatic shift (16, then 6) for all but the farthest ways.
    """
    turns = (wanted - rotation) % ROTATIONS
    turn = np.where(turns == 0, 0, np.where(turns == 1, B, A))
    side = np.where(way == 0, 0, np.where(way < 0, LEFT, RIGHT))
    # Turned to flat with LEFT held, a capsule goes one column further to the left.
    too_far = (turn > 0) & (rotation % 2 == 1) & (way == -1)
    side = np.where(too_far, 0, side)
    there = (way == 0) & (turns == 0)
    return np.where(there, DOWN, (side | turn) & ~held).astype(np.uint8)


def _reachable(game: GameMemory, seat: int, rests: Ints) -> npt.NDArray[np.bool_]:
    """bool[n, 4, 8]: the way to that column is free in the capsule's row, and the place is not above it."""
    block = game.blocks[:, seat]
    lanes = np.arange(len(block))
    x = block[:, memory.X].astype(np.int64)[:, None] % COLUMNS
    y = block[:, memory.Y].astype(np.int64)[:, None, None] % ROWS
    row = game.fields[lanes, seat, ROWS - 1 - y[:, 0, 0]] < POP
    taken = np.zeros((len(block), COLUMNS + 2), np.int64)
    taken[:, 1:-1] = row.cumsum(1)  # taken[c]: pieces in the columns before c
    taken[:, -1] = taken[:, -2]
    column = np.arange(COLUMNS)
    flat = np.array([1, 0, 1, 0])[:, None]
    first = np.minimum(x, column)[:, None]
    last = np.maximum(x, column)[:, None] + flat
    last = np.minimum(last, COLUMNS - 1)
    first = np.broadcast_to(first, last.shape)
    between = taken[lanes[:, None, None], last + 1] - taken[lanes[:, None, None], first]
    return (between == 0) & (rests <= y)
