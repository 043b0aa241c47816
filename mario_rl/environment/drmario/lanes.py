"""Dr. Mario played in n lanes at once: what the environments of both kinds, single and vector, share.

A lane is a game, its round so far and its stream of random numbers. An episode is one round, from the first capsule the
agent can move to the cleared bottle or the top-out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from mario_rl.environment.checks import checked_actions, whole_number
from mario_rl.environment.drmario import memory
from mario_rl.environment.drmario.console import open_games
from mario_rl.environment.drmario.episode import Outcome, Rounds
from mario_rl.environment.drmario.memory import GameMemory, Ints, Mask
from mario_rl.environment.drmario.reward import TERMS, Floats, reward_terms
from mario_rl.environment.drmario.settings import GameSettings, parse_levels, parse_speeds
from mario_rl.environment.lane_random import LaneRandom
from mario_rl.environment.lane_state import Arrays, check_identity, packed, unpacked

# The generator's states 0 and 1 lead to nothing but zeros.
LEAST_SEED, MOST_SEED = 2, 0xFFFF
# In a row, before it is given up.
MOST_LOSSES = 3
# The longest throw (LOW, one step every other frame) takes 44 frames; this bound only guards the loop.
LONGEST_WAIT = 120

Info = dict[str, Any]


class Lanes:
    """n lanes of the game, their rounds and what is told about them. Subclasses add what a step is and what is seen."""

    observation_space: spaces.Space[Any]
    action_space: spaces.Discrete | spaces.MultiDiscrete

    def __init__(self, lanes: int, settings: GameSettings, threads: int = 1, draw: bool = False):
        self.lanes = lanes
        self.settings = settings
        self.seat, self.other = settings.seat, 1 - settings.seat
        self.games = open_games(settings, lanes, threads, draw)
        self.game: GameMemory = self.games.game
        self.rounds = Rounds(lanes, settings.max_frames)
        self.random = LaneRandom(lanes)
        self.seeds = np.zeros(lanes, np.int32)  # of the running rounds
        self.pads = np.zeros((lanes, 2), np.uint8)  # as last held
        self._none = np.zeros((lanes, 2), np.uint8)
        self.draw_from(settings.level, settings.speed)

    def draw_from(self, level: object, speed: object) -> None:
        """From the next episode on, draw levels and speeds from these (one or a list): the means of a curriculum."""
        self.levels, self.speeds = parse_levels(level), parse_speeds(speed)

    def reset(self, lanes: Mask, options: Mapping[str, Any] | None = None) -> None:
        """Begin a round in the masked lanes, and wait for its first capsule.

        `options` may fix "level", "speed" and "game_seed" for this round.
        """
        options = options or {}
        seeds = LEAST_SEED + self.random.below(MOST_SEED + 1 - LEAST_SEED, lanes)
        if options.get("game_seed") is not None:
            whole_number("game_seed", options["game_seed"], LEAST_SEED, MOST_SEED)
            seeds[:] = options["game_seed"]
        own_levels, own_speeds = self.levels, self.speeds
        if options.get("level") is not None:
            own_levels = parse_levels(options["level"])
        if options.get("speed") is not None:
            own_speeds = parse_speeds(options["speed"])
        self.seeds[lanes] = seeds
        levels = self._draw(own_levels, self.settings.opponent_levels, lanes)
        speeds = self._draw(own_speeds, self.settings.opponent_speeds, lanes)
        self.pads[lanes] = 0
        for _ in range(MOST_LOSSES):
            self.games.begin(lanes, self.seeds, levels, speeds, self.settings.seats)
            self._await_capsule(lanes)
            if not (self.games.lost & lanes).any():
                break
        else:
            raise RuntimeError(f"the console was lost {MOST_LOSSES} times before the round began: see its log")
        self.rounds.begin(lanes, self.game)

    def _draw(self, own: tuple[int, ...], other: tuple[int, ...] | None, lanes: Mask) -> Ints:
        """int32[n, 2], by player: one of `own` for the agent, and one of `other` (or the same) for the opponent."""
        drawn = np.zeros((self.lanes, 2), np.int32)
        drawn[lanes] = np.array(own, np.int32)[self.random.below(len(own), lanes)][:, None]
        if other is not None:
            drawn[lanes, self.other] = np.array(other, np.int32)[self.random.below(len(other), lanes)]
        return drawn

    def _await_capsule(self, lanes: Mask) -> None:
        game = self.game
        for _ in range(LONGEST_WAIT):
            waiting = lanes & ~game.controllable()[:, self.seat]
            if not waiting.any():
                return
            thrown = (game.players == 1) & (game.action[:, 0] == memory.ACTION_THROW)
            self.games.step(self._none, np.where(thrown, game.throw_frames(), 1).astype(np.int32), waiting)

    def checked(self, actions: object) -> npt.NDArray[Any]:
        """One action a lane, or a ValueError that says what an action is."""
        return checked_actions(actions, self.lanes, self.action_space)

    def outcome(self, seat: int | None = None) -> Outcome:
        """What the step did, from the agent's seat or from another."""
        outcome = self.rounds.outcome(self.game, self.seat if seat is None else seat)
        if self.games.lost.any():
            outcome.interrupt(self.games.lost)
        return outcome

    def terms(self, outcome: Outcome) -> dict[str, Floats]:
        """The weighted terms of the reward."""
        return reward_terms(outcome, self.settings.weights)

    def info(self, outcome: Outcome | None, terms: dict[str, Floats] | None, seat: int | None = None) -> Info:
        """What happened, one array a key (docs/drmario.md lists them). The first two are None after a reset."""
        game, tally = self.game, self.rounds.tally
        own = self.seat if seat is None else seat
        other = 1 - own
        viruses, capsules = game.viruses(), game.capsules()
        two = self.settings.seats == 2
        nobody = np.zeros(self.lanes, np.int32)
        return {
            "frame": self.rounds.frames.copy(),
            "episode_length": self.rounds.steps.copy(),
            "seed": self.seeds.copy(),
            "level": game.level[:, own].copy(),
            "speed": game.speed[:, own].copy(),
            "viruses": viruses[:, own],
            "viruses_opponent": viruses[:, other] if two else nobody,
            "capsules": capsules[:, own],
            "capsules_opponent": capsules[:, other] if two else nobody,
            "score": game.score(),
            "combo": game.combo[:, own].copy(),
            "lines": tally.lines[:, own].copy(),
            "viruses_cleared": tally.viruses[:, own].copy(),
            "garbage_sent": tally.sent[:, own].copy(),
            "garbage_received": tally.received[:, own].copy(),
            "pad": self.pads[:, own].copy(),
            "pad_opponent": self.pads[:, other].copy(),
            "interrupted": self.games.lost.copy(),
            "result": np.full(self.lanes, "", "<U7") if outcome is None else outcome.results(),
            "reward_terms": terms or {name: np.zeros(self.lanes, np.float32) for name in TERMS},
        }

    def state_dict(self) -> dict[str, Any]:
        """The exact state of all lanes: text, numbers and bytes, which every way of saving takes."""
        return {
            "settings": self._identity(),
            "games": [self.games.save(lane) for lane in range(self.lanes)],
            "arrays": packed(self._arrays()),
            "levels": list(self.levels),
            "speeds": list(self.speeds),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken.

        A ValueError, and no change, if that was with other settings or another number of lanes.
        """
        check_identity(state.get("settings", {}), self._identity())
        arrays = self._arrays()
        saved = unpacked(state["arrays"], arrays)
        levels, speeds = parse_levels(state["levels"]), parse_speeds(state["speeds"])
        self.games.load_all(state["games"])  # refuses before it changes anything
        for name, values in saved.items():
            arrays[name][:] = values
        self.levels, self.speeds = levels, speeds

    def _arrays(self) -> Arrays:
        """What the lanes know besides their games, by name: the arrays themselves."""
        own: Arrays = {"pads": self.pads, "random": self.random.counters, "seeds": self.seeds}
        return own | self.rounds.arrays

    def _identity(self) -> dict[str, str]:
        """Everything that decides how the games go on, as text."""
        settings = self.settings
        opponent = settings.opponent if isinstance(settings.opponent, str) or settings.opponent is None else "a policy"
        names = ("seats", "player_id", "opponent_levels", "opponent_speeds", "max_frames", "weights")
        return {
            "lanes": str(self.lanes),
            "backend": self.games.identity(),
            "opponent": str(opponent),
            **{name: str(getattr(settings, name)) for name in names},
        }

    def seed(self, lane: int, generator: np.random.Generator) -> None:
        """Start a lane's own stream of random numbers from this generator."""
        self.random.counters[lane] = generator.integers(2**64, dtype=np.uint64)

    def frame(self, lane: int) -> npt.NDArray[np.uint8]:
        """A picture of a lane, uint8[240, 256, 3]."""
        return self.games.frame(lane)

    def close(self) -> None:
        """Release the games."""
        self.games.close()

    def masked_memory(self, lanes: Mask | None) -> GameMemory:
        """The readers of all lanes, or of a copy of the masked ones."""
        return self.game if lanes is None else GameMemory(self.game.ram[lanes])
