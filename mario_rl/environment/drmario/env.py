"""Dr. Mario as a single Gymnasium environment: one of the vector environment's lanes, without autoreset."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from mario_rl.environment.drmario.button_lanes import ButtonLanes
from mario_rl.environment.drmario.placement_lanes import PlacementLanes
from mario_rl.environment.drmario.reward import total
from mario_rl.environment.drmario.settings import Backend, ButtonSettings
from mario_rl.environment.one_lane import seen_by_one, told_about_one
from mario_rl.environment.rendering import FRAMES_PER_SECOND, RENDER_MODES, check_render_mode

__all__ = ["DrMarioEnv"]

ONE_LANE = np.ones(1, np.bool_)


class LaneEnv(gymnasium.Env[Any, Any]):
    """A single environment on a lane of either kind."""

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": FRAMES_PER_SECOND}  # noqa: RUF012  Gymnasium's own

    def __init__(self, lane: ButtonLanes | PlacementLanes, render_mode: str | None):
        self.render_mode = render_mode
        self.lanes = lane
        self.settings = lane.settings
        self.observation_space = lane.observation_space
        self.action_space = lane.action_space
        self._seeded = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a new episode; `options` may fix "level", "speed" and "game_seed" for it."""
        super().reset(seed=seed)
        if seed is not None or not self._seeded:
            self.lanes.seed(0, self.np_random)
            self._seeded = True
        self.lanes.reset(ONE_LANE, options)
        return seen_by_one(self.lanes.observe(), 0), told_about_one(self.lanes.info(None, None))

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play one step."""
        terms, outcome = self.lanes.step(self.lanes.checked(np.asarray(action)[None]))
        info = told_about_one(self.lanes.info(outcome, terms))
        seen = seen_by_one(self.lanes.observe(), 0)
        return seen, float(total(terms)[0]), bool(outcome.terminated[0]), bool(outcome.truncated[0]), info

    def draw_from(self, level: object, speed: object = "med") -> None:
        """From the next episode on, draw levels and speeds from these (one or a list): the means of a curriculum."""
        self.lanes.draw_from(level, speed)

    def render(self) -> npt.NDArray[np.uint8] | None:
        """A picture, uint8[240, 256, 3], if `render_mode` is "rgb_array": the console's, or one drawn from the RAM."""
        return None if self.render_mode is None else self.lanes.frame(0)

    def close(self) -> None:
        """Release the game."""
        self.lanes.close()


class DrMarioEnv(LaneEnv):
    """One game in which the agent presses buttons. `backend` and `settings`: see `ButtonSettings`."""

    def __init__(self, backend: Backend = "rules", *, render_mode: str | None = None, **settings: Any):
        check_render_mode(render_mode)
        chosen = ButtonSettings(backend=backend, **settings)
        super().__init__(ButtonLanes(1, chosen, draw=render_mode is not None, alone=True), render_mode)
