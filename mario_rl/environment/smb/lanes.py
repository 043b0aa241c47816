"""Super Mario Bros. played in n lanes at once: the one implementation behind the single and the vector environment.

A step holds each lane's buttons for `frame_skip` frames. A lane in which the pad then does nothing (a pipe, an area
being loaded, Mario growing) is played on without the agent until it does again, so none of that costs it a step.
"""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from mario_rl.emulators.base import Screen
from mario_rl.emulators.embedded import EmbeddedBatch
from mario_rl.emulators.rom import find_rom
from mario_rl.environment.actions import pad_table
from mario_rl.environment.lane_random import LaneRandom
from mario_rl.environment.lane_state import Arrays, check_identity, packed, unpacked
from mario_rl.environment.smb import memory
from mario_rl.environment.smb.episode import Episodes, Outcome
from mario_rl.environment.smb.levels import StartStates
from mario_rl.environment.smb.memory import GameMemory, Mask
from mario_rl.environment.smb.observation import OBSERVATIONS, Observation
from mario_rl.environment.smb.reward import reward
from mario_rl.environment.smb.settings import SmbSettings
from mario_rl.environment.smb.starts import Start, Starts

# Busy lanes are played on in pieces of this many frames, which is also the most an agent can lose to one.
WAIT_FRAMES = 4
# The longest waits (area loads with their title screens) take about 300 frames; this bound only guards the loop.
LONGEST_WAIT_FRAMES = 1000

Info = dict[str, npt.NDArray[Any]]


