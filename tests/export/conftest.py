"""Runs to export: networks of a few units whose weights are chance, so that every number in them counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from mario_rl import cli
from mario_rl.runs.checkpoint import load_checkpoint, save_checkpoint
from mario_rl.runs.directory import RunDirectory
from mario_rl.selfplay.placement_player import PlacementPlayer
from mario_rl.selfplay.player_file import PLAYER_FILE, save_placement_player
from mario_rl.selfplay.scorer import PlacementScorer
from tests.runs.players import make_run

torch.set_num_threads(1)

SMALL = {
    "ddqn": {"model": "ddqn", "torso": "cnn"},
    "ppo": {"model": "ppo"},
    "ppo-pixels": {"model": "ppo", "observation": "pixels"},
    "dreamer": {"model": "dreamer"},
    "dreamer-pixels": {"model": "dreamer", "observation": "pixels"},
}


def shaken_run(parent: Path, name: str, kind: str, seed: int = 0) -> RunDirectory:
    """A run of one of SMALL, with weights that no initialisation made small or equal."""
    run = make_run(parent, name, stuck_steps=20, noop_max=4, checkpoints=str(parent), **SMALL[kind])
    state = load_checkpoint(run.weights_pt)
    torch.manual_seed(seed)
    for values in state["model"].values():
        if values.is_floating_point():
            values += 0.05 * torch.randn(values.shape)
    save_checkpoint(run.weights_pt, state)
    return run


def small_player(file: Path, seed: int = 0) -> PlacementPlayer:
    """A player of placements that nobody trained, in a file."""
    torch.manual_seed(seed)
    scorer = PlacementScorer(8, 8)
    save_placement_player(file, scorer.state_dict(), {"hidden": 8, "value_hidden": 8}, 1234, {"steps": 1234})
    return PlacementPlayer(scorer, file.stem)


@pytest.fixture
def selfplay_run(tmp_path: Path) -> RunDirectory:
    """What `mario-rl selfplay train` leaves, without the training."""
    path = tmp_path / "checkpoints" / "duel"
    path.mkdir(parents=True)
    (path / "config.yaml").write_text("env: placement\nhidden: 8\nvalue_hidden: 8\nseed: 3\n")
    small_player(path / PLAYER_FILE)
    return RunDirectory(path)


@pytest.fixture
def mario_rl() -> Callable[..., int]:
    """The command line; returns its exit code."""

    def call(*arguments: object) -> int:
        with pytest.raises(SystemExit) as ending:
            cli.main([str(argument) for argument in arguments])
        assert isinstance(ending.value.code, int)
        return ending.value.code

    return call


def assert_names_nobody(folder: Path, *secrets: str) -> None:
    """No file of an export says where it was made."""
    source_tree = str(Path(__file__).resolve().parents[2])
    for file in folder.iterdir():
        content = file.read_bytes()
        for secret in (source_tree, *secrets):
            assert secret.encode() not in content, f"{file.name} names {secret}"
