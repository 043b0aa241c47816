"""Everything that can play Dr. Mario, by name: the bots, the packaged champion, and what was trained here.

There are two kinds of players. One that chooses placements is a `Bot` (environment/drmario/bots.py) and is asked once a
capsule; one that presses buttons is a `ButtonPlayer` and is asked every few frames. Neither keeps anything between two
questions, so one player can play any number of games, both seats of one included.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from mario_rl.environment.drmario.bots import BOTS, Bot, make_bot
from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.runs.directory import RunError

CHECKPOINTS = Path("checkpoints")


@runtime_checkable
class ButtonPlayer(Protocol):
    """Presses buttons."""

    name: str
    frame_skip: int
    """Frames that a pad is held before the next question."""

    def hold(self, game: GameMemory, seat: int) -> npt.NDArray[np.uint8]:
        """uint8[n]: the pads to hold from now on, one for each of the games."""


Player = Bot | ButtonPlayer


def make_player(name: str, seed: int = 0, checkpoints: Path = CHECKPOINTS) -> Player:
    """A player by name: a bot, "champion", a run's name or directory, or a player file; a RunError says what there is.

    The seed is for those who guess.
    """
    if name in BOTS:
        return make_bot(name, seed)
    from mario_rl.selfplay.player_file import load_player, packaged_players, player_file_of

    packaged = packaged_players()
    if name in packaged:
        return load_player(packaged[name], name)
    file = player_file_of(name, checkpoints)
    if file is None:
        known = ", ".join([*BOTS, *packaged])
        raise RunError(f"no player {name!r}: use one of {known}, the name of a self-play run, or a player file (.pt)")
    return load_player(file, Path(name).stem if file == Path(name) else name)
