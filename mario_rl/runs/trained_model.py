"""The model of a run with its trained weights."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mario_rl.config import TrainingConfig, from_dict
from mario_rl.environment.actions import pad_table
from mario_rl.environment.smb.observation import OBSERVATIONS
from mario_rl.learners.registry import build_model
from mario_rl.models.base import Model
from mario_rl.runs.checkpoint import CheckpointError, load_checkpoint, load_newest_good
from mario_rl.runs.directory import RunDirectory, RunError

__all__ = ["TrainedModel", "Which", "load_trained_model"]

Which = Literal["best", "latest"]


@dataclass(frozen=True)
class TrainedModel:
    """A model that has learned something, and where it comes from."""

    model: Model
    config: TrainingConfig
    steps: int
    """Environment steps it was trained for."""
    file: Path
    warnings: tuple[str, ...]
    """What the user should know: files that were damaged and passed over."""


def load_trained_model(run: RunDirectory, which: Which | None = None) -> TrainedModel:
    """The model of a run: the file the user named, or the best weights, or the latest (`which` asks for one of them).

    Damaged or missing weights are passed over for the next best: best.pt, weights.pt, the newest good checkpoint.
    """
    config = run.config()
    state, file, warnings = _find_weights(run, which)
    if "model" not in state:
        raise RunError(f"{file} holds no weights of a model")
    if "config" in state:
        _check_same_network(from_dict(state["config"]), config, file)
    model = build_model(config, OBSERVATIONS[config.observation].space, len(pad_table(config.actions)))
    try:
        model.load_state_dict(state["model"])
    except RuntimeError as problem:
        raise RunError(f"{file} does not fit the model {config.model} of {run.path}: it is of another run") from problem
    return TrainedModel(model, config, _steps(state), file, tuple(warnings))


def _find_weights(run: RunDirectory, which: Which | None) -> tuple[dict[str, Any], Path, list[str]]:
    if run.chosen_file is not None:
        return load_checkpoint(run.chosen_file), run.chosen_file, []
    if which == "best" and not run.best_pt.exists():
        raise RunError(f"{run.path} has no best.pt: no evaluation has been won yet; use --weights latest")
    warnings: list[str] = []
    for file in (run.weights_pt,) if which == "latest" else (run.best_pt, run.weights_pt):
        if file.exists():
            try:
                return load_checkpoint(file), file, warnings
            except CheckpointError as problem:
                warnings.append(f"skipped weights: {problem}")
    try:
        state, file, skipped = load_newest_good(run)
    except CheckpointError as problem:
        raise RunError(
            f"{run.path} has no weights that can be used: {'; '.join([*warnings, str(problem)])}"
        ) from problem
    return state, file, warnings + skipped


def _check_same_network(trained: TrainingConfig, wanted: TrainingConfig, file: Path) -> None:
    for name in ("model", "observation", "actions", "torso", "hidden", "size"):
        ours, theirs = getattr(wanted, name), getattr(trained, name)
        if ours != theirs:
            raise RunError(f"{file} was trained with {name} {theirs}, but the run's config.yaml says {ours}")


def _steps(state: dict[str, Any]) -> int:
    return int(state["steps"] if "steps" in state else state.get("counters", {}).get("steps", 0))
