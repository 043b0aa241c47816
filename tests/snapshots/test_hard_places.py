"""The hard places of a route, against a plain account of the same episodes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mario_rl.snapshots.hard_places import FADE, KEPT, LEAD, HardPlaces

STATES = 30
episodes = st.lists(st.tuples(st.integers(0, 29), st.integers(0, 30), st.booleans()), max_size=40)


@given(episodes)
def test_chances_are_of_those_who_came_by_the_latest_counting_most(stories: list[tuple[int, int, bool]]) -> None:
    hard = HardPlaces(STATES)
    for began, further, flag in stories:
        hard.passed(began, STATES if flag else min(began + further, STATES - 1), ended_there=not flag)
    for state in range(STATES):
        came = ended = 0.0
        for age, (began, further, flag) in enumerate(reversed(stories)):
            reached = STATES if flag else min(began + further, STATES - 1)
            if began <= state <= reached:
                came += FADE**age
                ended += FADE**age * (reached == state and not flag)
        assert hard.chances()[state] == pytest.approx((ended + 1) / (came + 2))


def test_practice_begins_before_the_hardest_place_most_often() -> None:
    hard = HardPlaces(STATES)
    for number in range(1000):
        hard.passed(0, 20 if number % 2 else STATES, ended_there=bool(number % 2))
    random = np.random.default_rng(0)
    drawn = np.array([hard.draw_before(random) for _ in range(1000)])
    before = (drawn > 20 - LEAD[1]) & (drawn <= 20 - LEAD[0])
    assert before.mean() > 0.8 and drawn.min() >= 0

    resumed = HardPlaces(STATES)
    resumed.load_state_dict(hard.state_dict())
    assert [resumed.draw_before(np.random.default_rng(5)) for _ in range(9)] == [
        hard.draw_before(np.random.default_rng(5)) for _ in range(9)
    ]


def test_the_latest_consoles_of_each_state_are_kept() -> None:
    hard = HardPlaces(STATES)
    random = np.random.default_rng(0)
    assert hard.draw_kept(7, random) is None
    for number in range(KEPT + 3):
        hard.keep(7, bytes([number]))
    hard.keep(8, b"other")
    drawn = {hard.draw_kept(7, random) for _ in range(200)}
    assert drawn == {bytes([number]) for number in range(3, KEPT + 3)}

    resumed = HardPlaces(STATES)
    resumed.load_state_dict(hard.state_dict())
    assert resumed.draw_kept(8, random) == b"other" and resumed.draw_kept(9, random) is None
