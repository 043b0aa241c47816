"""Lanes in which the agent presses buttons: a step holds them for `frame_skip` frames."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt

from mario_rl.environment.drmario.buttons import BUTTONS
from mario_rl.environment.drmario.episode import Outcome
from mario_rl.environment.drmario.lanes import Lanes
from mario_rl.environment.drmario.memory import Mask
from mario_rl.environment.drmario.observation import observation_of
from mario_rl.environment.drmario.pilot import BotPads
from mario_rl.environment.drmario.planner import Planner, bot_of
from mario_rl.environment.drmario.reward import Floats
from mario_rl.environment.drmario.settings import ButtonSettings, Policy
from mario_rl.environment.drmario.tally import LONGEST_GAP
from mario_rl.environment.lane_state import Arrays
from mario_rl.environment.one_lane import Seen, seen_by_one


class ButtonLanes(Lanes):
    """n lanes, a step of which is an action of `settings.actions`.

    `alone`: a policy that plays the other seat gets one observation instead of all lanes' and returns one action.
    """

    def __init__(self, lanes: int, settings: ButtonSettings, threads: int = 1, draw: bool = False, alone: bool = False):
        super().__init__(lanes, settings, threads, draw)
        self._frame_skip = settings.frame_skip
        self._observation = observation_of(settings.observation, settings.features)
        self.buttons = BUTTONS[settings.actions]
        # spaces of its own: they hold random generators
        self.observation_space = deepcopy(self._observation.space)
        self.action_space = deepcopy(self.buttons.space)
        self._alone = alone
        bot = bot_of(settings.opponent)
        self._bot = None if bot is None else BotPads(bot, Planner(self.games), self.game, self.other)
        self._policy: Policy | None = settings.opponent if bot is None and callable(settings.opponent) else None

    def reset(self, lanes: Mask, options: Any = None) -> None:
        """See `Lanes.reset`."""
        super().reset(lanes, options)
        if self._bot is not None:
            self._bot.pilot.forget(lanes)

    def step(self, actions: npt.NDArray[Any]) -> tuple[dict[str, Floats], Outcome]:
        """Play one step in every lane; ended rounds are left as they ended.

        Returns the terms of the reward, and the outcome.
        """
        self.pads[:, self.seat] = self.buttons.pads(actions)
        if self._policy is not None:
            self.pads[:, self.other] = self.buttons.pads(self._ask(self._policy))
        self.play(self._frame_skip)
        outcome = self.outcome()
        return self.terms(outcome), outcome

    def step_seats(self, actions: Sequence[npt.NDArray[Any]]) -> None:
        """Play one step with the actions of each seat; `outcome` says what it did to either."""
        for seat, chosen in enumerate(actions):
            self.pads[:, seat] = self.buttons.pads(self.checked(chosen))
        self.play(self._frame_skip)

    def play(self, frames: int) -> None:
        """Hold the pads for so many frames; a bot changes its own in every one of them."""
        self.rounds.begin_step()
        while frames:
            piece = min(frames, LONGEST_GAP)
            if self._bot is None:
                self.games.step(self.pads, piece)
            else:
                for _ in range(piece):
                    self.pads[:, self.other] = self._bot.pads()
                    self.games.step(self.pads, 1)
            self.rounds.frames += piece
            self.rounds.watch(self.game)
            frames -= piece

    def first_observations(self, lanes: Mask) -> Seen:
        """What the masked lanes see, whose episodes have just begun."""
        return self.observe(lanes)

    def observe(self, lanes: Mask | None = None, seat: int | None = None) -> Seen:
        """What the agent (or a seat) sees in all lanes, or in the masked ones: arrays of their own."""
        return self._observation.read(self.masked_memory(lanes), self.seat if seat is None else seat)

    def _ask(self, policy: Policy) -> npt.NDArray[Any]:
        seen = self.observe(seat=self.other)
        if self._alone:
            return self.checked(np.asarray(policy(seen_by_one(seen, 0)))[None])
        return self.checked(policy(seen))

    def _arrays(self) -> Arrays:
        return super()._arrays() | ({} if self._bot is None else self._bot.pilot.arrays)

    def _identity(self) -> dict[str, str]:
        settings = self.settings
        names = ("observation", "features", "actions", "frame_skip")
        return super()._identity() | {name: str(getattr(settings, name)) for name in names}
