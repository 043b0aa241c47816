"""Who sits where in games for two: the current policy in both seats, or a past self in one; drawn for every round."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt

from mario_rl.environment.drmario.memory import Mask
from mario_rl.selfplay.frames.config import FramesConfig
from mario_rl.selfplay.frames.network import FramesNetwork
from mario_rl.selfplay.frames.observation import Seen
from mario_rl.selfplay.frames.player import FramesPlayer
from mario_rl.selfplay.frames.vec_env import PlayedRound
from mario_rl.selfplay.opponent_pool import Behaviour, OpponentPool

CURRENT = 0  # the number of the current policy; the pool's members have theirs from 1 on
INVITED = 3  # past selves that play at the same time: each costs a forward pass a step
SCORES = {"win": 1.0, "loss": 0.0, "top_out": 0.0}  # anything else is half a win


class Opponents:
    """Deals opponents to lanes, keeps count, and lets the policy join its own pool."""

    def __init__(self, network: FramesNetwork, config: FramesConfig, random: np.random.Generator):
        self.pool = OpponentPool(config.pool_size, config.pool_strategy, config.pool_gate, [])
        self._config = config
        self._random = random
        self._current = FramesPlayer(network, "current", config.frame_skip, greedy=False)
        self._players: dict[int, FramesPlayer] = {CURRENT: self._current}
        self._invited: list[int] = []
        self._chances: npt.NDArray[np.float64] = np.zeros(0)

    def draw(self) -> int:
        """The opponent of a new round."""
        if not self._invited or self._random.random() < self._config.self_prob:
            return CURRENT
        return int(self._random.choice(self._invited, p=self._chances))

    def played(self, number: int, finished: PlayedRound) -> None:
        """A round against that guest has ended, as the current policy saw it."""
        self.pool.played(number, SCORES.get(finished.result, 0.5))

    def consider(self, steps: int, behaviour: Behaviour) -> bool:
        """Let the current policy join the pool if it is ready, and choose who plays next; whether it joined."""
        joined, _ = self.pool.consider(self._current.network.state_dict(), steps, behaviour)
        self._invited, self._chances = self.pool.invite(INVITED, self._random)
        self._players = {number: player for number, player in self._players.items() if number in self.numbers}
        return joined is not None

    @property
    def numbers(self) -> set[int]:
        """Everybody there is."""
        return {CURRENT, *(member.number for member in self.pool.everyone)}

    def player(self, number: int) -> FramesPlayer:
        """An opponent by number."""
        if number not in self._players:
            # A copy, because a new network would draw random numbers: a resumed run makes it at another time.
            network = deepcopy(self._current.network)
            member = self.pool.of(number)
            assert member.weights is not None
            network.load_state_dict(member.weights)
            self._players[number] = FramesPlayer(network, member.name, self._config.frame_skip, greedy=False)
        return self._players[number]

    def state_dict(self) -> dict[str, Any]:
        """Everything, as tensors and plain values."""
        return {"pool": self.pool.state_dict(), "invited": list(self._invited), "chances": self._chances.tolist()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly there."""
        self.pool.load_state_dict(state["pool"])
        self._invited, self._chances = list(state["invited"]), np.array(state["chances"], np.float64)
        self._players = {CURRENT: self._current}


class Table:
    """The seats of some games for two, with a number for who sits there."""

    def __init__(self, games: int, opponents: Opponents):
        self.numbers = np.full((games, 2), CURRENT, np.int32)
        self.next_seat = 0  # of the next guest: guests sit in both alike
        self._opponents = opponents

    def deal(self, game: int) -> None:
        """Who plays the next round there."""
        self.numbers[game] = CURRENT
        guest = self._opponents.draw()
        if guest != CURRENT:
            self.numbers[game, self.next_seat] = guest
            self.next_seat = 1 - self.next_seat

    def stand_up(self) -> None:
        """In the seats of those who have left the pool the current policy goes on."""
        self.numbers[~np.isin(self.numbers, list(self._opponents.numbers))] = CURRENT

    def seats(self) -> Mask:
        """See `Guests.seats`."""
        return self.numbers != CURRENT

    def act(self, seen: Seen) -> npt.NDArray[np.int64]:
        """See `Guests.act`: one forward pass per guest, in however many games and in whichever seats."""
        who = self.numbers.T.flatten()
        actions = np.zeros(len(who), np.int64)
        for number in np.unique(who[who != CURRENT]).tolist():
            own = who == number
            actions[own] = self._opponents.player(number).decide({name: values[own] for name, values in seen.items()})
        return actions[who != CURRENT]

    def state_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"numbers": self.numbers.tolist(), "next_seat": self.next_seat}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly there."""
        self.numbers[:] = state["numbers"]
        self.next_seat = int(state["next_seat"])
