"""n lanes of a game as a Gymnasium vector environment: what is the same for every game.

Autoreset mode: SAME_STEP. A step that ends a lane's episode returns the first observation of its next one; the last
observation and info of the ended one are in `infos["final_obs"]` and `infos["final_info"]`, as Gymnasium has it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from mario_rl.environment.checks import checked_actions, whole_number
from mario_rl.environment.one_lane import Info, Seen, seen_by_one
from mario_rl.environment.rendering import FRAMES_PER_SECOND, RENDER_MODES, check_render_mode

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


class Outcome(Protocol):
    """What a step did, as far as it matters here."""

    terminated: Mask
    truncated: Mask
    any_ended: bool


class Lanes(Protocol):
    """n games that are played together."""

    lanes: int

    @property
    def settings(self) -> Any:
        """What the environment was made with."""

    @property
    def observation_space(self) -> spaces.Space[Any]:
        """Of one lane."""

    @property
    def action_space(self) -> spaces.Discrete | spaces.MultiDiscrete:
        """Of one lane."""

    def seed(self, lane: int, generator: np.random.Generator) -> None:
        """Start a lane's own stream of random numbers from this generator."""

    def observe(self) -> Any:
        """What all lanes see now, as arrays of their own."""

    def first_observations(self, lanes: Mask) -> Any:
        """What the masked lanes see, whose episodes have just begun."""

    def state_dict(self) -> dict[str, Any]:
        """The exact state of all lanes: text, numbers and bytes."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where that was taken; a ValueError, and no change, if it is of something else."""

    def frame(self, lane: int) -> npt.NDArray[np.uint8]:
        """A picture of a lane, uint8[240, 256, 3]."""

    def close(self) -> None:
        """Release the games."""


class LanesVectorEnv(VectorEnv[Any, Array, Array], ABC):
    """A vector environment on the lanes of some game; subclasses say how they begin and play.

    Lane i of `reset(seed=s)` plays exactly as a single environment does after `reset(seed=s + i)`.
    """

    metadata = {  # noqa: RUF012  Gymnasium's own declaration
        "render_modes": list(RENDER_MODES),
        "render_fps": FRAMES_PER_SECOND,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }
    lanes: Lanes

    def __init__(self, lanes: Lanes, render_mode: str | None):
        self.render_mode = render_mode
        self.num_envs = lanes.lanes
        self.settings = lanes.settings
        self.single_observation_space = lanes.observation_space
        self.single_action_space = lanes.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.lanes = lanes
        self._all = np.ones(self.num_envs, np.bool_)
        self._all.flags.writeable = False
        self._seeded = False

    @abstractmethod
    def _begin(self, lanes: Mask, outcome: Any, options: Info | None) -> None:
        """Begin new episodes in the masked lanes; `outcome` is the step that ended them, None in a reset."""

    @abstractmethod
    def _play(self, actions: Array) -> tuple[Array, Outcome]:
        """Play one step in every lane; returns rewards and outcome. Ended episodes are left as they ended."""

    @abstractmethod
    def _info(self, outcome: Any) -> Info:
        """What is told about all lanes, one array a key; `outcome` is None for lanes that have just begun."""

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start new episodes in all lanes, or in those of `options["reset_mask"]` (bool[num_envs])."""
        lanes = self._lanes_to_reset(options)
        self._seed(seed)
        self._begin(lanes, None, options)
        return self.lanes.observe(), _masked(self._info(None), lanes)

    def step(self, actions: Array) -> tuple[Any, Array, Array, Array, dict[str, Any]]:
        """Play one step in every lane; lanes whose episode ends are reset in the same step."""
        reward, outcome = self._play(checked_actions(actions, self.num_envs, self.lanes.action_space))
        info = self._info(outcome)
        seen = self.lanes.observe()
        if not outcome.any_ended:
            return seen, reward, outcome.terminated, outcome.truncated, _masked(info, self._all)

        ended = outcome.terminated | outcome.truncated
        final_obs = np.full(self.num_envs, None, dtype=object)
        for lane in np.flatnonzero(ended).tolist():
            final_obs[lane] = seen_by_one(seen, lane)
        self._begin(ended, outcome, None)
        _replace(seen, ended, self.lanes.first_observations(ended))
        infos = _masked(self._info(None), self._all)
        infos["final_obs"], infos["_final_obs"] = final_obs, ended
        infos["final_info"], infos["_final_info"] = _masked(info, ended), ended
        return seen, reward, outcome.terminated, outcome.truncated, infos

    def current_observation(self) -> Any:
        """What all lanes see now, as the last `reset` or `step` returned it."""
        return self.lanes.observe()

    def state_dict(self) -> dict[str, Any]:
        """The exact state of the running games and of all randomness; loads with `torch.load(weights_only=True)`."""
        return self.lanes.state_dict() | {"seeded": self._seeded}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken, without a reset: `current_observation` is what the agent sees.

        A ValueError, and no change, if the state is of other settings or another number of lanes. `render` shows
        consoles that were loaded from the next step on: loading a state draws nothing.
        """
        self.lanes.load_state_dict(state)
        self._seeded = bool(state["seeded"])

    def render(self) -> tuple[npt.NDArray[np.uint8], ...] | None:
        """A picture of every lane, if `render_mode` is "rgb_array"."""
        if self.render_mode is None:
            return None
        return tuple(self.lanes.frame(lane) for lane in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Release the games."""
        self.lanes.close()

    def _seed(self, seed: int | list[int | None] | None) -> None:
        """Give lane i the stream of seed + i; without a seed the streams go on (the first time: from fresh entropy)."""
        if seed is None and self._seeded:
            return
        if isinstance(seed, int):
            seeds: list[int | None] = [seed + lane for lane in range(self.num_envs)]
        else:
            seeds = seed if seed is not None else [None] * self.num_envs
        if len(seeds) != self.num_envs:
            raise ValueError(f"a list of seeds needs one for each of the {self.num_envs} lanes, not {len(seeds)}")
        for lane, lane_seed in enumerate(seeds):
            if lane_seed is not None or not self._seeded:
                self.lanes.seed(lane, seeding.np_random(lane_seed)[0])
        self._seeded = True

    def _lanes_to_reset(self, options: dict[str, Any] | None) -> Mask:
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return self._all
        lanes = np.asarray(mask)
        if lanes.shape != (self.num_envs,) or lanes.dtype != np.bool_ or not lanes.any():
            raise ValueError(f'options["reset_mask"] is {self.num_envs} booleans with at least one True, not {mask!r}')
        return lanes


def check_construction(num_envs: int, threads: int, render_mode: str | None) -> None:
    """Complain about what every vector environment is made with, before anything is opened."""
    check_render_mode(render_mode)
    whole_number("num_envs", num_envs, 1, 2**20)
    whole_number("threads", threads, 1, 2**10)


def _masked(info: Info, lanes: Mask) -> Info:
    """With Gymnasium's `_key` beside each key: the lanes it is meant for."""
    return info | {"_" + key: lanes for key in info}


def _replace(seen: Seen, lanes: Mask, fresh: Seen) -> None:
    """Put the masked lanes' new observations among the others."""
    if isinstance(seen, dict) and isinstance(fresh, dict):
        for name, values in seen.items():
            values[lanes] = fresh[name]
    elif not isinstance(seen, dict) and not isinstance(fresh, dict):
        seen[lanes] = fresh
