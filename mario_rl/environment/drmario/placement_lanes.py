"""Lanes in which the agent chooses where each capsule goes: a step is a capsule.

A step sends the capsule to its place by the shortest script of buttons and goes on, everything released, until the next
capsule waits for a choice or the round is over. Meanwhile an opponent plays on, capsule by capsule. It is the same on
the rules engine and on consoles: the script is held frame by frame, and where the capsule came to rest is checked.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from mario_rl.environment.drmario import memory
from mario_rl.environment.drmario.choices import Choices
from mario_rl.environment.drmario.console import RulesGames
from mario_rl.environment.drmario.episode import Outcome
from mario_rl.environment.drmario.lanes import Info, Lanes
from mario_rl.environment.drmario.memory import COLUMNS, ROWS, Mask
from mario_rl.environment.drmario.observation import Observation, observation_of
from mario_rl.environment.drmario.pilot import Pilot
from mario_rl.environment.drmario.placements import PLACEMENT_FEATURES
from mario_rl.environment.drmario.planner import SPAWN_COLUMN, Planner, at_decision, bot_of
from mario_rl.environment.drmario.reward import Floats
from mario_rl.environment.drmario.rules import RulesBatch
from mario_rl.environment.drmario.settings import PlacementSettings, Policy
from mario_rl.environment.lane_state import Arrays
from mario_rl.environment.one_lane import Seen, seen_by_one

# The longest chains take some thousand frames; this bound only guards the loop.
LONGEST_STEP = 20_000
# The placement of a capsule that nobody touches, but for its height.
LEFT_ALONE = SPAWN_COLUMN


class PlacementLanes(Lanes):
    """n lanes, a step of which is a placement.

    A policy that plays the other seat is called with what it sees in the games that wait for it, and with their action
    masks; in a single environment (`alone`) with one observation and its mask.
    """

    settings: PlacementSettings

    def __init__(
        self, lanes: int, settings: PlacementSettings, threads: int = 1, draw: bool = False, alone: bool = False
    ):
        super().__init__(lanes, settings, threads, draw)
        self._alone = alone
        self._planner = Planner(self.games)
        self.pilots = [Pilot(self._planner, self.game, seat) for seat in range(settings.seats)]
        self.choices = [
            Choices(self._planner, self.game, seat, settings.tucks, settings.distinct) for seat in range(settings.seats)
        ]
        self.action_space: spaces.Discrete = self.choices[0].space
        self._observation: Observation | None = None
        if settings.observation == "placements":
            shape = (self.choices[0].count, len(PLACEMENT_FEATURES))
            self.observation_space = spaces.Box(0, 1, shape, np.float32)
        else:
            self._observation = observation_of(settings.observation, settings.features)
            self.observation_space = deepcopy(self._observation.space)
        self._bot = bot_of(settings.opponent)
        self._policy: Policy | None = settings.opponent if self._bot is None and callable(settings.opponent) else None
        # Nobody plays the other seat if there is no opponent, unless `versus` makes it somebody's.
        self.played = [seat == self.seat or settings.opponent is not None for seat in range(settings.seats)]
        self.illegal = np.zeros(lanes, np.bool_)

    def reset(self, lanes: Mask, options: Any = None) -> None:
        """See `Lanes.reset`."""
        super().reset(lanes, options)
        for pilot in self.pilots:
            pilot.forget(lanes)
        self.illegal[lanes] = False
        self.choices[self.seat].look()

    def step(self, actions: npt.NDArray[Any]) -> tuple[dict[str, Floats], Outcome]:
        """Place one capsule in every lane; ended rounds are left as they ended.

        Returns the terms of the reward, and the outcome. A forbidden action lets the capsule fall straight down.
        """
        waiting = at_decision(self.game, self.seat)
        placements, forbidden = self.choices[self.seat].placements(actions)
        self.illegal = waiting & forbidden
        self.rounds.begin_step()
        self.pilots[self.seat].send(waiting, placements)
        self.play_on(waiting, [self.seat])
        self.choices[self.seat].look()
        outcome = self.outcome()
        return self.terms(outcome), outcome

    def play_on(self, lanes: Mask, seats: list[int]) -> None:
        """Run the masked games until one of these seats waits for a choice, or the round is over."""
        game, playing = self.game, lanes.copy()
        for _ in range(LONGEST_STEP):
            if not playing.any():
                return
            if self.settings.seats == 2 and self.other not in seats:
                self._opponent_decides(playing)
            if isinstance(self.games, RulesGames):
                self._follow_scripts(self.games.batch, playing)
            else:
                self._hold_pads(playing)
            playing &= ~(game.round_over() | (game.mode != memory.MODE_PLAY) | self.games.lost)
            for seat in seats:
                playing &= ~at_decision(game, seat)

    def _follow_scripts(self, batch: RulesBatch, lanes: Mask) -> None:
        """On the rules engine: on to the next decision of anybody who plays, in one call."""
        tally = self.rounds.tally
        locks, frames = tally.locks.copy(), np.zeros(self.lanes, np.int32)
        deciders = sum(1 << seat for seat in range(self.settings.seats) if self.played[seat])
        targets = np.full((self.lanes, 2), LEFT_ALONE)
        for pilot in self.pilots:
            if self.played[pilot.seat]:
                targets[:, pilot.seat] = pilot.targets
        scripts = [pilot.script_arrays for pilot in self.pilots]
        batch.follow(scripts, deciders, tally.totals, frames, lanes)
        self.pads[lanes] = self.game.held[lanes]
        self.rounds.frames += frames
        self.rounds.caught_up(self.game, locks, targets % COLUMNS, targets // (ROWS * COLUMNS))

    def _hold_pads(self, lanes: Mask) -> None:
        """On consoles: on by a frame, or to the end of a throw, which nothing can disturb."""
        for pilot in self.pilots:
            self.pads[lanes, pilot.seat] = pilot.pads()[lanes]
        thrown = (self.game.players == 1) & (self.game.action[:, 0] == memory.ACTION_THROW)
        frames = np.where(thrown, self.game.throw_frames(), 1).astype(np.int32) * lanes
        self.games.step(self.pads, frames, lanes)
        for pilot in self.pilots:
            pilot.advance(frames)
        self.rounds.frames += frames
        self.rounds.watch(self.game)

    def _opponent_decides(self, lanes: Mask) -> None:
        """Let the opponent choose where, in the masked games, its capsule waits."""
        pilot, choices = self.pilots[self.other], self.choices[self.other]
        waiting = lanes & at_decision(self.game, self.other)
        if not waiting.any():
            return
        if self._bot is not None:
            games = self._planner.look(waiting)
            pilot.send(waiting, self._bot.choose(games, waiting, self.other))
        elif self._policy is not None:
            choices.look()
            actions = np.zeros(self.lanes, np.int64)
            actions[waiting] = self._ask(self._policy, waiting, choices.masks()[waiting])
            pilot.send(waiting, choices.placements(actions)[0])

    def _ask(self, policy: Policy, lanes: Mask, masks: Mask) -> npt.NDArray[Any]:
        """The policy's actions in the masked lanes."""
        seen = self.observe(lanes, self.other)
        asked = (seen_by_one(seen, 0), masks[0]) if self._alone else (seen, masks)
        actions = np.asarray(policy(*asked)).reshape(-1)
        if actions.shape != (len(masks),) or not ((actions >= 0) & (actions < self.action_space.n)).all():
            raise ValueError(
                f"the opponent's policy returned {actions!r}, not {len(masks)} actions of {self.action_space}"
            )
        return actions

    def action_masks(self) -> Mask:
        """bool[n, actions]: what the agent can choose now; nothing where the round is over."""
        return self.choices[self.seat].masks()

    def first_observations(self, lanes: Mask) -> Seen:
        """What the masked lanes see, whose episodes have just begun."""
        return self.observe(lanes)

    def observe(self, lanes: Mask | None = None, seat: int | None = None) -> Seen:
        """What the agent (or a seat) sees in all lanes, or in the masked ones: arrays of their own."""
        seat = self.seat if seat is None else seat
        if self._observation is not None:
            return self._observation.read(self.masked_memory(lanes), seat)
        features = self.choices[seat].features()
        return features if lanes is None else features[lanes]

    def info(self, outcome: Outcome | None, terms: dict[str, Floats] | None, seat: int | None = None) -> Info:
        """See `Lanes.info`; also the mask, and whether the last capsule came to rest as planned."""
        seat = self.seat if seat is None else seat
        pilot = self.pilots[seat]
        return super().info(outcome, terms, seat) | {
            "action_mask": self.choices[seat].masks().astype(np.int8),
            "placement": pilot.targets.copy(),
            "landed": pilot.landed.copy(),
            "missed": pilot.missed.copy(),
            "illegal": self.illegal.copy(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """See `Lanes.load_state_dict`."""
        super().load_state_dict(state)
        self.choices[self.seat].look()

    def _arrays(self) -> Arrays:
        arrays = super()._arrays() | {"illegal": self.illegal}
        for pilot in self.pilots:
            arrays |= pilot.arrays
        return arrays

    def _identity(self) -> dict[str, str]:
        names = ("observation", "features", "tucks", "distinct")
        return super()._identity() | {name: str(getattr(self.settings, name)) for name in names}
