"""Dr. Mario for two agents: a PettingZoo ParallelEnv, with a step of some frames or of placements.

    env = parallel_env(level=10)                         # both press buttons
    env = parallel_env(decisions="placements", level=10)   # both choose placements

Needs PettingZoo: `pip install mario-rl[versus]`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.utils import seeding
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]

from mario_rl.environment.drmario.button_lanes import ButtonLanes
from mario_rl.environment.drmario.env import ONE_LANE
from mario_rl.environment.drmario.placement_lanes import PlacementLanes
from mario_rl.environment.drmario.planner import at_decision
from mario_rl.environment.drmario.reward import total
from mario_rl.environment.drmario.settings import ButtonSettings, PlacementSettings
from mario_rl.environment.one_lane import seen_by_one, told_about_one
from mario_rl.environment.rendering import FRAMES_PER_SECOND, RENDER_MODES, check_render_mode

__all__ = ["AGENTS", "ButtonVersusEnv", "PlacementVersusEnv", "parallel_env"]

AGENTS = ("player_1", "player_2")

PerAgent = dict[str, Any]


class VersusEnv(ParallelEnv, ABC):  # type: ignore[misc]
    """What both kinds share. An episode is one round; it ends for both agents at once."""

    metadata = {  # noqa: RUF012  PettingZoo's own declaration
        "name": "drmario_versus_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": FRAMES_PER_SECOND,
        "is_parallelizable": True,
    }
    lanes: ButtonLanes | PlacementLanes

    def __init__(self, lanes: ButtonLanes | PlacementLanes, render_mode: str | None):
        self.render_mode = render_mode
        self.lanes = lanes
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self._seeded = False
        self._observation_spaces = {agent: deepcopy(lanes.observation_space) for agent in AGENTS}
        self._action_spaces: dict[str, spaces.Space[Any]] = {agent: deepcopy(lanes.action_space) for agent in AGENTS}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """What an agent sees, its own side first."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """What an agent can do."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[PerAgent, PerAgent]:
        """Begin a round; `options` may fix "level", "speed" and "game_seed" for it."""
        if seed is not None or not self._seeded:
            self.lanes.seed(0, seeding.np_random(seed)[0])
            self._seeded = True
        self.lanes.reset(ONE_LANE, options)
        self.agents = list(AGENTS)
        return self._observations(), {agent: self._info(seat, None, None) for seat, agent in enumerate(AGENTS)}

    def step(self, actions: PerAgent) -> tuple[PerAgent, PerAgent, PerAgent, PerAgent, PerAgent]:
        """Play one step with an action of each agent."""
        if not self.agents:
            raise ValueError("the round is over: call reset() first")
        missing = [agent for agent in AGENTS if agent not in actions]
        if missing:
            raise ValueError(f"an action of {' and '.join(missing)} is missing")
        self._act([np.asarray(actions[agent]) for agent in AGENTS])
        rewards, terminated, truncated, infos = {}, {}, {}, {}
        for seat, agent in enumerate(AGENTS):
            outcome = self.lanes.outcome(seat)
            terms = self.lanes.terms(outcome)
            rewards[agent] = float(total(terms)[0])
            terminated[agent], truncated[agent] = bool(outcome.terminated[0]), bool(outcome.truncated[0])
            infos[agent] = self._info(seat, outcome, terms)
        if terminated[AGENTS[0]] or truncated[AGENTS[0]]:
            self.agents = []
        return self._observations(), rewards, terminated, truncated, infos

    def render(self) -> npt.NDArray[np.uint8] | None:
        """A picture of both bottles, if `render_mode` is "rgb_array"."""
        return None if self.render_mode is None else self.lanes.frame(0)

    def close(self) -> None:
        """Release the game."""
        self.lanes.close()

    @abstractmethod
    def _act(self, actions: list[npt.NDArray[Any]]) -> None:
        """Play one step with the actions of both."""

    def _observations(self) -> PerAgent:
        return {agent: seen_by_one(self.lanes.observe(seat=seat), 0) for seat, agent in enumerate(AGENTS)}

    def _info(self, seat: int, outcome: Any, terms: Any) -> dict[str, Any]:
        return told_about_one(self.lanes.info(outcome, terms, seat))


