"""The games of the agent that presses buttons as Stable-Baselines3 wants them: a VecEnv, one of whose rows is a seat.

It is made of parts, vector environments of one kind each: games for one, with a row a game, and games for two, with two
rows each, all first seats before all second ones. In a row whose seat a guest has taken (opponents.py), the action that
comes in does not count, and `learned` says that nothing can be learned from it.

SB3 learns from `infos[i]`: the last observation of an episode that ended is its "terminal_observation", and
"TimeLimit.truncated" says that its value is to be bootstrapped, because nothing but time ended it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv

from mario_rl.environment.drmario.button_lanes import ButtonLanes
from mario_rl.environment.drmario.episode import Outcome
from mario_rl.environment.drmario.memory import GameMemory, Mask
from mario_rl.environment.drmario.reward import total
from mario_rl.environment.drmario.vector import DrMarioVectorEnv
from mario_rl.selfplay.frames.observation import SPACE, Seen, look


@dataclass(frozen=True)
class PlayedRound:
    """A round that ended, as one seat saw it."""

    level: int
    result: str  # of RESULTS; "" if it was truncated
    capsules: int
    viruses: int  # cleared
    frames: int
    sent: int  # pieces of garbage
    height: float  # average of the columns at the end


class Guests(Protocol):
    """Others, who sit in some of the seats of games for two."""

    def seats(self) -> Mask:
        """bool[games, 2]: those they sit in."""

    def act(self, seen: Seen) -> npt.NDArray[np.int64]:
        """What they do in their seats, all first seats before all second ones; `seen` is of all seats, as ordered."""


Over = Callable[[int, int, list[PlayedRound]], None]
"""Hears of every round that ended, before the next one begins: the part, the game, and the round by seat."""


class Part:
    """Games of one kind, and the seats of them that are rows."""

    def __init__(self, env: DrMarioVectorEnv, guests: Guests | None = None):
        lanes = env.lanes
        if not isinstance(lanes, ButtonLanes) or not isinstance(lanes.action_space, spaces.Discrete):
            raise ValueError("the agent presses the 12 discrete buttons")
        self.env, self.lanes, self.guests = env, lanes, guests
        self.seats = list(range(lanes.settings.seats))
        self.rows = len(self.seats) * lanes.lanes

    def seen(self, games: Mask | None = None) -> Seen:
        """What is seen from the seats of all games, or of some."""
        memory = self.lanes.masked_memory(games)
        return joined([look(GameMemory(memory.ram), seat) for seat in self.seats])

    def guest_rows(self) -> Mask:
        """bool[rows]: where guests sit."""
        return np.zeros(self.rows, np.bool_) if self.guests is None else self.guests.seats().T.flatten()

    def step(self, actions: npt.NDArray[Any], seen: Seen) -> list[Outcome]:
        """Play a step with these actions, one a row, but for the guests'; what it did, by seat."""
        actions = np.array(actions)
        if self.guests is not None and (theirs := self.guest_rows()).any():
            actions[theirs] = self.guests.act(seen)
        self.lanes.step_seats(np.split(actions, len(self.seats)))
        return [self.lanes.outcome(seat) for seat in self.seats]


class FramesVecEnv(VecEnv):
    """The parts' rows, one part after the other."""

    def __init__(self, parts: Sequence[Part], on_over: Over):
        self.parts = list(parts)
        self.learned = np.ones(sum(part.rows for part in parts), np.bool_)
        """The rows of the last step that were the agent's own doing."""
        self._on_over = on_over
        self._seen: list[Seen] = []
        self._actions: npt.NDArray[Any] = np.zeros(0, np.int64)
        super().__init__(len(self.learned), SPACE, self.parts[0].lanes.action_space)

    def reset(self) -> Seen:
        """Start anew everywhere; the seed given to `seed` before counts."""
        first = self._seeds[0]
        for part in self.parts:
            part.env.reset(seed=first)
            first = None if first is None else first + part.env.num_envs
        self._reset_seeds()
        self._reset_options()
        return self.look()

    def look(self) -> Seen:
        """What is seen now, in all rows."""
        self._seen = [part.seen() for part in self.parts]
        return joined(self._seen)

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Remember what to press."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, npt.NDArray[np.float32], Mask, list[dict[str, Any]]]:
        """Play a step in every game; where it ends a round the next one begins."""
        rewards, ended = [], []
        infos: list[dict[str, Any]] = []
        self.learned = np.concatenate([~part.guest_rows() for part in self.parts])
        first = 0
        for number, part in enumerate(self.parts):
            outcomes = part.step(self._actions[first : first + part.rows], self._seen[number])
            self._seen[number] = now = part.seen()
            over = outcomes[0].terminated | outcomes[0].truncated  # for both seats at once
            everywhere = np.tile(over, len(part.seats))
            told: list[dict[str, Any]] = [{} for _ in range(part.rows)]
            if over.any():
                truncated = np.tile(outcomes[0].truncated, len(part.seats))
                for row in np.flatnonzero(everywhere).tolist():
                    last = {name: values[row].copy() for name, values in now.items()}
                    told[row] = {"terminal_observation": last, "TimeLimit.truncated": bool(truncated[row])}
                self._report(number, part, outcomes, over)
                part.lanes.reset(over)
                for name, values in part.seen(over).items():
                    now[name][everywhere] = values
            rewards += [total(part.lanes.terms(outcome)) for outcome in outcomes]
            ended.append(everywhere)
            infos += told
            first += part.rows
        return joined(self._seen), np.concatenate(rewards), np.concatenate(ended), infos

    def _report(self, number: int, part: Part, outcomes: list[Outcome], over: Mask) -> None:
        infos = [part.lanes.info(outcome, None, seat) for seat, outcome in zip(part.seats, outcomes, strict=True)]
        for game in np.flatnonzero(over).tolist():
            rounds = [
                PlayedRound(
                    level=int(info["level"][game]),
                    result=str(info["result"][game]),
                    capsules=int(info["capsules"][game]),
                    viruses=int(info["viruses_cleared"][game]),
                    frames=int(info["frame"][game]),
                    sent=int(info["garbage_sent"][game]),
                    height=float(outcome.height[game]),
                )
                for info, outcome in zip(infos, outcomes, strict=True)
            ]
            self._on_over(number, game, rounds)

    def draw_from(self, levels: Sequence[int], speed: str) -> None:
        """From the next round of each lane on, draw its level from these."""
        for part in self.parts:
            part.env.draw_from(list(levels), speed)

    def close(self) -> None:
        """Release the games."""
        for part in self.parts:
            part.env.close()

    # --- what SB3 asks of single environments, which there are none of ----------------------------------------------

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the rows' vector environments."""
        owners = [part.env for part in self.parts for _ in range(part.rows)]
        return [getattr(owners[index], attr_name) for index in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Nothing can be set for single rows."""
        raise AttributeError(f"the rows have no {attr_name} of their own")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Nothing can be called for single rows."""
        raise AttributeError(f"the rows have no {method_name} of their own")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """None is."""
        return [False for _ in self._chosen(indices)]

    def _chosen(self, indices: int | Iterable[int] | None) -> Iterable[int]:
        return self._get_indices(indices)


def joined(seen: list[Seen]) -> Seen:
    """Observations one after the other."""
    return seen[0] if len(seen) == 1 else {name: np.concatenate([part[name] for part in seen]) for name in seen[0]}
