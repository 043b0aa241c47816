"""Everything that can play Dr. Mario, by name: bots, the packaged champion, what was trained here, and cartridges.

There are two kinds of players that are asked. One that chooses placements is a `Bot` (environment/drmario/bots.py) and
is asked once a capsule; one that presses buttons is a `ButtonPlayer` and is asked every few frames. Neither keeps
anything between two questions, so one player can play any number of games, both seats of one included. The third kind
is asked nothing: a `CartridgePlayer` (cartridge_player.py) is inside the cartridge that is played.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from mario_rl.distill.mirror import is_distilled, load_mirror
from mario_rl.distill.player_file import distilled_file, packaged_distilled
from mario_rl.environment.drmario.bots import BOTS, Bot, make_bot
from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.runs.directory import RunError
from mario_rl.selfplay.cartridge_player import PREFIX, CartridgePlayer, file_of, is_cartridge, load_cartridge

__all__ = ["CHECKPOINTS", "ButtonPlayer", "Player", "make_player", "own_file"]

CHECKPOINTS = Path("checkpoints")


@runtime_checkable
class ButtonPlayer(Protocol):
    """Presses buttons."""

    name: str
    frame_skip: int
    """Frames that a pad is held before the next question."""

    def hold(self, game: GameMemory, seat: int) -> npt.NDArray[np.uint8]:
        """uint8[n]: the pads to hold from now on, one for each of the games."""


Player = Bot | ButtonPlayer | CartridgePlayer


def make_player(name: str, seed: int = 0, checkpoints: Path = CHECKPOINTS) -> Player:
    """A player by name; a RunError says what there is.

    A bot, "champion", a run's name or directory, a player file (of self-play, or a distilled one, which is then played
    by its mirror), or cart:FILE.nes. The seed is for those who guess.
    """
    if name in BOTS:
        return make_bot(name, seed)
    if is_cartridge(name):
        return load_cartridge(name)
    if is_distilled(name):
        return load_mirror(name)
    from mario_rl.selfplay.player_file import load_player, packaged_players, player_file_of

    packaged = packaged_players()
    if name in packaged:
        return load_player(packaged[name], name)
    file = player_file_of(name, checkpoints)
    if file is None:
        known = ", ".join([*BOTS, *packaged, *packaged_distilled()])
        raise RunError(
            f"no player {name!r}: use one of {known}, the name of a self-play run, a player file (.pt, .json) or "
            "cart:FILE.nes"
        )
    return load_player(file, Path(name).stem if file == Path(name) else name)


def own_file(name: str, checkpoints: Path = CHECKPOINTS) -> tuple[str, Path | None]:
    """What stands before a player's file (cart:, or nothing), and the file; None of one that comes with the package."""
    from mario_rl.selfplay.player_file import packaged_players, player_file_of

    if is_cartridge(name):
        return PREFIX, file_of(name)
    if name in (*BOTS, *packaged_distilled(), *packaged_players()):
        return "", None
    return "", distilled_file(name) if is_distilled(name) else player_file_of(name, checkpoints)