class ButtonVersusEnv(VersusEnv):
    """Both agents press buttons; `settings` as in `ButtonSettings`."""

    lanes: ButtonLanes

    def __init__(self, *, render_mode: str | None = None, **settings: Any):
        check_render_mode(render_mode)
        lanes = ButtonLanes(1, ButtonSettings(**_for_two(settings)), draw=render_mode is not None)
        super().__init__(lanes, render_mode)

    def _act(self, actions: list[npt.NDArray[Any]]) -> None:
        self.lanes.step_seats([action[None] for action in actions])


class PlacementVersusEnv(VersusEnv):
    """Both agents choose placements; `settings` as in `PlacementSettings`.

    A step goes on until a capsule of either agent (or of both) waits for a choice. The last action means "wait": it is
    the only one that the mask of an agent whose capsule is still on its way allows, and whatever such an agent does,
    it waits. An agent that has to choose and "waits" lets its capsule fall straight down, as with any forbidden action.
    """

    lanes: PlacementLanes

    def __init__(self, *, render_mode: str | None = None, **settings: Any):
        check_render_mode(render_mode)
        lanes = PlacementLanes(1, PlacementSettings(**_for_two(settings)), draw=render_mode is not None)
        lanes.played = [True, True]
        super().__init__(lanes, render_mode)
        self.wait = int(lanes.action_space.n)
        self._action_spaces = {agent: spaces.Discrete(self.wait + 1) for agent in AGENTS}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[PerAgent, PerAgent]:
        """See `VersusEnv.reset`."""
        super().reset(seed, options)
        self._look()
        return self._observations(), {agent: self._info(seat, None, None) for seat, agent in enumerate(AGENTS)}

    def _act(self, actions: list[npt.NDArray[Any]]) -> None:
        lanes = self.lanes
        for action in actions:
            if action.shape != () or action.dtype.kind not in "iu" or not 0 <= action <= self.wait:
                raise ValueError(f"an action is a whole number from 0 to {self.wait}, not {action!r}")
        lanes.rounds.begin_step()
        for seat, action in enumerate(actions):
            waiting = at_decision(lanes.game, seat)
            if waiting.any():
                forbidden = action == self.wait
                placements, _ = lanes.choices[seat].placements(np.array([0 if forbidden else action]))
                if forbidden:
                    placements = lanes.choices[seat].straight_down()
                lanes.pilots[seat].send(waiting, placements)
        lanes.play_on(ONE_LANE, [0, 1])
        self._look()

    def _look(self) -> None:
        for choices in self.lanes.choices:
            choices.look()

    def _info(self, seat: int, outcome: Any, terms: Any) -> dict[str, Any]:
        info = super()._info(seat, outcome, terms)
        waiting = bool(info["action_mask"].any())
        info["action_mask"] = np.append(info["action_mask"], np.int8(not waiting))
        return info


def parallel_env(decisions: str = "buttons", **settings: Any) -> VersusEnv:
    """The environment for two agents; `decisions`: "buttons" or "placements"."""
    kinds = {"buttons": ButtonVersusEnv, "placements": PlacementVersusEnv}
    if decisions not in kinds:
        raise ValueError(f"unknown decisions {decisions!r}; use one of {', '.join(kinds)}")
    return kinds[decisions](**settings)


def _for_two(settings: dict[str, Any]) -> dict[str, Any]:
    """Both seats are agents': there is no opponent to choose, and no seat."""
    for name in ("opponent", "players", "player_id"):
        if name in settings:
            raise ValueError(f"{name} cannot be set: both seats are agents'")
    return settings | {"players": 2}
