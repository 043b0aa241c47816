"""Exports a player of Dr. Mario that self-play has trained: weights, ONNX, SB3, evaluation, video, card."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from mario_rl import __version__
from mario_rl.atomic_file import write_atomically
from mario_rl.emulators.base import SCREEN_WIDTH
from mario_rl.environment.drmario.bots import BOTS
from mario_rl.export.drmario_card import card_of
from mario_rl.export.drmario_policies import TrainedPlayer, policy_of, samples_of
from mario_rl.export.folder import new_folder, write_facts
from mario_rl.export.onnx_file import Agreement, check_onnx, write_onnx
from mario_rl.export.options import ExportOptions
from mario_rl.export.published_settings import fingerprint, published
from mario_rl.export.stable_baselines import check_zip, write_zip
from mario_rl.runs.bot_panel import WIDTH, lines, with_panel
from mario_rl.runs.bot_round import BotRounds, Contest
from mario_rl.runs.checkpoint import load_checkpoint, save_checkpoint
from mario_rl.runs.directory import RunDirectory, RunError
from mario_rl.runs.video_file import video_file
from mario_rl.selfplay import config as placement_config
from mario_rl.selfplay import evaluation
from mario_rl.selfplay.config import SelfPlayConfig
from mario_rl.selfplay.frames.config import FramesConfig
from mario_rl.selfplay.frames.player import FramesPlayer
from mario_rl.selfplay.match import Conditions, play_match
from mario_rl.selfplay.placement_player import PlacementPlayer
from mario_rl.selfplay.player_file import FORMAT, PLAYER_FILE, load_player, packaged_players, player_file_of
from mario_rl.selfplay.players import make_player
from mario_rl.settings import ConfigError, read_settings

GAMES = 100  # of each match, unless chosen
LEVEL, SPEED = 10, "med"  # of the matches
OPPONENTS: dict[str, tuple[str | None, ...]] = {"placements": (None, "greedy", "search"), "frames": (None, "random")}
TAKES = 5  # rounds of which the best is recorded
VIDEO: dict[str, tuple[str | None, int]] = {"placements": ("greedy", 5), "frames": (None, 2)}
"""The opponent and the level of the video."""


@dataclass(frozen=True)
class Exported:
    """A trained player, and all that is known about where it comes from."""

    name: str
    kind: str
    """placements or frames"""
    player: TrainedPlayer
    state: dict[str, Any]
    """Of its file."""
    config: SelfPlayConfig | FramesConfig | None
    run: RunDirectory | None

    @property
    def steps(self) -> int:
        """Decisions, or environment steps, that it has learned from."""
        return int(self.state.get("steps", self.state["card"].get("steps", 0)))


def is_player(name: str, checkpoints: Path) -> bool:
    """Whether a name means a player of self-play, and not a run of Super Mario Bros."""
    if name in packaged_players():
        return True
    file = player_file_of(name, checkpoints)
    if file is not None:
        return file.name == PLAYER_FILE or load_checkpoint(file).get("format") == FORMAT
    paths = (path / "config.yaml" for path in (Path(name), checkpoints / name))
    return any(path.is_file() and "env" in _settings(path) for path in paths)


def find_player(name: str, checkpoints: Path) -> Exported:
    """The player that a name means; a RunError if there is none."""
    file = packaged_players().get(name) or player_file_of(name, checkpoints)
    if file is None:
        make_player(name, checkpoints=checkpoints)  # says what there is
        raise RunError(f"{name} has no player that could be exported")
    run = RunDirectory(file.parent) if file.name == PLAYER_FILE and (file.parent / "config.yaml").is_file() else None
    own_name = name if name in packaged_players() else run.name if run is not None else file.stem
    player = load_player(file, own_name)
    if not isinstance(player, PlacementPlayer | FramesPlayer):
        raise RunError(f"{name} is no player of self-play: there is nothing to export")
    state = load_checkpoint(file)
    return Exported(own_name, state["kind"], player, state, _config(state, run), run)


def export_drmario(found: Exported, folder: Path, options: ExportOptions) -> Agreement:
    """Write the folder; what the check of its ONNX file found. A RunError says why there is none."""
    config = None if found.config is None else dataclasses.replace(published(found.config), name=found.name)
    with new_folder(folder) as building:
        samples = samples_of(found.player)
        write_onnx(building / "policy.onnx", policy_of(found.player), samples[0].inputs)
        agreement = check_onnx(building / "policy.onnx", samples)
        write_zip(building / "sb3.zip", found.player, found.steps)
        check_zip(building / "sb3.zip", found.player, samples)
        save_checkpoint(building / "weights.pt", _published_state(found.state, config))
        settings = dataclasses.asdict(config) if config is not None else {"kind": found.kind}
        (building / "config.yaml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
        figures = _figures(found, building / "weights.pt", folder, options)
        write_atomically(building / "evaluation.json", (json.dumps(figures, indent=1) + "\n").encode())
        if options.video:
            _record(found, building, options)
        card = card_of(found.name, found.kind, config, found, figures, agreement, with_video=options.video)
        (building / "README.md").write_text(card.text(), encoding="utf-8")
        facts = {"version": __version__, "game": "drmario", "weights_sha256": figures["weights_sha256"]}
        write_facts(building, facts | {"onnx": dataclasses.asdict(agreement)})
    return agreement


def _config(state: Mapping[str, Any], run: RunDirectory | None) -> SelfPlayConfig | FramesConfig | None:
    """What it was trained with, if that is known: from its card, or from its run."""
    settings = state["card"].get("settings") or (None if run is None else _settings(run.config_yaml))
    if settings is None:
        return None
    try:
        return FramesConfig.from_dict(settings) if state["kind"] == "frames" else placement_config.from_dict(settings)
    except ConfigError:  # of another version: the player is good without them
        return None


def _settings(file: Path) -> dict[str, Any]:
    try:
        return read_settings(file, FramesConfig)
    except ConfigError as problem:
        raise RunError(str(problem)) from problem


def _published_state(state: Mapping[str, Any], config: SelfPlayConfig | FramesConfig | None) -> dict[str, Any]:
    """The file's content, without what its card says about the machine."""
    card = dict(state["card"])
    if "settings" in card:
        card["settings"] = {} if config is None else dataclasses.asdict(config)
    return {**state, "card": card}


