"""The side of Dreamer that lives in a worker: it plays with a memory, and replays sequences (see `Experience`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from torch import Tensor
from torch.nn import functional as F

from mario_rl.config import TrainingConfig
from mario_rl.learners.base import Array, LaneSteps, Metrics
from mario_rl.learners.dreamer import DreamerLearner, Replayed
from mario_rl.models.dynamics import State
from mario_rl.replay.sequences import Latents, SequenceReplay, Sequences


class DreamerExperience:
    """A worker's games under way, and its replay."""

    lockstep = False
    waits = True  # so that one worker is the same as one process, step for step

    def __init__(self, config: TrainingConfig, learner: DreamerLearner, space: spaces.Box, worker: int):
        self.config = config
        self.learner = learner
        self._dynamics = learner.model.world.dynamics
        seed = np.random.SeedSequence([config.seed, worker])
        replay_seed, action_seed, learning_seed = (int(child.generate_state(1)[0]) for child in seed.spawn(3))
        self.generator = torch.Generator().manual_seed(action_seed)
        learner.generator.manual_seed(learning_seed)
        self.replay = SequenceReplay(
            capacity=config.buffer_size,
            lanes=config.lanes,
            space=space,
            length=config.sequence_length,
            deterministic=self._dynamics.deterministic,
            variables=self._dynamics.variables,
            terminal_share=config.terminal_share,
            seed=replay_seed,
        )
        self._run_steps = 0  # of the environment, all workers together
        self._due = 0.0  # gradients; what is left after whole ones waits for the next round
        self._playing = learner.model.at_play(config.lanes)
        self._began = torch.ones(config.lanes, dtype=torch.bool)

    def act(self, observations: Array, progress: float, steps: int) -> npt.NDArray[np.int64]:
        """Drawn from the policy; at random as long as nothing has been learned."""
        self._run_steps = steps
        seen = torch.from_numpy(observations).to(self.config.device)
        self._playing.see(seen, self._began, self.generator)
        if self._learns():
            return self._playing.act(self.generator).cpu().numpy()
        random = torch.randint(self.learner.model.actions, (len(seen),), generator=self.generator)
        return self._playing.do(random.to(seen.device)).cpu().numpy()

    def record(self, steps: LaneSteps) -> None:
        """Into the replay, with the states of the games as they were seen before the step."""
        self.replay.add(steps, self._kept(self._playing.state))
        self._began = torch.from_numpy(steps.terminated | steps.truncated)

    def losses(self, progress: float) -> Iterator[tuple[Tensor, Metrics]]:
        """`accumulate_grads` minibatches for each gradient that is due, once the replay holds enough."""
        if not self._learns():
            return
        config, learner = self.config, self.learner
        # At first every step shows something new; later more is to be learned from what is known.
        self._due += config.gradients_per_collect * (0.5 if self._run_steps < config.new_steps else 1.0)
        due, self._due = divmod(self._due, 1.0)
        learner.entropy_weight = config.entropy_min + (config.entropy - config.entropy_min) * (1 - progress)
        for _ in range(int(due) * config.accumulate_grads):
            sampled = self.replay.sample(config.batch_size)
            loss, metrics, states = learner.loss(self._replayed(sampled), config.gamma)
            self.replay.refresh(sampled.places, self._kept(states))
            yield loss, metrics | {"replay_size": float(len(self.replay))}

    def _learns(self) -> bool:
        return len(self.replay) >= self.config.learning_starts and self.replay.sampleable > 0

    def _replayed(self, sampled: Sequences) -> Replayed:
        device = self.config.device

        def moved(array: Array) -> Tensor:
            return torch.from_numpy(array).to(device)

        classes = moved(sampled.before.classes).long()
        one_hot = F.one_hot(classes, self._dynamics.classes).float().flatten(-2)
        return Replayed(
            moved(sampled.observations),
            moved(sampled.actions),
            moved(sampled.rewards),
            moved(sampled.first),
            moved(sampled.terminal),
            State(moved(sampled.before.deterministic).float(), one_hot),
        )

    def _kept(self, state: State) -> Latents:
        """A state as a replay keeps it."""
        split = state.stochastic.reshape(-1, self._dynamics.variables, self._dynamics.classes)
        return Latents(state.deterministic.half().cpu().numpy(), split.argmax(-1).to(torch.uint8).cpu().numpy())

    def state_dict(self) -> dict[str, Any]:
        """The replay, the games under way, what is averaged, and the random generators."""
        return {
            "replay": self.replay.state_dict(),
            "generator": self.generator.get_state(),
            "learning_generator": self.learner.generator.get_state(),
            "return_range": self.learner.return_range,
            "state": list(self._playing.state),
            "actions": self._playing.actions,
            "began": self._began,
            "due": self._due,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken."""
        self.replay.load_state_dict(state["replay"])
        self.generator.set_state(state["generator"])
        self.learner.generator.set_state(state["learning_generator"])
        self.learner.return_range = float(state["return_range"])
        device = self.config.device
        self._playing.state = State(*(part.to(device) for part in state["state"]))
        self._playing.actions = state["actions"].to(device)
        self._began = state["began"]
        self._due = float(state["due"])