class SmbLanes:
    """n lanes of the game, their episodes, observations and rewards."""

    def __init__(
        self, lanes: int, settings: SmbSettings, threads: int = 1, draw: bool = False, starts: Starts | None = None
    ):
        rom = Path(find_rom("smb", settings.rom)).read_bytes()
        self.lanes = lanes
        self.settings = settings
        self.console = EmbeddedBatch(rom, lanes=lanes, threads=threads)
        self.game = GameMemory(self.console.ram)
        self.episodes = Episodes(lanes, settings.stuck_steps, settings.max_steps)
        self.random = LaneRandom(lanes)
        self.observation: Observation = OBSERVATIONS[settings.observation](self.console, self.game)
        self.pad_table = pad_table(settings.actions)
        self.observation_space = deepcopy(self.observation.space)  # of its own: a space holds a random generator
        self.action_space = spaces.Discrete(len(self.pad_table))
        self.starts = starts
        self.practice = np.zeros(lanes, np.bool_)  # the episode began elsewhere than at a level's start
        self._start_states = StartStates(rom)

        # How each kind of step treats the screen: nobody looks, somebody renders, or frames are stacked as pixels.
        unstacked: Screen = "draw" if draw else "off"
        self._step_screen: Screen = "push" if self.observation.drawn else unstacked
        self._wait_screen: Screen = "replace" if self.observation.drawn else unstacked
        self._reset_screen: Screen = "fill" if self.observation.drawn else unstacked
        self._pads = np.zeros((lanes, 2), np.uint8)
        self._no_pads = np.zeros((lanes, 2), np.uint8)
        # level and frames waited; None where an episode began elsewhere
        self._began_at: list[tuple[str, int] | None] = [None] * lanes
        self._first_observations: dict[tuple[str, int], npt.NDArray[Any]] = {}
        self._none_died = np.full(lanes, -1, np.int32)
        self._none_died.flags.writeable = False

    def reset(self, lanes: Mask) -> None:
        """Start a new episode in the masked lanes: a level, a start state, a random wait."""
        levels = self._draw_levels(lanes)
        waits = self.random.below(self.settings.noop_max + 1, lanes).tolist()
        starts = [self._start_states.after_waiting(level, wait) for level, wait in zip(levels, waits, strict=True)]
        self.console.load_lanes(lanes, starts)
        # one frame more, the same for everybody: loading a state draws nothing, running a frame does
        self.console.step(self._no_pads, 1, lanes, self._reset_screen)
        self.begin(lanes, levels)
        for lane, level, wait in zip(np.flatnonzero(lanes), levels, waits, strict=True):
            self._began_at[lane] = (level, wait)

    def restart(self, lanes: Mask, outcome: Outcome | None) -> None:
        """Start a new episode in the masked lanes where `starts` wants it, or as `reset` does."""
        if self.starts is None:
            self.reset(lanes)
            return
        chosen = self.starts.choose(self, lanes, outcome)
        elsewhere = np.zeros(self.lanes, np.bool_)
        elsewhere[list(chosen)] = True
        if (lanes & ~elsewhere).any():
            self.reset(lanes & ~elsewhere)
        if chosen:
            self._restore(elsewhere, [chosen[lane] for lane in np.flatnonzero(elsewhere).tolist()])
        self.practice[lanes] = elsewhere[lanes]
        self.starts.began(self, lanes)

    def _restore(self, lanes: Mask, starts: list[Start]) -> None:
        """Start a new episode in the masked lanes, each with a state of its own."""
        self.console.load_lanes(lanes, [start.state for start in starts])
        self.console.step(self._no_pads, 1, lanes, self._reset_screen)
        self.begin(lanes, [start.level for start in starts])
        for lane in np.flatnonzero(lanes).tolist():
            self._began_at[lane] = None

    def observe(self) -> npt.NDArray[Any]:
        """What all lanes see now, as an array of its own."""
        return self.observation.read()

    def first_observations(self, lanes: Mask) -> npt.NDArray[Any]:
        """What the masked lanes see, whose episodes have just begun."""
        return np.stack([self._first_observation(lane) for lane in np.flatnonzero(lanes).tolist()])

    def _first_observation(self, lane: int) -> npt.NDArray[Any]:
        """The same after every such start, so it is read only once."""
        start = self._began_at[lane]
        if start is None:
            return self.observation.read_lane(lane)
        if start not in self._first_observations:
            self._first_observations[start] = self.observation.read_lane(lane)
        return self._first_observations[start]

    def begin(self, lanes: Mask, levels: list[str]) -> None:
        """Begin episodes where the masked lanes' consoles stand now (a start state, or any state loaded into them).

        `levels` names the level of each of these lanes, in order.
        """
        self.game.look()
        self._pads[lanes] = 0
        self.episodes.begin(lanes, self.game, levels)

    def step(self, actions: npt.NDArray[np.integer[Any]]) -> tuple[npt.NDArray[np.float32], Outcome]:
        """Play one step in every lane; ended episodes are left as they ended."""
        pads = self.pad_table[actions]
        if self.settings.sticky:
            repeat = self.random.uniform() < self.settings.sticky
            pads = np.where(repeat, self._pads[:, 0], pads)
        self._pads[:, 0] = pads
        self.console.step(self._pads, self.settings.frame_skip, None, self._step_screen)

        game = self.game
        game.look()
        ordinary = game.all_ordinary()
        travelled = None if ordinary else self._play_on()
        outcome = self.episodes.advance(game, ordinary, travelled)
        if self.starts is not None:
            self.starts.stepped(self, outcome)
        return reward(outcome, self.settings.weights, self.settings.frame_skip), outcome

    def _play_on(self) -> Mask | None:
        """Play the lanes in which Mario cannot be moved until he can, or the episode is over.

        Returns the lanes in which an area was loaded meanwhile, or None if there are none.
        """
        game = self.game
        travelled = np.zeros(self.lanes, np.bool_)
        for _ in range(0, LONGEST_WAIT_FRAMES, WAIT_FRAMES):
            busy = ~(game.controllable() | game.dead() | game.finished() | self.episodes.warped(game))
            if not busy.any():
                break
            travelled |= busy & (game.task != memory.TASK_RUNNING)
            self.console.step(self._no_pads, WAIT_FRAMES, busy, self._wait_screen)
            game.look()
        return travelled if travelled.any() else None

    def info(self, outcome: Outcome | None) -> Info:
        """What happened, one array a key (docs/environment.md lists them). `outcome` is None after a reset."""
        game, episodes = self.game, self.episodes
        nowhere = episodes.nowhere
        steps, _, x, best_x, _, _, area, loops, _ = episodes.counters.copy()
        info = {
            "x_pos": x,
            "y_pos": game.y(),
            "x_pos_max": best_x,
            "distance": episodes.distance(),
            "time": game.clock,
            "coins": game.coins,
            "score": game.score,
            "life": game.lives.copy(),
            "status": game.power.copy(),
            "world": game.world + np.uint8(1),
            "stage": game.stage + np.uint8(1),
            "area": area,
            "level": episodes.level.copy(),
            "episode_length": steps,
            "loops": loops,
            "flag_get": nowhere if outcome is None else outcome.flag,
            "death": nowhere if outcome is None else outcome.death,
            "death_x": np.where(outcome.death, x, -1) if outcome is not None and outcome.any_ended else self._none_died,
            "time_up": nowhere if outcome is None or not outcome.any_ended else outcome.death & (game.time_is_up != 0),
            "stuck": nowhere if outcome is None else outcome.stuck,
            "warp": nowhere if outcome is None else outcome.warp,
        }
        if self.starts is not None:
            info |= {"practice": self.practice.copy()} | self.starts.info()
        return info

    def state_dict(self) -> dict[str, Any]:
        """The exact state of all lanes: text, numbers and bytes, which every way of saving takes."""
        return {
            "settings": self._identity(),
            "consoles": [self.console.save(lane) for lane in range(self.lanes)],
            "arrays": packed(self._arrays()),
            "began_at": [None if start is None else list(start) for start in self._began_at],
            "curriculum": self._curriculum(),
            "starts": None if self.starts is None else self.starts.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken.

        A ValueError, and no change, if that was with other settings, another curriculum or another number of lanes.
        """
        saved_with = state.get("settings", {}) | {"curriculum": state.get("curriculum")}
        check_identity(saved_with, self._identity() | {"curriculum": self._curriculum()})
        arrays = self._arrays()
        saved = unpacked(state["arrays"], arrays)
        self.console.load_lanes(np.ones(self.lanes, np.bool_), state["consoles"])  # refuses before it changes anything
        for name, values in saved.items():
            arrays[name][:] = values
        self._began_at = [None if start is None else (str(start[0]), int(start[1])) for start in state["began_at"]]
        if self.starts is not None:
            self.starts.load_state_dict(state["starts"])
        self.game.look()

    def _arrays(self) -> Arrays:
        """What the lanes know besides their consoles, by name: the arrays themselves."""
        arrays: Arrays = {"pads": self._pads, "random": self.random.counters}
        if self.starts is not None:
            arrays["practice"] = self.practice
        arrays |= self.episodes.arrays
        if self.observation.remembered is not None:
            arrays["observation"] = self.observation.remembered
        return arrays

    def _identity(self) -> dict[str, str]:
        """Everything that decides how the game goes on, as text."""
        settings = self.settings
        names = ("observation", "actions", "frame_skip", "sticky", "noop_max", "stuck_steps", "max_steps", "weights")
        return {
            "lanes": str(self.lanes),
            "ROM": f"{self.console.rom.hash:016x}",
            "levels": ", ".join(settings.levels),
            **{name: str(getattr(settings, name)) for name in names},
        }

    def _curriculum(self) -> str | None:
        """What decides where episodes begin, if anything does: states of before there were any have none."""
        return None if self.starts is None else type(self.starts).__name__

    def seed(self, lane: int, generator: np.random.Generator) -> None:
        """Start a lane's own stream of random numbers from this generator."""
        self.random.counters[lane] = generator.integers(2**64, dtype=np.uint64)

    def frame(self, lane: int) -> npt.NDArray[np.uint8]:
        """The screen of a lane, uint8[240, 256, 3]."""
        return self.console.frame(lane)

    def close(self) -> None:
        """Free the consoles."""
        self.console.close()

    def _draw_levels(self, lanes: Mask) -> list[str]:
        levels = self.settings.levels
        if len(levels) == 1:
            return [levels[0]] * int(lanes.sum())
        return [levels[choice] for choice in self.random.below(len(levels), lanes)]
