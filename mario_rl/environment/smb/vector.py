"""Super Mario Bros. as a Gymnasium vector environment: n lanes, one native call a step.

Autoreset mode: SAME_STEP. A step that ends a lane's episode returns the first observation of its next one; the last
observation and info of the ended one are in `infos["final_obs"]` and `infos["final_info"]`, as Gymnasium has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from mario_rl.environment.smb.lanes import SmbLanes
from mario_rl.environment.smb.memory import Mask
from mario_rl.environment.smb.settings import SmbSettings
from mario_rl.environment.smb.starts import Starts

FRAMES_PER_SECOND = 60
RENDER_MODES = ("rgb_array",)

Array = npt.NDArray[Any]


def check_render_mode(render_mode: str | None) -> None:
    """Complain about a render mode we do not have."""
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise ValueError(f"unknown render_mode {render_mode!r}; use {', '.join(RENDER_MODES)} or None")


class SmbVectorEnv(VectorEnv[Array, Array, Array]):
    """n lanes of Super Mario Bros. (`settings`: see `SmbSettings`; `starts`: a curriculum, see `starts.py`).

    Lane i of `reset(seed=s)` plays exactly as a single environment does after `reset(seed=s + i)`.
    """

    metadata = {  # noqa: RUF012  Gymnasium's own declaration
        "render_modes": list(RENDER_MODES),
        "render_fps": FRAMES_PER_SECOND,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        *,
        threads: int = 1,
        render_mode: str | None = None,
        starts: Starts | None = None,
        **settings: Any,
    ):
        check_render_mode(render_mode)
        for name, count in (("num_envs", num_envs), ("threads", threads)):
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise ValueError(f"{name} is a whole number from 1 on, not {count!r}")
        self.render_mode = render_mode
        self.num_envs = num_envs
        self.settings = SmbSettings(**settings)
        self.lanes = SmbLanes(num_envs, self.settings, threads, draw=render_mode is not None, starts=starts)
        self.single_observation_space = self.lanes.observation.space
        self.single_action_space = spaces.Discrete(len(self.lanes.pad_table))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._all = np.ones(num_envs, np.bool_)
        self._all.flags.writeable = False
        self._seeded = False

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start new episodes in all lanes, or in those of `options["reset_mask"]` (bool[num_envs])."""
        lanes = self._lanes_to_reset(options)
        self._seed(seed)
        self.lanes.restart(lanes, None)
        return self.lanes.observation.read(), self._masked(self.lanes.info(None), lanes)

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Play one step in every lane; lanes whose episode ends are reset in the same step."""
        reward, outcome = self.lanes.step(self._checked(actions))
        info = self.lanes.info(outcome)
        observation = self.lanes.observation.read()
        if not outcome.any_ended:
            return observation, reward, outcome.terminated, outcome.truncated, self._masked(info, self._all)

        ended = outcome.terminated | outcome.truncated
        self.lanes.restart(ended, outcome)
        final_obs = np.full(self.num_envs, None, dtype=object)
        for lane in np.flatnonzero(ended).tolist():
            final_obs[lane] = observation[lane].copy()
            observation[lane] = self.lanes.first_observation(lane)
        infos = self._masked(self.lanes.info(None), self._all)
        infos["final_obs"], infos["_final_obs"] = final_obs, ended
        infos["final_info"], infos["_final_info"] = self._masked(info, ended), ended
        return observation, reward, outcome.terminated, outcome.truncated, infos

    def current_observation(self) -> Array:
        """What all lanes see now, as the last `reset` or `step` returned it."""
        return self.lanes.observation.read()

    def state_dict(self) -> dict[str, Any]:
        """The exact state of the running games and of all randomness; loads with `torch.load(weights_only=True)`."""
        return self.lanes.state_dict() | {"seeded": self._seeded}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken, without a reset: `current_observation` is what the agent sees.

        A ValueError, and no change, if the state is of other settings or another number of lanes. `render` shows
        the loaded games from the next step on: loading a state draws nothing.
        """
        self.lanes.load_state_dict(state)
        self._seeded = bool(state["seeded"])

    def render(self) -> tuple[npt.NDArray[np.uint8], ...] | None:
        """The screen of every lane, if `render_mode` is "rgb_array"."""
        if self.render_mode is None:
            return None
        return tuple(self.lanes.frame(lane) for lane in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Free the consoles."""
        self.lanes.close()

    def _checked(self, actions: Array) -> Array:
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise ValueError(f"actions are {self.num_envs} whole numbers, not {actions.dtype} of shape {actions.shape}")
        if actions.astype(np.uint64, copy=False).max() >= len(self.lanes.pad_table):  # negative ones become large
            raise ValueError(f"actions are numbers from 0 to {len(self.lanes.pad_table) - 1}, not {actions.tolist()}")
        return actions

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

    @staticmethod
    def _masked(info: dict[str, Any], lanes: Mask) -> dict[str, Any]:
        """With Gymnasium's `_key` beside each key: the lanes it is meant for."""
        return info | {"_" + key: lanes for key in info}
