"""A trained player in one file: what it was made of, its weights, and its card (how it was trained, how it is rated).

The file is a checkpoint of runs/checkpoint.py: verified, and loading it runs no code. The packaged ones are in
selfplay/champions/, a run's own is RUN/player.pt, those of its pool are RUN/pool/*.pt.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mario_rl.environment.drmario.prospects import PROSPECT_FEATURES, SITUATION_FEATURES
from mario_rl.runs.checkpoint import CheckpointError, load_checkpoint, save_checkpoint

if TYPE_CHECKING:
    from torch import Tensor

    from mario_rl.selfplay.players import Player

FORMAT = "mario-rl player"
PLAYER_FILE = "player.pt"
POOL_FOLDER = "pool"


def save_placement_player(
    file: Path, weights: Mapping[str, Tensor], network: Mapping[str, int], steps: int, card: Mapping[str, Any]
) -> None:
    """Write a player that scores placements, whole or not at all."""
    state = {
        "format": FORMAT,
        "kind": "placements",
        "steps": steps,
        "features": [*PROSPECT_FEATURES, *SITUATION_FEATURES],
        "network": dict(network),
        "weights": {name: values.detach().clone() for name, values in weights.items()},
        "card": dict(card),
    }
    save_checkpoint(file, state)


def load_player(file: Path, name: str) -> Player:
    """The player in a file; a CheckpointError says what is wrong."""
    import torch

    torch.set_num_threads(1)  # the networks are small: more threads only wait for each other
    state = load_checkpoint(file)
    kind = state.get("kind") if state.get("format") == FORMAT else None
    if kind == "frames":
        from mario_rl.selfplay.frames.player import FramesPlayer

        return FramesPlayer.from_state(state, name)
    if kind != "placements":
        raise CheckpointError(f"{file} is no player: name a self-play run, or its {PLAYER_FILE}")
    if state["features"] != [*PROSPECT_FEATURES, *SITUATION_FEATURES]:
        raise CheckpointError(f"{file} was trained on other features than this version has: train it again")
    from mario_rl.selfplay.placement_player import PlacementPlayer
    from mario_rl.selfplay.scorer import PlacementScorer

    scorer = PlacementScorer(**state["network"])
    scorer.load_state_dict(state["weights"])
    return PlacementPlayer(scorer, name, state["card"])


def packaged_players() -> dict[str, Path]:
    """The players that come with the package, by name."""
    folder = Path(str(files("mario_rl.selfplay").joinpath("champions")))
    return {file.stem: file for file in sorted(folder.glob("*.pt"))}


def player_file_of(name: str, checkpoints: Path) -> Path | None:
    """The file that a name means: itself, that of a run's directory, or of a run below `checkpoints`; or None."""
    for path in (Path(name), checkpoints / name):
        if path.is_file() and path.suffix == ".pt":
            return path
        if (path / PLAYER_FILE).is_file():
            return path / PLAYER_FILE
    return None
