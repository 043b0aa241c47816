"""The player inside the cartridge once more, in Python: the same pads in the same frames.

It keeps nothing between two questions, like every player (selfplay/players.py): all that the cartridge remembers can be
told from RAM. What it aims at depends on the bottle and the capsule's colours, which stay as they are while a capsule
falls; how long it has been thinking, on how far the capsule has fallen by itself; what it pressed last is held.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from mario_rl.distill.chooser import SPAWN_COLUMN, TAPS
from mario_rl.distill.drops import DROPS, NOWHERE, look, open_columns, tops
from mario_rl.emulators.base import DOWN, LEFT, RIGHT, A, B
from mario_rl.environment.drmario import memory
from mario_rl.environment.drmario.memory import ROWS, GameMemory
from mario_rl.environment.drmario.rules import RulesBatch

REMEMBERED = 50_000  # bottles whose targets are kept
TURNS = np.array([0, B, A, A], np.uint8)  # by quarters counter-clockwise
_ROTATION, _COLUMN = np.array(DROPS).T


class ScoringForm(Protocol):
    """What was distilled."""

    def score(self, features: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        """The scores of drops, [...], by their features, [..., len(FEATURES)]."""


class Targets:
    """Where a form sends capsules: column, rotation, and the columns it thinks about; remembered."""

    def __init__(self, form: ScoringForm):
        self._form = form
        self._known: dict[bytes, tuple[int, int, int]] = {}
        self._scratch = RulesBatch(1)

    def of(self, game: GameMemory, lanes: npt.NDArray[np.intp], seat: int) -> npt.NDArray[np.int64]:
        """int64[m, 3] for these games."""
        keys = [_key(game, lane, seat) for lane in lanes.tolist()]
        new = {key: lane for key, lane in zip(keys, lanes.tolist(), strict=True) if key not in self._known}
        if len(self._known) + len(new) > REMEMBERED:
            self._known.clear()
            new = dict(zip(keys, lanes.tolist(), strict=True))
        if new:
            found = self._aim(game, np.array(list(new.values())), seat)
            self._known |= dict(zip(new, map(tuple, found.tolist()), strict=True))
        return np.array([self._known[key] for key in keys]).reshape(-1, 3)

    def _aim(self, game: GameMemory, lanes: npt.NDArray[np.intp], seat: int) -> npt.NDArray[np.int64]:
        if self._scratch.n < len(lanes):
            self._scratch = RulesBatch(len(lanes))
        self._scratch.ram[: len(lanes)] = game.ram[lanes]
        drops = look(self._scratch, np.arange(len(lanes)), seat)
        scores = np.where(drops.ids == NOWHERE, 0, self._form.score(drops.features))
        best = scores.argmax(axis=1)  # the first of those that are alike
        nothing = scores.max(axis=1) <= 0
        thought_of = open_columns(tops(game.fields[lanes, seat])).sum(axis=1)
        column, rotation = np.where(nothing, SPAWN_COLUMN, _COLUMN[best]), np.where(nothing, 0, _ROTATION[best])
        return np.stack([column, rotation, thought_of], axis=1)


def _key(game: GameMemory, lane: int, seat: int) -> bytes:
    return game.fields[lane, seat].tobytes() + game.colours[lane, seat].tobytes()


class CartridgeMirror:
    """A `ButtonPlayer` that plays as the compiled form does."""

    frame_skip = 1

    def __init__(self, form: ScoringForm, columns_a_frame: int, name: str):
        self.name = name
        self._targets = Targets(form)
        self._columns_a_frame = columns_a_frame

    def hold(self, game: GameMemory, seat: int) -> npt.NDArray[np.uint8]:
        """See `ButtonPlayer.hold`."""
        pads = np.zeros(len(game.ram), np.uint8)
        falling = (game.mode == memory.MODE_PLAY) & (game.action[:, seat] == memory.ACTION_FALLING)
        lanes = np.flatnonzero(falling)
        if len(lanes):
            pads[lanes] = self._steer(game, lanes, seat, self._targets.of(game, lanes, seat))
        return pads

    def _steer(
        self, game: GameMemory, lanes: npt.NDArray[np.intp], seat: int, targets: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.uint8]:
        wanted_x, wanted_rotation, columns = targets.T
        # While it thinks nothing is pressed, so the capsule falls by gravity alone; DOWN only makes this number larger.
        rows = ROWS - 1 - game.y[lanes, seat].astype(np.int64)
        frames = rows * game.fall_frames()[lanes, seat] + game.gravity[lanes, seat]
        thinks = frames < -(-columns // self._columns_a_frame)
        lets_go = game.held[lanes, seat] & TAPS != 0
        turn = TURNS[(wanted_rotation - game.rotation[lanes, seat]) % 4]
        x = game.x[lanes, seat].astype(np.int64)
        side = np.where(x > wanted_x, LEFT, np.where(x < wanted_x, RIGHT, DOWN))
        return np.where(thinks | lets_go, 0, np.where(turn > 0, turn, side)).astype(np.uint8)
