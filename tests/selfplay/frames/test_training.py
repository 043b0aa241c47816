"""Runs: both stages, stopped anywhere and gone on with exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from mario_rl.runs.checkpoint import load_checkpoint
from mario_rl.runs.directory import RunError
from mario_rl.selfplay.frames.config import FramesConfig
from mario_rl.selfplay.frames.curriculum import WINDOW, Curriculum
from mario_rl.selfplay.frames.player import FramesPlayer
from mario_rl.selfplay.frames.training import train_frames
from mario_rl.settings import ConfigError

TINY = FramesConfig(
    imitation_rounds=4, imitation_lanes=8, imitation_batches=2, imitation_batch=32, lessons=150, width=16,
    envs=5, n_steps=32, batch_size=80, epochs=1, steps=160 * 6, critic_rollouts=1, solo_steps=160 * 2,
    self_prob=0.5, snapshot_every=160, pool_gate=0.0, checkpoint_minutes=60.0, evaluate_every=0,
)  # fmt: skip


def silent(line: str) -> None:
    assert "\n" not in line


def after(questions: int) -> Callable[[], bool]:
    """Says stop when it has been asked so often."""
    asked = iter(range(10**9))
    return lambda: next(asked) >= questions


def weights_of(directory: Path) -> dict[str, torch.Tensor]:
    return FramesPlayer.load(directory / "player.pt").network.state_dict()


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(values, other[name]) for name, values in one.items())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was never stopped."""
    torch.set_num_threads(1)
    directory = tmp_path_factory.mktemp("runs") / "whole"
    result = train_frames(TINY, directory, say=silent)
    assert result.finished and result.steps == TINY.steps
    return directory


# in the imitation, between the stages, in a rollout alone, in one against others
@pytest.mark.parametrize("questions", [2, 4, 50, 150])
def test_resumes_exactly(tmp_path: Path, whole: Path, questions: int) -> None:
    stopped = train_frames(TINY, tmp_path, stop=after(questions), say=silent)
    assert not stopped.finished and stopped.steps < TINY.steps and stopped.steps % 160 == 0
    torch.manual_seed(99)  # as in another process
    resumed = train_frames(None, tmp_path, say=silent, resume=True)
    assert resumed.finished
    assert same(weights_of(whole), weights_of(tmp_path))


def test_a_run_learns_and_plays_against_its_past(whole: Path) -> None:
    imitated = FramesPlayer.load(whole / "imitated.pt").network.state_dict()
    assert not same(weights_of(whole), imitated)
    state = load_checkpoint(whole / "checkpoint.pt")["reinforcement"]
    assert state["versus"]
    assert state["opponents"]["pool"]["candidate"]["steps"] >= TINY.solo_steps
    assert state["opponents"]["invited"]
    assert [len(seats) for seats in state["table"]["numbers"]] == [2, 2]
    assert list((whole / "tensorboard").iterdir())


def test_goes_on_beyond_its_end(tmp_path: Path) -> None:
    short = replace(TINY, steps=0)  # imitation only
    train_frames(short, tmp_path / "longer", say=silent)
    longer = replace(TINY, steps=320)
    train_frames(longer, tmp_path / "longer", say=silent, resume=True)
    train_frames(longer, tmp_path / "whole", say=silent)
    assert same(weights_of(tmp_path / "whole"), weights_of(tmp_path / "longer"))


def test_what_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no checkpoint"):
        train_frames(TINY, tmp_path, say=silent, resume=True)
    train_frames(replace(TINY, imitation_rounds=1, steps=160), tmp_path / "run", say=silent)
    with pytest.raises(RunError, match="holds a run already"):
        train_frames(TINY, tmp_path / "run", say=silent)
    with pytest.raises(ConfigError, match="keeps its own"):
        train_frames(replace(TINY, lr=1.0), tmp_path / "run", say=silent, resume=True)
    with pytest.raises(ConfigError, match="landing, cnn"):
        FramesConfig(network="mlp")
    for wrong in (
        {"level": "0-21"},
        {"lr": 0.0},
        {"envs": 0},
        {"speed": "fast"},
        {"batch_size": 1},
        {"gamma": 2.0},
    ):
        with pytest.raises(ConfigError, match="--"):
            FramesConfig(**wrong)


def test_the_curriculum_rises_with_the_clear_rate() -> None:
    curriculum = Curriculum(0, 2, 0.9)
    assert set(curriculum.levels()) == {0}
    assert [curriculum.played(0, True) for _ in range(WINDOW)] == [False] * (WINDOW - 1) + [True]
    assert set(curriculum.levels()) == {0, 1}
    assert not any(curriculum.played(0, True) for _ in range(WINDOW))  # an easier level says nothing
    assert not any(curriculum.played(1, game % 2 == 0) for game in range(3 * WINDOW))
    assert any(curriculum.played(1, True) for _ in range(WINDOW))
    saved = curriculum.state_dict()
    again = Curriculum(0, 2, 0.9)
    again.load_state_dict(saved)
    assert again.state_dict() == saved
    assert not any(again.played(2, True) for _ in range(WINDOW))
    assert again.passed and again.hardest == 2
