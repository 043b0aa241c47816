"""The warm start: the agent learns to press what the teacher would press, in the states it gets itself into.

DAgger (Ross et al. 2011): the student plays, the teacher says what it would have done, everything it ever said is
learned from. What the teacher says is two things, the buttons and (from the bot's ratings) how good each target is.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from mario_rl.bytes_in_checkpoints import bytes_as_tensors, tensors_as_bytes
from mario_rl.emulators.base import RAM_SIZE
from mario_rl.environment.drmario import memory
from mario_rl.environment.drmario.console import RulesGames
from mario_rl.environment.drmario.memory import BLOCK, CELLS, FIELD, GameMemory
from mario_rl.environment.drmario.vector import DrMarioVectorEnv
from mario_rl.selfplay.frames.config import FramesConfig
from mario_rl.selfplay.frames.landing import TARGETS
from mario_rl.selfplay.frames.network import FramesNetwork
from mario_rl.selfplay.frames.observation import look
from mario_rl.selfplay.frames.player import FramesPlayer
from mario_rl.selfplay.frames.teacher import Teacher

# A state is remembered as the bytes of RAM that an observation of the first seat, alone, is read from.
REMEMBERED = np.array(
    [memory.MODE, memory.PLAYERS, memory.HELD, *range(BLOCK, BLOCK + 0x30), *range(FIELD, FIELD + CELLS)]
)
COLLECT_STEPS = 32  # between two rounds of learning
WORST = 100.0  # ratings further than this below the best one are all the same
# Lanes: the teacher plays in some, so that there are always states of a game that goes well; in others the student
# draws its buttons as PPO will, so that it learns how to go on after a slip.
TEACHERS_SHARE, DRAWN_SHARE = 0.125, 0.25


class Lessons:
    """What the teacher said about the last `capacity` states that were kept."""

    def __init__(self, capacity: int):
        self.states = np.zeros((capacity, len(REMEMBERED)), np.uint8)
        self.actions = np.zeros(capacity, np.uint8)
        self.values = np.zeros((capacity, TARGETS), np.float16)  # ratings below the best, 0 to -WORST
        self.count = 0  # ever

    def __len__(self) -> int:
        return min(self.count, len(self.states))

    def add(self, states: npt.NDArray[np.uint8], actions: npt.NDArray[Any], values: npt.NDArray[np.float32]) -> None:
        """Keep lessons about states, RAM [k, 2048]."""
        where = (self.count + np.arange(len(states))) % len(self.states)
        self.states[where] = states[:, REMEMBERED]
        self.actions[where] = actions
        self.values[where] = np.maximum(values - values.max(1, keepdims=True), -WORST)
        self.count += len(states)

    def batch(self, chosen: npt.NDArray[np.integer[Any]]) -> tuple[dict[str, Tensor], Tensor, Tensor]:
        """What is seen in these, the actions, and the ratings of the targets."""
        ram = np.zeros((len(chosen), RAM_SIZE), np.uint8)
        ram[:, REMEMBERED] = self.states[chosen]
        seen = {name: torch.from_numpy(values) for name, values in look(GameMemory(ram), 0).items()}
        actions = torch.from_numpy(self.actions[chosen].astype(np.int64))
        return seen, actions, torch.from_numpy(self.values[chosen].astype(np.float32))

    def state_dict(self) -> dict[str, Any]:
        """Everything, as tensors."""
        arrays = {name: getattr(self, name)[: len(self)].copy() for name in ("states", "actions", "values")}
        return {"count": self.count, **{name: torch.from_numpy(array) for name, array in arrays.items()}}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there; the capacity must be the same."""
        self.count = int(state["count"])
        for name in ("states", "actions", "values"):
            getattr(self, name)[: len(self)] = state[name].numpy()


@dataclass
class Progress:
    """What a round of imitation found."""

    loss: float
    agreement: float  # the share of the student's buttons that are the teacher's, in the states it got into itself


class Imitation:
    """Teaches a network, round by round."""

    def __init__(self, network: FramesNetwork, config: FramesConfig, random: np.random.Generator):
        self.network = network
        self.config = config
        self.lessons = Lessons(config.lessons)
        self.optimiser = torch.optim.Adam(network.parameters(), lr=config.imitation_lr)
        self.rounds = 0
        self._random = random
        lanes = config.imitation_lanes
        self.env = DrMarioVectorEnv(lanes, level=config.levels, speed=config.speed, frame_skip=config.frame_skip)
        self.env.reset(seed=config.seed)
        games = self.env.lanes.games
        assert isinstance(games, RulesGames)
        self._teacher = Teacher(games.batch, 0, config.teacher)
        self._student = FramesPlayer(network, frame_skip=config.frame_skip)
        self._drawing = FramesPlayer(network, frame_skip=config.frame_skip, greedy=False)
        self._taught = np.arange(lanes) < TEACHERS_SHARE * lanes
        self._drawn = np.arange(lanes) >= (1 - DRAWN_SHARE) * lanes

    def round(self) -> Progress:
        """Play, and learn."""
        share_done = min(1.0, self.rounds / self.config.imitation_rounds)
        for group in self.optimiser.param_groups:
            group["lr"] = self.config.imitation_lr * (1 - 0.9 * share_done)
        agreement = self._play(teacher_only=self.lessons.count == 0)
        losses = []
        for _ in range(self.config.imitation_batches):
            chosen = self._random.integers(len(self.lessons), size=self.config.imitation_batch)
            seen, buttons, ratings = self.lessons.batch(chosen)
            loss = self.network(seen).loss(buttons, ratings)
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()
            losses.append(float(loss.detach()))
        self.rounds += 1
        return Progress(float(np.mean(losses)), agreement)

    def _play(self, teacher_only: bool) -> float:
        game = self.env.lanes.game
        agreed = asked = 0
        for _ in range(COLLECT_STEPS):
            lesson = self._teacher.teach()
            actions = lesson.actions.copy()
            if not teacher_only:
                actions = self._student.act(game, 0)
                agreed += int((actions == lesson.actions)[lesson.falling].sum())
                asked += int(lesson.falling.sum())
                actions[self._taught] = lesson.actions[self._taught]
                drawn = GameMemory(game.ram[self._drawn])
                actions[self._drawn] = self._drawing.act(drawn, 0)
            kept = (lesson.targets >= 0) & (self._random.random(len(actions)) < self.config.imitation_keep)
            if kept.any():
                self.lessons.add(game.ram[kept], lesson.actions[kept], lesson.values[kept])
            self.env.step(actions)
        return agreed / max(asked, 1)

    def state_dict(self) -> dict[str, Any]:
        """Everything between two rounds, as tensors and plain values (the random generators are the run's)."""
        return {
            "network": {name: weights.detach().clone() for name, weights in self.network.state_dict().items()},
            "optimiser": deepcopy(self.optimiser.state_dict()),
            "lessons": self.lessons.state_dict(),
            "rounds": self.rounds,
            "games": bytes_as_tensors(self.env.state_dict()),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly there."""
        self.network.load_state_dict(state["network"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.lessons.load_state_dict(state["lessons"])
        self.rounds = int(state["rounds"])
        self.env.load_state_dict(tensors_as_bytes(state["games"]))
