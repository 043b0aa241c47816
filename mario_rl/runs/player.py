"""A trained model at play, one episode at a time, for people to look at.

The environment holds an action for several frames and draws at most the last of them. So that every frame can be shown,
a second console plays the same inputs frame by frame; after each step its state must equal the environment's, byte by
byte, so what people see is what the agent did.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from mario_rl.emulators.embedded import EmbeddedEmulator
from mario_rl.environment.actions import NOOP, action_names
from mario_rl.environment.smb.env import SmbEnv
from mario_rl.environment.smb.lanes import SmbLanes
from mario_rl.runs.evaluate import Episode, Playing, Protocol, evaluation_settings
from mario_rl.runs.trained_model import TrainedModel

Picture = npt.NDArray[np.uint8]
"""uint8[240, 256, 3], RGB."""

FIRST_ACTION = 0  # every action set begins with it: nothing is held


@dataclass(frozen=True)
class Moment:
    """One step of an episode."""

    frames: tuple[Picture, ...]
    """What the screen showed meanwhile, in order; empty if nobody looks."""
    action: int
    """What was held: under the protocol "sticky" it may be the action before."""
    pad: int
    """The same as the pad's bits."""
    values: npt.NDArray[np.float32]
    """What the model thought of each action before."""
    info: dict[str, Any]
    ended: bool

    @property
    def episode(self) -> Episode:
        """The episode up to here."""
        info = self.info
        return Episode(info["level"], info["flag_get"], info["x_pos_max"], info["episode_length"])


class Player:
    """Plays episodes with a trained model. The same seed gives the same episode, to the frame."""

    def __init__(
        self,
        trained: TrainedModel,
        protocol: Protocol = "stochastic",
        level: str | None = None,
        sticky: float = 0.25,
    ):
        self.trained = trained
        self.protocol: Protocol = protocol
        settings = evaluation_settings(trained.config, protocol, level, sticky)
        # Actions stick here, not in the environment, which would not tell what it held.
        self._sticky = settings.pop("sticky")
        self._env = SmbEnv(**settings)
        self._projector = _Projector(self._env.lanes)
        self.actions = action_names(trained.config.actions)

    def play(self, seed: int, drawn: bool = True) -> Iterator[Moment]:
        """Play one episode; without `drawn` its moments have no frames, which is much faster."""
        generator = torch.Generator().manual_seed(seed)
        chance = np.random.default_rng(seed)
        observation, _ = self._env.reset(seed=seed)
        self._projector.load()
        playing = Playing(self.trained.model, 1, self.protocol, generator)
        action = FIRST_ACTION
        began, ended = True, False
        while not ended:
            playing.see(observation[None], np.array([began]))
            began = False
            values = playing.values()[0]
            wanted = int(playing.act()[0])
            action = action if chance.random() < self._sticky else wanted
            observation, _, terminated, truncated, info = self._env.step(np.int64(action))
            ended = terminated or truncated
            pad = int(self._env.lanes.pad_table[action])
            frames = self._projector.catch_up(pad) if drawn else ()
            yield Moment(frames, action, pad, values, info, ended)

    def afterwards(self, frames: int) -> Iterator[Picture]:
        """What the game shows after the end of an episode that was drawn: sliding down the flagpole, falling."""
        return self._projector.play_on(frames)

    def close(self) -> None:
        """Free the consoles."""
        self._env.close()
        self._projector.close()


class _Projector:
    """The second console: follows the only lane of an environment and draws every frame."""

    def __init__(self, lanes: SmbLanes):
        self._lanes = lanes
        self._console = EmbeddedEmulator(lanes.console.rom)
        self._frames = 0  # of the lane's console since it was switched on, up to which we have followed

    def load(self) -> None:
        """Start where the lane is."""
        self._console.load(self._lanes.console.save(0))
        self._frames = int(self._lanes.console.frames[0])

    def catch_up(self, pad: int) -> tuple[Picture, ...]:
        """Play the step that the lane has just played: the pad for `frame_skip` frames, then nothing while it waits."""
        due = int(self._lanes.console.frames[0]) - self._frames
        held = self._lanes.settings.frame_skip
        pictures = tuple(self._next(pad if frame < held else NOOP) for frame in range(due))
        self._frames += due
        if self._console.save() != self._lanes.console.save(0):
            raise AssertionError("the second console does not show what the environment played")
        return pictures

    def play_on(self, frames: int) -> Iterator[Picture]:
        """Frames without a pad."""
        for _ in range(frames):
            yield self._next(NOOP)

    def close(self) -> None:
        self._console.close()

    def _next(self, pad: int) -> Picture:
        self._console.step((pad, 0), 1, render=True)
        return self._console.frame().copy()
