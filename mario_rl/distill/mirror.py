"""The player inside the cartridge once more, in Python: the same pads in the same frames.

It keeps nothing between two questions, like every player (selfplay/players.py): all that the cartridge remembers can be
told from RAM. What it aims at depends on the bottle and on the capsule's colours and number, which stay as they are
while a capsule falls; how long it has been thinking, on how far the capsule has fallen by itself.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mario_rl.distill.drops import look
from mario_rl.distill.form import Form, aim
from mario_rl.distill.player_file import SUFFIX, distilled_file, load_player_file, packaged_distilled
from mario_rl.emulators.base import DOWN, LEFT, RIGHT, A
from mario_rl.environment.drmario import memory
from mario_rl.environment.drmario.memory import ROWS, GameMemory
from mario_rl.environment.drmario.rules import RulesBatch

REMEMBERED = 50_000  # bottles whose targets are kept


class Targets:
    """Where a form sends capsules: column and rotation; remembered."""

    def __init__(self, form: Form):
        self._form = form
        self._known: dict[bytes, tuple[int, int]] = {}
        self._scratch = RulesBatch(1)

    def of(self, game: GameMemory, lanes: npt.NDArray[np.intp], seat: int) -> npt.NDArray[np.int64]:
        """int64[m, 2] for these games."""
        keys = [_key(game, lane, seat) for lane in lanes.tolist()]
        new = {key: lane for key, lane in zip(keys, lanes.tolist(), strict=True) if key not in self._known}
        if len(self._known) + len(new) > REMEMBERED:
            self._known.clear()
            new = dict(zip(keys, lanes.tolist(), strict=True))
        if new:
            found = self._aim(game, np.array(list(new.values())), seat)
            self._known |= dict(zip(new, map(tuple, found.tolist()), strict=True))
        return np.array([self._known[key] for key in keys]).reshape(-1, 2)

    def _aim(self, game: GameMemory, lanes: npt.NDArray[np.intp], seat: int) -> npt.NDArray[np.int64]:
        if self._scratch.n < len(lanes):
            self._scratch = RulesBatch(len(lanes))
        self._scratch.ram[: len(lanes)] = game.ram[lanes]
        return np.stack(aim(self._form, look(self._scratch, np.arange(len(lanes)), seat)), axis=1)


def _key(game: GameMemory, lane: int, seat: int) -> bytes:
    capsule = game.blocks[lane, seat, [memory.CAPSULES]].tobytes()
    return game.fields[lane, seat].tobytes() + game.colours[lane, seat].tobytes() + capsule


def is_distilled(name: str) -> bool:
    """Whether a player's name is that of a distilled one."""
    return name.endswith(SUFFIX) or name in packaged_distilled()


def load_mirror(name: str) -> CartridgeMirror:
    """The mirror of a distilled player, by its file or its name; a RunError says what is wrong."""
    file = distilled_file(name)
    return CartridgeMirror(load_player_file(file).form, file.stem)


class CartridgeMirror:
    """A `ButtonPlayer` that plays as the compiled form does."""

    frame_skip = 1

    def __init__(self, form: Form, name: str):
        self.name = name
        self._targets = Targets(form)
        self._thinks, self._turns_first = form.thinks, form.turns_first

    def hold(self, game: GameMemory, seat: int) -> npt.NDArray[np.uint8]:
        """See `ButtonPlayer.hold`."""
        pads = np.zeros(len(game.ram), np.uint8)
        falling = (game.mode == memory.MODE_PLAY) & (game.action[:, seat] == memory.ACTION_FALLING)
        # A tap in every second frame: those with an odd number, in which DOWN counts.
        lanes = np.flatnonzero(falling & (game.frame_count % 2 == 0) & (self._thought(game, seat) >= self._thinks))
        if len(lanes):
            pads[lanes] = self._steer(game, lanes, seat, self._targets.of(game, lanes, seat))
        return pads

    def _thought(self, game: GameMemory, seat: int) -> npt.NDArray[np.int64]:
        """Frames since the capsule can be moved; once DOWN has been pressed, at least so many.

        While it thinks nothing is pressed, so the capsule falls by gravity alone.
        """
        rows = ROWS - 1 - game.y[:, seat].astype(np.int64)
        return rows * game.fall_frames()[:, seat] + game.gravity[:, seat]

    def _steer(
        self, game: GameMemory, lanes: npt.NDArray[np.intp], seat: int, targets: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.uint8]:
        wanted, x = targets[:, 0], game.x[lanes, seat]
        side = np.where(x > wanted, LEFT, np.where(x < wanted, RIGHT, 0))
        turn = np.where(game.rotation[lanes, seat] != targets[:, 1], A, 0)
        if self._turns_first:
            side[turn > 0] = 0
        return np.where(side | turn, side | turn, DOWN).astype(np.uint8)