# --- what goes into evaluation.json ------------------------------------------------------------------------------


def _figures(found: Exported, weights: Path, folder: Path, options: ExportOptions) -> dict[str, Any]:
    """Those that an export before has of exactly these weights, or new ones."""
    own = fingerprint(found.state["weights"])
    try:
        before = json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))
        fits = before["weights_sha256"] == own and all(
            options.count in (None, match["games"]) for match in before["matches"]
        )
    except (OSError, ValueError, KeyError, TypeError):
        fits = False
    if fits:
        return dict(before)
    matches = [_match(found, weights, opponent, options) for opponent in OPPONENTS[found.kind]]
    return {"player": found.name, "weights_sha256": own, "matches": matches}


def _match(found: Exported, weights: Path, opponent: str | None, options: ExportOptions) -> dict[str, Any]:
    conditions = Conditions(LEVEL, SPEED)
    against = "alone" if opponent is None else f"against {opponent}"
    other = None if opponent is None else make_player(opponent, conditions.first_seed + 1)
    with options.progress(f"{against}, games") as progress:
        records = play_match(found.player, other, options.count or GAMES, conditions, progress)
    return evaluation.figures(weights.name, opponent, records, conditions)


# --- the video ----------------------------------------------------------------------------------------------------


def _record(found: Exported, building: Path, options: ExportOptions) -> None:
    opponent, level = VIDEO[found.kind]
    with tempfile.TemporaryDirectory() as elsewhere:  # the picture shows the name of the file
        named = Path(elsewhere) / f"{found.name if found.name not in BOTS else 'player'}.pt"
        save_checkpoint(named, found.state)
        contest = Contest(str(named), opponent, level, SPEED)
        best = _best_round(contest, options)
        with (
            closing(BotRounds(contest)) as rounds,
            video_file(building / "replay.mp4", SCREEN_WIDTH + WIDTH) as video,
        ):
            for moment in rounds.play(best):
                assert moment.picture is not None
                video.add(with_panel(moment.picture, lines(contest, moment, 1, 0)))


def _best_round(contest: Contest, options: ExportOptions) -> int:
    """The seed of the best of several rounds."""
    merits = {}
    with (
        closing(BotRounds(contest, drawn=False)) as rounds,
        options.progress("choosing the best round for the video") as progress,
    ):
        for seed in range(TAKES):
            *_, last = rounds.play(seed)
            merits[seed] = last.merit
            progress(seed + 1, TAKES)
    return max(merits, key=lambda seed: merits[seed])
