"""A run that has ended, for Weights & Biases: its curves, as TensorBoard has them, and its files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mario_rl.metrics.weights_and_biases import check_installed, open_run
from mario_rl.runs.directory import RunDirectory, RunError

FILES = ("config.yaml", "status.json", "evaluation.json", "weights.pt", "best.pt", "player.pt", "training.log")


def upload(
    run: RunDirectory, project: str, settings: Mapping[str, Any], folder: Path | None = None
) -> tuple[str, int, int]:
    """Send a run; where it is now, and how many points and files it has. A RunError if W&B does not want it.

    `folder` is an export of the run: then its files go along instead of the run's own.
    """
    check_installed()
    curves = list(_curves(run.tensorboard))
    if not curves:
        raise RunError(f"{run.path} has no curves: its tensorboard/ is empty, so there is nothing for W&B")
    files = sorted(folder.iterdir()) if folder is not None else [run.path / name for name in FILES]
    files = [file for file in files if file.is_file()]
    try:
        return _send(run, project, settings, curves, files)
    except Exception as problem:  # W&B has many errors of its own, and all of them mean the same to us
        raise RunError(f"Weights & Biases: {' '.join(str(problem).split())[:300]}") from problem


def _send(
    run: RunDirectory,
    project: str,
    settings: Mapping[str, Any],
    curves: Sequence[tuple[int, dict[str, float]]],
    files: Sequence[Path],
) -> tuple[str, int, int]:
    import wandb

    sent = open_run(project, run.name, settings, run.path)
    points = 0
    for steps, values in curves:
        sent.log({**values, "steps": steps})
        points += len(values)
    artifact = wandb.Artifact(_plain(run.name), type="model")
    for file in files:
        artifact.add_file(str(file), policy="immutable")  # where it is, without a copy in W&B's cache
    sent.log_artifact(artifact)
    where = str(sent.url) if sent.url else str(Path(sent.dir).parent)
    sent.finish()
    return where, points, len(files)


def _curves(tensorboard: Path) -> Iterator[tuple[int, dict[str, float]]]:
    """All points of all curves, by their steps."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # type: ignore[import-untyped]

    if not tensorboard.is_dir():
        return
    reader = EventAccumulator(str(tensorboard), size_guidance={"scalars": 0})  # 0: all of them
    reader.Reload()
    by_steps: dict[int, dict[str, float]] = {}
    for tag in reader.Tags()["scalars"]:
        for point in reader.Scalars(tag):
            by_steps.setdefault(point.step, {})[tag] = point.value
    yield from sorted(by_steps.items())


def _plain(name: str) -> str:
    """A name as W&B allows it for an artifact."""
    return "".join(sign if sign.isalnum() or sign in "-_." else "-" for sign in name)
