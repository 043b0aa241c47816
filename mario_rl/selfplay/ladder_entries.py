"""Who is on a ladder: bots, packaged players, and what self-play runs have left behind."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mario_rl.environment.drmario.bot_weights import load_weights
from mario_rl.environment.drmario.bots import BOTS
from mario_rl.runs.directory import RunError
from mario_rl.selfplay.cartridge_player import is_cartridge
from mario_rl.selfplay.players import CHECKPOINTS


@dataclass(frozen=True)
class Entry:
    """Somebody on a ladder."""

    name: str
    """As it stands on the ladder; no two are the same."""
    source: str
    """What `make_player` knows it by."""
    identity: str
    """Two with the same identity play the same."""


def enter(sources: Sequence[str], run: str | None = None, checkpoints: Path = CHECKPOINTS) -> list[Entry]:
    """The players named, or the bots and the packaged ones if nobody is; and those of a run. A RunError if one is not.

    A run enters as its latest player and as the past selves in its pool. A cartridge cannot enter.
    """
    chosen = list(sources) or _everybody()
    if run is not None:
        chosen += [run, *(str(file) for file in _pool(run, checkpoints))]
    chosen = list(dict.fromkeys(chosen))
    for name in chosen:
        if is_cartridge(name):
            raise RunError(
                f"{name}: players of a ladder change seats, and a cartridge always sits in seat 2: "
                "name the .json file of its player instead, its mirror"
            )
    if len(chosen) < 2:
        raise RunError("a ladder needs at least two players")
    return [
        Entry(name, source, identity(source, checkpoints)) for name, source in zip(_names(chosen), chosen, strict=True)
    ]


def identity(source: str, checkpoints: Path = CHECKPOINTS) -> str:
    """What a player is made of: a bot's weights, a player's file; a RunError if there is no such player."""
    if source == "random":
        return source
    if source in BOTS:
        return _digest(source.encode() + load_weights(source).tobytes())
    from mario_rl.distill.mirror import is_distilled
    from mario_rl.distill.player_file import distilled_file
    from mario_rl.selfplay.player_file import packaged_players, player_file_of
    from mario_rl.selfplay.players import make_player

    if is_distilled(source):
        make_player(source)  # says what is wrong
        return _digest(distilled_file(source).read_bytes())
    file = packaged_players().get(source) or player_file_of(source, checkpoints)
    if file is None:
        make_player(source, checkpoints=checkpoints)  # says what there is
        raise AssertionError(f"{source} has no file")
    return _digest(file.read_bytes())


def _everybody() -> list[str]:
    from mario_rl.distill.player_file import packaged_distilled
    from mario_rl.selfplay.player_file import packaged_players

    return [*BOTS, *packaged_players(), *packaged_distilled()]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _pool(run: str, checkpoints: Path) -> list[Path]:
    from mario_rl.selfplay.player_file import POOL_FOLDER

    directory = next((path for path in (Path(run), checkpoints / run) if path.is_dir()), None)
    if directory is None:
        raise RunError(f"no run {run!r}: neither a directory nor the name of one in {checkpoints}")
    return sorted((directory / POOL_FOLDER).glob("step-*.pt"))


def _names(sources: Sequence[str]) -> list[str]:
    """A file's name without its directories, unless two would be called the same then."""
    short = [Path(source).stem if source.endswith((".pt", ".json")) else Path(source).name for source in sources]
    often = Counter(short)
    return [name if often[name] == 1 else source for name, source in zip(short, sources, strict=True)]
