"""The games of the agent that presses buttons as Stable-Baselines3 wants them: a VecEnv.

It is made of parts, vector environments of one kind each (alone, or against somebody, in either seat), whose lanes it
lines up. SB3 learns from `infos[i]`: the last observation of an episode that ended is its "terminal_observation", and
"TimeLimit.truncated" says that its value is to be bootstrapped, because nothing but time ended it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv

from mario_rl.environment.drmario.button_lanes import ButtonLanes
from mario_rl.environment.drmario.episode import Outcome
from mario_rl.environment.drmario.memory import Mask
from mario_rl.environment.drmario.reward import total
from mario_rl.environment.drmario.vector import DrMarioVectorEnv
from mario_rl.selfplay.frames.observation import SPACE, Seen, look


@dataclass(frozen=True)
class PlayedRound:
    """A round that ended."""

    part: int
    lane: int  # of the part
    level: int
    result: str  # of RESULTS; "" if it was truncated
    capsules: int
    viruses: int  # cleared
    frames: int
    sent: int  # pieces of garbage
    height: float  # average of the columns at the end


class FramesVecEnv(VecEnv):
    """`on_round` hears of every round that ended, before the next one begins in its lane."""

    def __init__(self, parts: Sequence[DrMarioVectorEnv], on_round: Callable[[PlayedRound], None]):
        self.parts = list(parts)
        self._lanes = [_button_lanes(part) for part in parts]
        self._on_round = on_round
        self._actions: npt.NDArray[Any] = np.zeros(0, np.int64)
        super().__init__(sum(part.num_envs for part in parts), SPACE, self._lanes[0].action_space)

    def reset(self) -> Seen:
        """Start anew everywhere; the seed given to `seed` before counts."""
        first = self._seeds[0]
        for part in self.parts:
            part.reset(seed=first)
            first = None if first is None else first + part.num_envs
        self._reset_seeds()
        self._reset_options()
        return self.seen()

    def seen(self) -> Seen:
        """What the agent sees now, in all lanes."""
        return _joined([look(lanes.game, lanes.seat) for lanes in self._lanes])

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Remember what to press."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, npt.NDArray[np.float32], Mask, list[dict[str, Any]]]:
        """Play a step in every lane; where it ends a round the next one begins."""
        seen, rewards, ended = [], [], []
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        first = 0
        for number, lanes in enumerate(self._lanes):
            terms, outcome = lanes.step(lanes.checked(self._actions[first : first + lanes.lanes]))
            now = look(lanes.game, lanes.seat)
            over = outcome.terminated | outcome.truncated
            if outcome.any_ended:
                for lane in np.flatnonzero(over).tolist():
                    last = {name: values[lane].copy() for name, values in now.items()}
                    infos[first + lane] = {
                        "terminal_observation": last,
                        "TimeLimit.truncated": bool(outcome.truncated[lane]),
                    }
                self._report(number, lanes, outcome, over)
                lanes.reset(over)
                fresh = look(lanes.masked_memory(over), lanes.seat)
                for name, values in now.items():
                    values[over] = fresh[name]
            seen.append(now)
            rewards.append(total(terms))
            ended.append(over)
            first += lanes.lanes
        return _joined(seen), np.concatenate(rewards), np.concatenate(ended), infos

    def _report(self, part: int, lanes: ButtonLanes, outcome: Outcome, over: Mask) -> None:
        info = lanes.info(outcome, None)
        for lane in np.flatnonzero(over).tolist():
            finished = PlayedRound(
                part,
                lane,
                level=int(info["level"][lane]),
                result=str(info["result"][lane]),
                capsules=int(info["capsules"][lane]),
                viruses=int(info["viruses_cleared"][lane]),
                frames=int(info["frame"][lane]),
                sent=int(info["garbage_sent"][lane]),
                height=float(outcome.height[lane]),
            )
            self._on_round(finished)

    def draw_from(self, levels: Sequence[int], speed: str) -> None:
        """From the next round of each lane on, draw its level from these."""
        for part in self.parts:
            part.draw_from(list(levels), speed)

    def close(self) -> None:
        """Release the games."""
        for part in self.parts:
            part.close()

    # --- what SB3 asks of single environments, which there are none of ----------------------------------------------

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the lanes' vector environments."""
        owners = [part for part in self.parts for _ in range(part.num_envs)]
        return [getattr(owners[index], attr_name) for index in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Nothing can be set for single lanes."""
        raise AttributeError(f"the lanes have no {attr_name} of their own")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Nothing can be called for single lanes."""
        raise AttributeError(f"the lanes have no {method_name} of their own")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """None is."""
        return [False for _ in self._chosen(indices)]

    def _chosen(self, indices: int | Iterable[int] | None) -> Iterable[int]:
        return self._get_indices(indices)


def _button_lanes(part: DrMarioVectorEnv) -> ButtonLanes:
    lanes = part.lanes
    if not isinstance(lanes, ButtonLanes) or not isinstance(lanes.action_space, spaces.Discrete):
        raise ValueError("the agent presses the 12 discrete buttons")
    return lanes


def _joined(seen: list[Seen]) -> Seen:
    return seen[0] if len(seen) == 1 else {name: np.concatenate([part[name] for part in seen]) for name in seen[0]}
