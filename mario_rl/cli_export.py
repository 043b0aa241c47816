"""The command that gives a trained agent to others: `mario-rl export`."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mario_rl.cli_runs import CheckpointsOption, WeightsOption
from mario_rl.cli_selfplay_evaluate import progress_line
from mario_rl.mistake import Mistake, mistakes_in_one_line, signals_as_ctrl_c

if TYPE_CHECKING:
    from mario_rl.export.onnx_file import Agreement
    from mario_rl.export.options import ExportOptions
    from mario_rl.runs.directory import RunDirectory

NEEDED = ("torch", "onnx", "onnxruntime", "onnxscript", "sb3_contrib", "stable_baselines3")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("export")(export)


def export(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="A run (its directory, its name, or a checkpoint file in it), a player file of self-play, or a "
            "packaged player (champion).",
        ),
    ],
    hub_folder: Annotated[
        Path | None,
        typer.Option(
            help="Write a directory for the Hugging Face Hub: model card, weights, ONNX, evaluation, video.",
            show_default=False,
        ),
    ] = None,
    wandb: Annotated[
        str | None,
        typer.Option(
            metavar="PROJECT",
            help="Send the run's curves and files to this project of Weights & Biases.",
            show_default=False,
        ),
    ] = None,
    weights: WeightsOption = None,
    episodes: Annotated[
        int | None,
        typer.Option(min=1, help="Episodes of each protocol in the card (Super Mario Bros.).", show_default="100"),
    ] = None,
    games: Annotated[
        int | None,
        typer.Option(min=2, help="Games of each match in the card, an even number (self-play).", show_default="100"),
    ] = None,
    no_video: Annotated[bool, typer.Option("--no-video", help="Make no video.")] = False,
    checkpoints: CheckpointsOption = Path("checkpoints"),
) -> None:
    """Export a trained agent for others.

    As a directory to upload to the Hugging Face Hub, or as a run of Weights & Biases. The ONNX file in the directory is
    compared with the agent on observations of real games; if it differs, there is no directory.
    """
    if hub_folder is None and wandb is None:
        raise Mistake("nothing to do: --hub-folder DIR writes a folder, --wandb PROJECT sends the run to W&B")
    if games is not None and games % 2:
        raise Mistake(f"--games {games} is odd: it is even, so that the players sit in each seat as often")
    with mistakes_in_one_line(), signals_as_ctrl_c():
        _check_installed(hub_folder is not None, wandb is not None)
        from mario_rl.export.drmario import is_player
        from mario_rl.export.folder import check_place
        from mario_rl.export.options import ExportOptions

        if hub_folder is not None:
            check_place(hub_folder)
        if is_player(run, checkpoints):
            _only_for("runs of Super Mario Bros.", run, weights=weights, episodes=episodes)
            options = ExportOptions(games, not no_video, progress_line)
            _export_player(run, checkpoints, hub_folder, wandb, options)
        else:
            _only_for("players of self-play", run, games=games)
            options = ExportOptions(episodes, not no_video, progress_line)
            _export_run(run, checkpoints, weights, hub_folder, wandb, options)


def _export_run(
    name: str, checkpoints: Path, weights: Any, folder: Path | None, project: str | None, options: ExportOptions
) -> None:
    import torch

    from mario_rl.runs.directory import RunDirectory
    from mario_rl.runs.trained_model import load_trained_model

    torch.set_num_threads(1)  # the models are small: more threads only wait for each other
    found = RunDirectory.open(name, checkpoints)
    if folder is not None:
        from mario_rl.export.mario import export_mario

        trained = load_trained_model(found, weights)
        for warning in trained.warnings:
            print(f"mario-rl: {warning}", file=sys.stderr)
        _say(folder, export_mario(found, trained, folder, options))
    if project is not None:
        _upload(found, found.config(), project, folder)


def _export_player(
    name: str, checkpoints: Path, folder: Path | None, project: str | None, options: ExportOptions
) -> None:
    from mario_rl.export.drmario import export_drmario, find_player

    found = find_player(name, checkpoints)
    if project is not None and (found.run is None or found.config is None):
        raise Mistake(f"{name} is a player without a run: it has no curves for --wandb")
    if folder is not None:
        _say(folder, export_drmario(found, folder, options))
    if project is not None:
        assert found.run is not None
        _upload(found.run, found.config, project, folder)


def _upload(run: RunDirectory, config: Any, project: str, folder: Path | None) -> None:
    from mario_rl.export.published_settings import published
    from mario_rl.export.wandb_upload import upload

    where, points, files = upload(run, project, dataclasses.asdict(published(config)), folder)
    print(f"W&B: {points:,} points and {files} files: {where}")


def _say(folder: Path, agreement: Agreement) -> None:
    print(
        f"policy.onnx agrees: {agreement.observations} observations, largest difference "
        f"{agreement.largest_difference:.1e} (allowed: {agreement.tolerance:g})"
    )
    for file in sorted(folder.iterdir()):
        print(f"{file} ({file.stat().st_size / 1e6:.2f} MB)")
    print(f"upload       hf upload <you>/{folder.resolve().name} {folder}")


def _check_installed(for_the_hub: bool, for_wandb: bool) -> None:
    """A Mistake about the first package that is missing, before any work."""
    needed = [(package, "export") for package in NEEDED] if for_the_hub else [("torch", "train")]
    for package, extra in [*needed, *([("wandb", "wandb")] if for_wandb else [])]:
        if importlib.util.find_spec(package) is None:
            raise Mistake(f"{package} is not installed: pip install 'mario-rl[{extra}]'")


def _only_for(whom: str, run: str, **options: object) -> None:
    given = [f"--{name}" for name, value in options.items() if value is not None]
    if given:
        raise Mistake(f"{', '.join(given)}: only for {whom}, not for {run!r}")
