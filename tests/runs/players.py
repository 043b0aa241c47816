"""Models that are not trained but do something definite, and runs that hold them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import torch
from torch import Tensor, nn

from mario_rl.config import TrainingConfig
from mario_rl.environment.actions import pad_table
from mario_rl.environment.smb.observation import OBSERVATIONS
from mario_rl.learners.registry import build_model
from mario_rl.runs.checkpoint import save_checkpoint
from mario_rl.runs.directory import RunDirectory
from mario_rl.runs.trained_model import TrainedModel
from tests.environment.conftest import read_recording

RIGHT = 1  # walks into the first goomba of 1-1


class Walker(nn.Module):
    """Always does the same."""

    shows = "Q"

    def __init__(self, action: int = RIGHT, actions: int = 5):
        super().__init__()
        self.values = nn.Parameter(torch.nn.functional.one_hot(torch.tensor(action), actions).float())

    def action_values(self, x: Tensor) -> Tensor:
        return self.values.expand(len(x), -1)

    def select_action(self, x: Tensor, epsilon: float = 0.0, generator: torch.Generator | None = None) -> Tensor:
        return self.action_values(x).argmax(dim=1)

    def sample_action(self, x: Tensor, generator: torch.Generator | None = None) -> Tensor:
        return self.select_action(x)


class Chooser(Walker):
    """Greedy: a fixed but varied choice that depends on what it sees. Sampling: any action but 0."""

    def __init__(self, actions: int = 5):
        super().__init__(actions=actions)
        self.mixer = torch.Generator().manual_seed(0)
        self.weights = torch.randn(OBSERVATIONS["tiles"].space.shape[0], actions, generator=self.mixer)
        self.weights[:, 2:] += 0.05  # some pull to the right

    def action_values(self, x: Tensor) -> Tensor:
        return x @ self.weights

    def sample_action(self, x: Tensor, generator: torch.Generator | None = None) -> Tensor:
        return torch.randint(1, self.weights.shape[1], (len(x),), generator=generator)


class Replayer(Walker):
    """Plays a recorded game, in every lane that starts as the recording does."""

    def __init__(self, name: str):
        super().__init__(actions=12)
        self.recording = read_recording(name)
        self.start = torch.from_numpy(self.recording.environment().reset()[0])
        self.positions: dict[int, int] = {}

    def select_action(self, x: Tensor, epsilon: float = 0.0, generator: torch.Generator | None = None) -> Tensor:
        actions = []
        for row, seen in enumerate(x):
            self.positions[row] = 0 if torch.equal(seen, self.start) else self.positions[row] + 1
            actions.append(self.recording.actions[self.positions[row]])
        return torch.tensor(actions)


def flag_config() -> TrainingConfig:
    """The settings in which recorded games can be played."""
    return TrainingConfig(actions="complex", noop_max=0, stuck_steps=1000)


def trained(model: nn.Module, config: TrainingConfig | None = None) -> TrainedModel:
    """As if it had been loaded."""
    return TrainedModel(model, config or TrainingConfig(), 0, Path("weights.pt"), ())


def make_run(parent: Path, name: str = "run", **settings: object) -> RunDirectory:
    """A run with the weights of an untrained model."""
    config = TrainingConfig(**{"hidden": 8} | settings)
    run = RunDirectory.create(parent, name, config)
    save_checkpoint(run.weights_pt, weights(config, steps=1000))
    return run


def weights(config: TrainingConfig, steps: int, seed: int = 0) -> dict[str, object]:
    """What a run saves as weights.pt."""
    torch.manual_seed(seed)
    model = build_model(config, OBSERVATIONS[config.observation].space, len(pad_table(config.actions)))
    return {"model": model.state_dict(), "config": dataclasses.asdict(config), "steps": steps}
