"""How well Mario plays: what the episodes of a worker's lanes brought, and where he died."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mario_rl.metrics.collectors.protocol import SchemaCollector
from mario_rl.metrics.schema import Counter, Gauge, MetricSchema, Rolling

if TYPE_CHECKING:
    from mario_rl.learners.base import LaneSteps

EPISODES = 100  # the window of everything rolling
DEATHS = 10_000  # death positions kept until somebody takes them

Death = tuple[str, int, int]  # level, area, x in pixels


class MarioMetrics(MetricSchema):
    """Of all lanes of one worker. Rolling ones are over the latest 100 episodes.

    Episodes that a curriculum began in the middle of a level are practice: they count apart, whatever came of them.
    """

    def __init__(self) -> None:
        self.steps = Counter()
        self.episodes = Counter()
        self.reward = Gauge()  # of the latest episode, as the environment pays it (not scaled)
        self.reward_mean = Rolling(EPISODES)
        self.x_mean = Rolling(EPISODES)  # the furthest x of an episode's last area
        self.best_x = Gauge()
        self.flags = Counter()
        self.flag_rate = Rolling(EPISODES)
        self.deaths = Counter()
        self.episode_length = Rolling(EPISODES)
        self.practice_episodes = Counter()
        self.practice_flags = Counter()
        self.practice_flag_rate = Rolling(EPISODES)
        self.saves = Counter()
        self.restores = Counter()
        self.stuck = Gauge()  # the most restores without progress that a lane has behind it now
        self.curriculum_progress = Gauge()  # the share of its routes that demo's starts have moved back over


class MarioCollector(SchemaCollector[MarioMetrics]):
    """Understands the infos of the Super Mario Bros. vector environment (docs/environment.md)."""

    def __init__(self, lanes: int, reward_scale: float = 1.0):
        super().__init__(MarioMetrics())
        self.first_flag_steps: int | None = None  # this worker's steps by its first flag
        self._reward_scale = reward_scale
        self._returns = np.zeros(lanes)  # of the episodes under way, scaled
        self._deaths: deque[Death] = deque(maxlen=DEATHS)

    def on_steps(self, lane_steps: LaneSteps, infos: dict[str, Any]) -> None:
        """Count a step of all lanes, and the episodes that ended with it."""
        self.metrics.steps.add(len(self._returns))
        self._returns += lane_steps.rewards
        practice = infos.get("practice")
        furthest = infos["x_pos_max"] if practice is None else infos["x_pos_max"][~practice]
        if len(furthest):
            self.metrics.best_x.raise_to(int(furthest.max()))
        if "snapshot_saved" in infos:
            self.metrics.saves.add(int(infos["snapshot_saved"].sum()))
            self.metrics.restores.add(int(infos["snapshot_restored"].sum()))
            self.metrics.stuck.set(int(infos["restores_without_progress"].max()))
        if "curriculum_progress" in infos:
            self.metrics.curriculum_progress.set(float(infos["curriculum_progress"][0]))
        ended = lane_steps.terminated | lane_steps.truncated
        if ended.any():
            for lane in np.flatnonzero(ended).tolist():
                self._on_episode(lane, infos["final_info"])
            self._returns[ended] = 0

    def _on_episode(self, lane: int, final_info: Mapping[str, Any]) -> None:
        metrics = self.metrics
        if final_info["death"][lane]:
            metrics.deaths.add()
            where = str(final_info["level"][lane]), int(final_info["area"][lane]), int(final_info["death_x"][lane])
            self._deaths.append(where)
        if "practice" in final_info and final_info["practice"][lane]:
            flag = bool(final_info["flag_get"][lane])
            metrics.practice_episodes.add()
            metrics.practice_flags.add(int(flag))
            metrics.practice_flag_rate.add(flag)
            return
        metrics.episodes.add()
        reward = float(self._returns[lane]) / self._reward_scale
        metrics.reward.set(reward)
        metrics.reward_mean.add(reward)
        furthest = int(final_info["x_pos_max"][lane])
        metrics.x_mean.add(furthest)
        metrics.best_x.raise_to(furthest)
        metrics.episode_length.add(int(final_info["episode_length"][lane]))
        flag = bool(final_info["flag_get"][lane])
        metrics.flag_rate.add(flag)
        if flag:
            metrics.flags.add()
            if self.first_flag_steps is None:
                self.first_flag_steps = metrics.steps.value

    @property
    def recent_episodes(self) -> int:
        """How many episodes `recent_flags` is about: the latest 100, fewer at first."""
        return len(self.metrics.flag_rate.recent)

    @property
    def recent_flags(self) -> int:
        """How many of the recent episodes reached the flag."""
        return int(sum(self.metrics.flag_rate.recent))

    def take_deaths(self) -> list[Death]:
        """Where Mario died since the last call."""
        deaths = list(self._deaths)
        self._deaths.clear()
        return deaths

    def state_dict(self) -> dict[str, Any]:
        """Everything counted so far, the episodes under way included."""
        return super().state_dict() | {
            "returns": self._returns.tolist(),
            "first_flag_steps": self.first_flag_steps,
            "deaths": [list(death) for death in self._deaths],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from `state_dict`. With another number of lanes the episodes under way count from here."""
        super().load_state_dict(state)
        returns = np.asarray(state["returns"], np.float64)
        self._returns = returns if returns.shape == self._returns.shape else np.zeros_like(self._returns)
        self.first_flag_steps = state["first_flag_steps"]
        self._deaths = deque(((level, area, x) for level, area, x in state["deaths"]), maxlen=DEATHS)
