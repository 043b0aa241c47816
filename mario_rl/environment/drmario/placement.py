"""Dr. Mario as a single Gymnasium environment in which a step is a capsule: the agent chooses where it goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mario_rl.environment.drmario.env import LaneEnv
from mario_rl.environment.drmario.placement_lanes import PlacementLanes
from mario_rl.environment.drmario.settings import Backend, PlacementSettings
from mario_rl.environment.rendering import check_render_mode

__all__ = ["DrMarioPlacementEnv"]


class DrMarioPlacementEnv(LaneEnv):
    """One game in which the agent chooses placements. `backend` and `settings`: see `PlacementSettings`."""

    lanes: PlacementLanes

    def __init__(self, backend: Backend = "rules", *, render_mode: str | None = None, **settings: Any):
        check_render_mode(render_mode)
        chosen = PlacementSettings(backend=backend, **settings)
        lane = PlacementLanes(1, chosen, draw=render_mode is not None, alone=True)
        super().__init__(lane, render_mode)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """bool[actions]: what can be chosen now, under the name sb3-contrib's MaskablePPO looks for."""
        return self.lanes.action_masks()[0]
