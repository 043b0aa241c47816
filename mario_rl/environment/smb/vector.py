"""Super Mario Bros. as a Gymnasium vector environment: n lanes, one native call a step."""

from __future__ import annotations

from typing import Any

from mario_rl.environment.one_lane import Info
from mario_rl.environment.smb.episode import Outcome
from mario_rl.environment.smb.lanes import SmbLanes
from mario_rl.environment.smb.memory import Mask
from mario_rl.environment.smb.settings import SmbSettings
from mario_rl.environment.smb.starts import Starts
from mario_rl.environment.vector import Array, LanesVectorEnv, check_construction

__all__ = ["SmbVectorEnv"]


class SmbVectorEnv(LanesVectorEnv):
    """n lanes of Super Mario Bros. (`settings`: see `SmbSettings`; `starts`: a curriculum, see `starts.py`)."""

    lanes: SmbLanes

    def __init__(
        self,
        num_envs: int = 1,
        *,
        threads: int = 1,
        render_mode: str | None = None,
        starts: Starts | None = None,
        **settings: Any,
    ):
        check_construction(num_envs, threads, render_mode)
        lanes = SmbLanes(num_envs, SmbSettings(**settings), threads, draw=render_mode is not None, starts=starts)
        super().__init__(lanes, render_mode)

    def _begin(self, lanes: Mask, outcome: Outcome | None, options: Info | None) -> None:
        self.lanes.restart(lanes, outcome)

    def _play(self, actions: Array) -> tuple[Array, Outcome]:
        return self.lanes.step(actions)

    def _info(self, outcome: Outcome | None) -> Info:
        return self.lanes.info(outcome)
