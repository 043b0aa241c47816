"""Games side by side on the rules engine, for one or two seats, that stop wherever a capsule waits for a choice."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from mario_rl.environment.drmario.memory import GameMemory, Ints, Mask
from mario_rl.environment.drmario.rules import LONGEST_SCRIPT, RulesBatch, Scripts
from mario_rl.environment.drmario.tally import COUNTS
from mario_rl.environment.lane_state import Arrays

EITHER = 3  # deciders: a game stops where either seat waits


class Arena:
    """n games. Begin some, ask who waits, place for all of them, and so on; those that are over have nobody waiting."""

    def __init__(self, games: int, threads: int = 1):
        self.games = games
        self.batch = RulesBatch(games, threads)
        self.memory = GameMemory(self.batch.ram)
        self.waiting = np.zeros(games, np.uint8)
        """[n]: 1 if the first seat waits, 2 if the second one does, 3 if both, 0 if the round is over."""
        self.totals = np.zeros((COUNTS, games, 2), np.int32)
        """What both seats have done in the running round."""
        self.frames = np.zeros(games, np.int32)
        self._scripts = [
            Scripts(np.zeros((games, LONGEST_SCRIPT), np.uint8), np.zeros(games, np.int32), np.zeros(games, np.int32))
            for _ in range(2)
        ]

    def begin(self, lanes: Mask, seeds: Ints, levels: Ints, speeds: Ints, players: Ints) -> None:
        """Begin rounds in the masked games (arguments [n], for all games) and go on to their first decisions."""
        self.batch.reset(seeds, levels, speeds, players, lanes)
        self.batch.skip_intro(lanes)
        self.totals[:, lanes] = 0
        self.frames[lanes] = 0
        for scripts in self._scripts:
            scripts.lengths[lanes] = scripts.next[lanes] = 0
        self._play_on(lanes)

    def askers(self) -> tuple[Ints, Ints]:
        """games[m] and seats[m] that wait for a placement."""
        games, seats = np.nonzero(self.waiting[:, None] & np.array([1, 2], np.uint8))
        return games.astype(np.int32), seats.astype(np.int32)

    def place(self, games: Ints, seats: Ints, placements: npt.NDArray[Any]) -> None:
        """Send the capsules of all who wait to their places, and play on to the next decisions."""
        for seat in (0, 1):
            own = seats == seat
            if not own.any():
                continue
            chosen = np.full(self.games, -1, np.int64)
            chosen[games[own]] = placements[own]
            self.batch.write_scripts(chosen, self._scripts[seat], seat, chosen >= 0)
        self._play_on(self.waiting != 0)

    def break_off(self, lanes: Mask) -> None:
        """Nobody waits any more in the masked games: they have taken too long."""
        self.waiting[lanes] = 0

    def _play_on(self, lanes: Mask) -> None:
        reached = self.batch.follow(self._scripts, EITHER, self.totals, self.frames, lanes)
        self.waiting[lanes] = reached[lanes]

    def state_dict(self) -> dict[str, Any]:
        """Everything, as tensors."""
        arrays = {name: torch.from_numpy(values.copy()) for name, values in self._arrays().items()}
        return {"ram": torch.from_numpy(self.batch.ram.copy()), "arrays": arrays}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where that was taken, with as many games."""
        for game, ram in enumerate(state["ram"].numpy()):
            self.batch.load(game, ram.tobytes())
        for name, values in self._arrays().items():
            values[:] = state["arrays"][name].numpy()

    def _arrays(self) -> Arrays:
        arrays: Arrays = {"waiting": self.waiting, "totals": self.totals, "frames": self.frames}
        for seat, scripts in enumerate(self._scripts):
            arrays |= {f"{name}{seat}": values for name, values in scripts._asdict().items()}
        return arrays
