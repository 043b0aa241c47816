"""A route played in an environment: what an agent would have seen and pressed, and the states along the way."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mario_rl.environment.smb.lanes import SmbLanes
from mario_rl.environment.smb.settings import SmbSettings
from mario_rl.snapshots.routes import STEP_FRAMES, Route, RouteError

__all__ = ["Demonstration", "demonstrate"]


@dataclass(frozen=True)
class Demonstration:
    """One route through a level, step by step."""

    level: str
    observations: npt.NDArray[Any]
    """What was seen before each step."""
    actions: npt.NDArray[np.int64]
    """What was pressed."""
    states: tuple[bytes, ...]
    """The console before each step."""
    places: tuple[tuple[int, int, int], ...]
    """Area, x and y before each step."""

    def __len__(self) -> int:
        return len(self.actions)


def demonstrate(route: Route, settings: SmbSettings) -> Demonstration:
    """Play the route as an agent with these settings would have; a RouteError if it cannot, or does not arrive."""
    if settings.frame_skip != STEP_FRAMES:
        raise RouteError(f"routes are made of steps of {STEP_FRAMES} frames, not of {settings.frame_skip}")
    plain = dataclasses.replace(settings, level=route.level, sticky=0.0, noop_max=0, stuck_steps=None, max_steps=None)
    lanes = SmbLanes(1, plain)
    try:
        return _play(route, lanes)
    finally:
        lanes.close()


def _play(route: Route, lanes: SmbLanes) -> Demonstration:
    number_of = {int(pad): number for number, pad in enumerate(lanes.pad_table)}
    pads = route.level_pads()
    lanes.reset(np.ones(1, np.bool_))
    begin = int(lanes.console.frames[0])
    observations, actions, states, places = [], [], [], []
    while True:
        step = (int(lanes.console.frames[0]) - begin) // STEP_FRAMES  # waits count as steps without a pad
        if step >= len(pads):
            raise RouteError(f"the route through {route.level} does not lead to its end here")
        if pads[step] not in number_of:
            raise RouteError(f"the route through {route.level} presses buttons that --actions does not have")
        observations.append(lanes.observation.read_lane(0))
        actions.append(number_of[pads[step]])
        states.append(lanes.console.save(0))
        places.append((int(lanes.episodes.area[0]), int(lanes.episodes.x[0]), int(lanes.game.y()[0])))
        _, outcome = lanes.step(np.array(actions[-1:]))
        if outcome.any_ended:
            if not outcome.flag[0]:
                raise RouteError(f"the route through {route.level} does not lead to its end here")
            seen, pressed = np.stack(observations), np.array(actions, np.int64)
            return Demonstration(route.level, seen, pressed, tuple(states), tuple(places))
