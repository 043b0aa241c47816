"""A route played in the environment: it arrives, and shows what an agent would have seen and pressed."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from mario_rl.environment.actions import pad_table
from mario_rl.environment.smb.env import SmbEnv
from mario_rl.environment.smb.settings import SmbSettings
from mario_rl.snapshots.demonstration import demonstrate
from mario_rl.snapshots.routes import Route, RouteError, packaged_route

pytestmark = pytest.mark.usefixtures("smb_rom")


def settings_of(level: str, **changed: Any) -> SmbSettings:
    return SmbSettings(**{"level": level, "actions": "complex"} | changed)


@pytest.mark.parametrize(
    ("level", "observation"),
    [("1-1", "tiles"), ("1-1", "pixels"), ("1-2", "tiles"), ("2-2", "tiles"), ("4-4", "tiles")],
)
def test_what_is_shown_is_what_an_agent_sees(level: str, observation: str) -> None:
    """Also through pipes (1-2), under water (2-2) and in a maze (4-4)."""
    shown = demonstrate(packaged_route(level), settings_of(level, observation=observation, sticky=0.5, stuck_steps=2))
    env = SmbEnv(level=level, observation=observation, actions="complex", noop_max=0, stuck_steps=None)
    seen, info = env.reset(seed=0)
    assert len(shown) == len(shown.observations) == len(shown.states) == len(shown.places)
    for step, action in enumerate(shown.actions):
        np.testing.assert_array_equal(shown.observations[step], seen)
        assert shown.states[step] == env.lanes.console.save(0)
        assert shown.places[step] == (info["area"], info["x_pos"], info["y_pos"])
        seen, _, terminated, _, info = env.step(action)
        assert terminated == (step == len(shown) - 1)
    assert info["flag_get"]


def test_the_actions_are_those_of_the_settings() -> None:
    """The pads of the route in their order, but for those pressed where nobody listens (pipes, loading)."""
    route = packaged_route("1-2")
    shown = demonstrate(route, settings_of("1-2"))
    pressed = iter(route.level_pads())
    assert all(pad in pressed for pad in pad_table("complex")[shown.actions].tolist())
    assert len(shown) < route.steps


def test_other_steps_are_refused() -> None:
    with pytest.raises(RouteError, match="steps of 4 frames, not of 3"):
        demonstrate(packaged_route("1-1"), settings_of("1-1", frame_skip=3))


def with_pads(route: Route, pads: list[tuple[int, int]]) -> Route:
    """The route up to the level's start, and then something else."""
    before, frames = [], 0
    for pad, length in route.inputs:
        before.append((pad, min(length, route.start_frame + 1 - frames)))
        frames += length
        if frames > route.start_frame:
            break
    return dataclasses.replace(route, inputs=(*before, *pads))


def test_buttons_that_the_agent_does_not_have_are_refused() -> None:
    down = with_pads(packaged_route("1-1"), [(0b100, 400)])
    with pytest.raises(RouteError, match="1-1 presses buttons that --actions does not have"):
        demonstrate(down, settings_of("1-1", actions="simple"))


@pytest.mark.parametrize("pads", [[(0b1, 4000)], [(0, 40)]], ids=["into the goomba", "too short"])
def test_a_route_that_does_not_arrive_is_refused(pads: list[tuple[int, int]]) -> None:
    with pytest.raises(RouteError, match="1-1 does not lead to its end here"):
        demonstrate(with_pads(packaged_route("1-1"), pads), settings_of("1-1"))
