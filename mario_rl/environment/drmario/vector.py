"""Dr. Mario as Gymnasium vector environments: n lanes, one native call a step.

Autoreset mode: SAME_STEP. A step that ends a lane's episode returns the first observation of its next one; the last
observation and info of the ended one are in `infos["final_obs"]` and `infos["final_info"]`, as Gymnasium has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from mario_rl.environment.drmario.button_lanes import ButtonLanes
from mario_rl.environment.drmario.memory import Mask
from mario_rl.environment.drmario.observation import Seen, seen_by_one
from mario_rl.environment.drmario.placement_lanes import PlacementLanes
from mario_rl.environment.drmario.reward import total
from mario_rl.environment.drmario.settings import ButtonSettings, PlacementSettings, whole_number

FRAMES_PER_SECOND = 60
RENDER_MODES = ("rgb_array",)

Array = npt.NDArray[Any]


def check_render_mode(render_mode: str | None) -> None:
    """Complain about a render mode we do not have."""
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise ValueError(f"unknown render_mode {render_mode!r}; use {', '.join(RENDER_MODES)} or None")


class LanesVectorEnv(VectorEnv[Any, Array, Array]):
    """A vector environment on lanes of either kind.

    Lane i of `reset(seed=s)` plays exactly as a single environment does after `reset(seed=s + i)`.
    """

    metadata = {  # noqa: RUF012  Gymnasium's own declaration
        "render_modes": list(RENDER_MODES),
        "render_fps": FRAMES_PER_SECOND,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(self, lanes: ButtonLanes | PlacementLanes, render_mode: str | None):
        self.render_mode = render_mode
        self.num_envs = lanes.lanes
        self.lanes = lanes
        self.settings = lanes.settings
        self.single_observation_space = lanes.observation_space
        self.single_action_space = lanes.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._all = np.ones(self.num_envs, np.bool_)
        self._all.flags.writeable = False
        self._seeded = False

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Start new episodes in all lanes, or in those of `options["reset_mask"]` (bool[num_envs]).

        `options` may also fix "level", "speed" and "game_seed" for these episodes.
        """
        lanes = self._lanes_to_reset(options)
        self._seed(seed)
        self.lanes.reset(lanes, options)
        return self.lanes.observe(), _masked(self.lanes.info(None, None), lanes)

    def step(self, actions: Array) -> tuple[Seen, Array, Array, Array, dict[str, Any]]:
        """Play one step in every lane; lanes whose episode ends are reset in the same step."""
        terms, outcome = self.lanes.step(self.lanes.checked(actions))
        reward = total(terms)
        info = self.lanes.info(outcome, terms)
        seen = self.lanes.observe()
        if not outcome.any_ended:
            return seen, reward, outcome.terminated, outcome.truncated, _masked(info, self._all)

        ended = outcome.terminated | outcome.truncated
        final_obs = np.full(self.num_envs, None, dtype=object)
        for lane in np.flatnonzero(ended).tolist():
            final_obs[lane] = seen_by_one(seen, lane)
        self.lanes.reset(ended)
        _replace(seen, ended, self.lanes.observe(ended))
        infos = _masked(self.lanes.info(None, terms), self._all)
        infos["final_obs"], infos["_final_obs"] = final_obs, ended
        infos["final_info"], infos["_final_info"] = _masked(info, ended), ended
        return seen, reward, outcome.terminated, outcome.truncated, infos

    def draw_from(self, level: object, speed: object = "med") -> None:
        """From the next episode on, draw levels and speeds from these (one or a list): the means of a curriculum."""
        self.lanes.draw_from(level, speed)

    def current_observation(self) -> Seen:
        """What all lanes see now, as the last `reset` or `step` returned it."""
        return self.lanes.observe()

    def state_dict(self) -> dict[str, Any]:
        """The exact state of the running games and of all randomness; loads with `torch.load(weights_only=True)`."""
        return self.lanes.state_dict() | {"seeded": self._seeded}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken, without a reset: `current_observation` is what the agent sees.

        A ValueError, and no change, if the state is of other settings or another number of lanes.
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


class DrMarioVectorEnv(LanesVectorEnv):
    """n lanes in which the agent presses buttons (`settings`: see `ButtonSettings`)."""

    def __init__(self, num_envs: int = 1, *, threads: int = 1, render_mode: str | None = None, **settings: Any):
        check_render_mode(render_mode)
        _check_counts(num_envs, threads)
        lanes = ButtonLanes(num_envs, ButtonSettings(**settings), threads, draw=render_mode is not None)
        super().__init__(lanes, render_mode)


class DrMarioPlacementVectorEnv(LanesVectorEnv):
    """n lanes in which the agent chooses where capsules go (`settings`: see `PlacementSettings`)."""

    lanes: PlacementLanes

    def __init__(self, num_envs: int = 1, *, threads: int = 1, render_mode: str | None = None, **settings: Any):
        check_render_mode(render_mode)
        _check_counts(num_envs, threads)
        lanes = PlacementLanes(num_envs, PlacementSettings(**settings), threads, draw=render_mode is not None)
        super().__init__(lanes, render_mode)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """bool[num_envs, actions]: what can be chosen now."""
        return self.lanes.action_masks()


def _check_counts(num_envs: int, threads: int) -> None:
    whole_number("num_envs", num_envs, 1, 2**20)
    whole_number("threads", threads, 1, 2**10)


def _masked(info: dict[str, Any], lanes: Mask) -> dict[str, Any]:
    """With Gymnasium's `_key` beside each key: the lanes it is meant for."""
    return info | {"_" + key: lanes for key in info}


def _replace(seen: Seen, lanes: Mask, fresh: Seen) -> None:
    """Put the masked lanes' new observations among the others."""
    if isinstance(seen, dict) and isinstance(fresh, dict):
        for name, values in seen.items():
            values[lanes] = fresh[name]
    elif not isinstance(seen, dict) and not isinstance(fresh, dict):
        seen[lanes] = fresh
