"""Progress along a route, instead of to the right.

x alone leads astray: over the ceiling of 1-2 it is further to the right than through the pipe that leads on, and mazes
go back and forth. Who follows a route is paid for the pixels of the route that are newly reached, wherever they lead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mario_rl.snapshots.demonstration import Demonstration

NEAR_X, NEAR_Y = 16, 32  # pixels from a place of the route at which it counts as reached
# Steps of the route that a detour may skip. A loop of the mazes is longer: to run it again is no progress.
AHEAD = 64

Ints = npt.NDArray[np.int64]


class RouteProgress:
    """How far along its route each lane is."""

    def __init__(self, demonstrations: Sequence[Demonstration], lanes: int):
        places = [np.array(each.places, np.int64).reshape(-1, 3) for each in demonstrations]
        # Behind each route AHEAD places that are nowhere, so that looking ahead never sees the next one.
        nowhere = np.full((AHEAD, 3), -(10**6))
        self._places = np.concatenate([part for route in places for part in (route, nowhere)])  # area, x, y
        lengths = [_travelled(part) for route in places for part in (route, nowhere)]
        self._pixels = np.concatenate(lengths).cumsum()  # from the first route's start on
        starts = np.cumsum([0, *(len(route) + AHEAD for route in places)])
        self._first = {each.level: int(start) for each, start in zip(demonstrations, starts, strict=False)}
        self.reached = np.zeros(lanes, np.int64)  # the furthest place so far, of all routes

    def begin(self, lane: int, level: str, step: int) -> None:
        """A lane stands where the route through this level is after so many steps."""
        self.reached[lane] = self._first[level] + step

    def step(self, lane: int, level: str) -> int:
        """The furthest step of the route through this level that a lane has reached."""
        return int(self.reached[lane]) - self._first[level]

    def advance(self, area: npt.NDArray[Any], x: npt.NDArray[Any], y: npt.NDArray[Any]) -> Ints:
        """All lanes moved; the pixels of their routes that are newly reached."""
        window = self.reached[:, None] + np.arange(AHEAD)
        theirs = self._places[window]
        here = (theirs[..., 0] == area[:, None]) & (np.abs(theirs[..., 1] - x[:, None]) <= NEAR_X)
        here &= np.abs(theirs[..., 2] - y[:, None]) <= NEAR_Y
        further = AHEAD - 1 - here[:, ::-1].argmax(axis=1)  # the last place of the window that is near ...
        moved = self.reached + np.where(here.any(axis=1), further, 0)  # ... if one is
        gained = self._pixels[moved] - self._pixels[self.reached]
        self.reached[:] = moved
        return gained


def _travelled(places: Ints) -> Ints:
    """Pixels from each place to the next, sideways; nothing from one area to the next."""
    same_area = np.diff(places[:, 0], prepend=places[:1, 0]) == 0
    return np.abs(np.diff(places[:, 1], prepend=places[:1, 1])) * same_area
