"""Progress along a route: checked against a plain account, place by place."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mario_rl.snapshots.demonstration import Demonstration
from mario_rl.snapshots.route_progress import AHEAD, NEAR_X, NEAR_Y, RouteProgress

Place = tuple[int, int, int]


def shown(level: str, places: list[Place]) -> Demonstration:
    nothing = np.zeros(len(places), np.int64)
    return Demonstration(level, nothing, nothing, (b"",) * len(places), tuple(places))


def plain_account(places: list[Place], at: int, here: Place) -> tuple[int, int]:
    """Where a lane is on the route after it moved here, and the pixels of the route on the way there."""
    reached = at
    for step in range(at, min(at + AHEAD, len(places))):
        area, x, y = places[step]
        if area == here[0] and abs(x - here[1]) <= NEAR_X and abs(y - here[2]) <= NEAR_Y:
            reached = step
    pixels = 0
    for step in range(at + 1, reached + 1):
        if places[step][0] == places[step - 1][0]:
            pixels += abs(places[step][1] - places[step - 1][1])
    return reached, pixels


areas = st.integers(1, 2)
walk = st.lists(st.tuples(areas, st.integers(-24, 24), st.integers(-40, 40)), min_size=1, max_size=150)


def placed(steps: list[Place]) -> list[Place]:
    x = y = 100
    places = []
    for area, right, down in steps:
        x, y = x + right, y + down
        places.append((area, x, y))
    return places


@settings(max_examples=150, deadline=None)
@given(walk, walk, st.lists(st.tuples(areas, st.integers(-300, 400), st.integers(0, 200)), max_size=30), st.data())
def test_it_is_what_a_plain_account_says(first: list, second: list, moves: list[Place], data: st.DataObject) -> None:
    routes = {"1-1": placed(first), "1-2": placed(second)}
    progress = RouteProgress([shown(level, places) for level, places in routes.items()], lanes=2)
    at = []
    for lane, (level, places) in enumerate(routes.items()):
        at.append(data.draw(st.integers(0, len(places) - 1)))
        progress.begin(lane, level, at[lane])
    for here in moves:
        area, x, y = (np.full(2, value, np.int16) for value in here)
        gained = progress.advance(area, x, y)
        for lane, places in enumerate(routes.values()):
            at[lane], pixels = plain_account(places, at[lane], here)
            assert gained[lane] == pixels


def test_what_looks_like_a_place_far_ahead_is_not_taken_for_it() -> None:
    """A loop of a maze: the same x again, a hundred steps later."""
    there_and_back = [(1, 10 * step, 50) for step in range(100)] * 2
    progress = RouteProgress([shown("4-4", there_and_back)], lanes=1)
    progress.begin(0, "4-4", 0)
    one = np.ones(1, np.int16)
    paid = [int(progress.advance(one, np.full(1, x, np.int16), 50 * one)[0]) for x in range(0, 990, 10)]
    assert progress.reached[0] == 99 and sum(paid) == 990
    assert progress.advance(one, 0 * one, 50 * one)[0] > 0, "the loop is part of this route"
    assert progress.reached[0] < 110
