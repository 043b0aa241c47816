"""Exports a run of Super Mario Bros.: weights, ONNX, evaluation, video, card."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from mario_rl import __version__
from mario_rl.config import TrainingConfig, write_yaml
from mario_rl.export.folder import new_folder, write_facts
from mario_rl.export.mario_card import card_of
from mario_rl.export.mario_policies import policy_of, samples_of
from mario_rl.export.onnx_file import Agreement, check_onnx, write_onnx
from mario_rl.export.options import ExportOptions
from mario_rl.export.published_settings import fingerprint, published
from mario_rl.runs import report, video
from mario_rl.runs.checkpoint import save_checkpoint
from mario_rl.runs.directory import RunDirectory
from mario_rl.runs.evaluate import PROTOCOLS, evaluate
from mario_rl.runs.player import Player
from mario_rl.runs.trained_model import TrainedModel

EPISODES = 100  # of each protocol, unless chosen
TAKES = 10  # episodes of which the best is recorded
STICKY = 0.25
SEED = 0


def export_mario(run: RunDirectory, trained: TrainedModel, folder: Path, options: ExportOptions) -> Agreement:
    """Write the folder; what the check of its ONNX file found. A RunError says why there is none."""
    config = dataclasses.replace(published(trained.config), name=run.name)
    with new_folder(folder) as building:
        agreement = _write_policy(building, trained)
        weights = {"model": trained.model.state_dict(), "config": dataclasses.asdict(config), "steps": trained.steps}
        save_checkpoint(building / "weights.pt", weights)
        write_yaml(config, building / "config.yaml")
        figures = _figures(run, trained, folder, options)
        report.write_report(building / "evaluation.json", figures)
        if options.video:
            _record(trained, building / "replay.mp4", options)
        card = card_of(run.name, config, trained, figures, agreement, with_video=options.video)
        (building / "README.md").write_text(card.text(), encoding="utf-8")
        write_facts(
            building,
            {
                "version": __version__,
                "game": "smb",
                "weights_sha256": figures["weights_sha256"],
                "onnx": dataclasses.asdict(agreement),
            },
        )
    return agreement


def _write_policy(building: Path, trained: TrainedModel) -> Agreement:
    samples = samples_of(trained)
    file = building / "policy.onnx"
    write_onnx(file, policy_of(trained), samples[0].inputs)
    return check_onnx(file, samples)


# --- what goes into evaluation.json ------------------------------------------------------------------------------


def _figures(run: RunDirectory, trained: TrainedModel, folder: Path, options: ExportOptions) -> dict[str, Any]:
    """Those that the run or an export before has of exactly these weights, or new ones."""
    weights = fingerprint(trained.model.state_dict())
    for file in (run.evaluation_json, folder / "evaluation.json"):
        found = _read(file)
        if _fits(found, weights, trained.config, options.count):
            return found
    return _evaluated(run, trained, weights, options)


def _evaluated(run: RunDirectory, trained: TrainedModel, weights: str, options: ExportOptions) -> dict[str, Any]:
    episodes = options.count or EPISODES
    outcomes = {}
    for protocol in PROTOCOLS:
        with options.progress(f"{protocol}, episodes") as progress:
            outcomes[protocol] = evaluate(
                trained.model,
                trained.config,
                episodes,
                protocol,
                SEED,
                sticky=STICKY,
                threads=min(os.cpu_count() or 1, 4),
                progress=progress,
            )
    figures = report.report(run, trained, trained.config.level, outcomes)
    return {**figures, "weights_sha256": weights, "seed": SEED, "sticky": STICKY}


def _fits(figures: Mapping[str, Any], weights: str, config: TrainingConfig, episodes: int | None) -> bool:
    """Whether figures are of these weights. An evaluation that does not say what it is of is none to rely on."""
    of_these = figures.get("weights_sha256") == weights and figures.get("level") == config.level
    if not of_these or not isinstance(figures.get("seed"), int) or not isinstance(figures.get("sticky"), float):
        return False
    counts = {found["episodes"] for found in figures["protocols"].values()}
    return set(figures["protocols"]) == set(PROTOCOLS) and (episodes is None or counts == {episodes})


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


# --- the video ----------------------------------------------------------------------------------------------------


def _record(trained: TrainedModel, file: Path, options: ExportOptions) -> None:
    with closing(Player(trained)) as player:
        with options.progress("choosing the best episode for the video") as progress:
            take = video.best_take(player, TAKES, SEED, progress)
        video.record(player, take, [file])
