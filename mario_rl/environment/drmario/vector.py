"""Dr. Mario as Gymnasium vector environments: n lanes, one native call a step."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mario_rl.environment.drmario.button_lanes import ButtonLanes
from mario_rl.environment.drmario.episode import Outcome
from mario_rl.environment.drmario.memory import Mask
from mario_rl.environment.drmario.placement_lanes import PlacementLanes
from mario_rl.environment.drmario.reward import Floats, total
from mario_rl.environment.drmario.settings import ButtonSettings, PlacementSettings
from mario_rl.environment.one_lane import Info
from mario_rl.environment.vector import Array, LanesVectorEnv, check_construction

__all__ = ["DrMarioPlacementVectorEnv", "DrMarioVectorEnv"]


class DrMarioLanesVectorEnv(LanesVectorEnv):
    """On lanes of either kind. `reset`'s `options` may also fix "level", "speed" and "game_seed" for its episodes."""

    lanes: ButtonLanes | PlacementLanes
    _terms: dict[str, Floats] | None = None  # of the last step's rewards

    def draw_from(self, level: object, speed: object = "med") -> None:
        """From the next episode on, draw levels and speeds from these (one or a list): the means of a curriculum."""
        self.lanes.draw_from(level, speed)

    def _begin(self, lanes: Mask, outcome: Outcome | None, options: Info | None) -> None:
        if outcome is None:
            self._terms = None
        self.lanes.reset(lanes, options)

    def _play(self, actions: Array) -> tuple[Array, Outcome]:
        self._terms, outcome = self.lanes.step(actions)
        return total(self._terms), outcome

    def _info(self, outcome: Outcome | None) -> Info:
        return self.lanes.info(outcome, self._terms)


class DrMarioVectorEnv(DrMarioLanesVectorEnv):
    """n lanes in which the agent presses buttons (`settings`: see `ButtonSettings`)."""

    def __init__(self, num_envs: int = 1, *, threads: int = 1, render_mode: str | None = None, **settings: Any):
        check_construction(num_envs, threads, render_mode)
        lanes = ButtonLanes(num_envs, ButtonSettings(**settings), threads, draw=render_mode is not None)
        super().__init__(lanes, render_mode)


class DrMarioPlacementVectorEnv(DrMarioLanesVectorEnv):
    """n lanes in which the agent chooses where capsules go (`settings`: see `PlacementSettings`)."""

    lanes: PlacementLanes

    def __init__(self, num_envs: int = 1, *, threads: int = 1, render_mode: str | None = None, **settings: Any):
        check_construction(num_envs, threads, render_mode)
        lanes = PlacementLanes(num_envs, PlacementSettings(**settings), threads, draw=render_mode is not None)
        super().__init__(lanes, render_mode)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """bool[num_envs, actions]: what can be chosen now."""
        return self.lanes.action_masks()
