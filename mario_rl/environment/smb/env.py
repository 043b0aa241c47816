"""Super Mario Bros. as a single Gymnasium environment: one of the vector environment's lanes, without autoreset."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from mario_rl.environment.one_lane import told_about_one
from mario_rl.environment.rendering import FRAMES_PER_SECOND, RENDER_MODES, check_render_mode
from mario_rl.environment.smb.episode import Outcome
from mario_rl.environment.smb.lanes import SmbLanes
from mario_rl.environment.smb.settings import SmbSettings
from mario_rl.environment.smb.starts import Starts

__all__ = ["SmbEnv"]

Array = npt.NDArray[Any]


class SmbEnv(gymnasium.Env[Array, np.int64]):
    """One game of Super Mario Bros. `settings`: see `SmbSettings`."""

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": FRAMES_PER_SECOND}  # noqa: RUF012  Gymnasium's own

    def __init__(self, *, render_mode: str | None = None, starts: Starts | None = None, **settings: Any):
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.settings = SmbSettings(**settings)
        self.lanes = SmbLanes(1, self.settings, draw=render_mode is not None, starts=starts)
        self.observation_space = self.lanes.observation_space
        self.action_space = self.lanes.action_space
        self._lane = np.ones(1, np.bool_)
        self._seeded = False
        self._ended: Outcome | None = None  # the last step, if the episode ended with it

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Start a new episode.

        A curriculum may want it to begin where the last one ended badly; a seed, or `options["fresh"]`, makes it forget
        how that ended.
        """
        super().reset(seed=seed)
        if seed is not None or not self._seeded:
            self.lanes.seed(0, self.np_random)
            self._seeded = True
        forget = seed is not None or bool((options or {}).get("fresh"))
        self.lanes.restart(self._lane, None if forget else self._ended)
        self._ended = None
        return self.lanes.observe()[0], told_about_one(self.lanes.info(None))

    def step(self, action: np.int64) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Play one step."""
        if not self.action_space.contains(action):
            raise ValueError(f"an action is a number from 0 to {len(self.lanes.pad_table) - 1}, not {action!r}")
        reward, outcome = self.lanes.step(np.array([action]))
        self._ended = outcome if outcome.any_ended else None
        info = told_about_one(self.lanes.info(outcome))
        observation = self.lanes.observe()[0]
        return observation, float(reward[0]), bool(outcome.terminated[0]), bool(outcome.truncated[0]), info

    def render(self) -> npt.NDArray[np.uint8] | None:
        """The screen, uint8[240, 256, 3], if `render_mode` is "rgb_array"."""
        return None if self.render_mode is None else self.lanes.frame(0)

    def close(self) -> None:
        """Free the console."""
        self.lanes.close()
