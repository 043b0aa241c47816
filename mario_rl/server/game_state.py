"""The RAM of a game in words and numbers, for people and assistants."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mario_rl.environment.drmario import memory as drmario
from mario_rl.environment.smb import memory as smb
from mario_rl.server.schemas import Bottle, Capsule, DrMarioState, SmbState

Bytes = npt.NDArray[np.uint8]

COLOUR_NAMES = ("yellow", "red", "blue")
POWERS = ("small", "tall", "fire")
NOTHING, GONE = ".", "*"
_LETTERS = "yrb"


def _letters() -> str:
    """A letter for every value of a cell."""
    letters = [NOTHING] * 256
    for kind in drmario.PIECES:
        for colour, letter in enumerate(_LETTERS):
            letters[kind + colour] = letter.upper() if kind == drmario.VIRUS else letter
    for colour in range(len(_LETTERS)):
        letters[drmario.MATCHED + colour] = letters[drmario.POP + colour] = GONE
    return "".join(letters)


CELL_LETTERS = _letters()


def drmario_state(ram: Bytes) -> DrMarioState:
    """A round of Dr. Mario or Antidote."""
    game = drmario.as_one_game(ram)
    players = 2 if game.two_players()[0] else 1
    return DrMarioState(
        players=players,
        paused=bool(game.paused[0]),
        score=int(game.score()[0]),
        bottles=[_bottle(game, seat) for seat in range(players)],
    )


def _bottle(game: drmario.GameMemory, seat: int) -> Bottle:
    first, second = (_colour(colour) for colour in game.colours[0, seat])
    rotation = int(game.rotation[0, seat]) & 3
    capsule = Capsule(
        colours=(first, second) if rotation < 2 else (second, first),
        x=game.x[0, seat],
        y=game.y[0, seat],
        rotation=rotation,
    )
    next_first, next_second = (_colour(colour) for colour in game.next[0, seat])
    return Bottle(
        player=seat + 1,
        level=game.level[0, seat],
        speed=drmario.SPEEDS[min(int(game.speed[0, seat]), len(drmario.SPEEDS) - 1)],
        viruses=game.viruses()[0, seat],
        capsules=max(int(game.capsules()[0, seat]), 0),
        capsule=capsule if game.controllable()[0, seat] else None,
        next=(next_first, next_second),
        field=["".join(CELL_LETTERS[cell] for cell in row) for row in game.fields[0, seat].tolist()],
        cleared=bool(game.cleared()[0, seat]),
        topped_out=bool(game.topped_out()[0, seat]),
    )


def _colour(value: int) -> str:
    return COLOUR_NAMES[min(int(value), len(COLOUR_NAMES) - 1)]


def smb_state(ram: Bytes) -> SmbState:
    """Where Mario is and how he does."""
    game = smb.GameMemory(ram[None])
    game.look()
    return SmbState(
        world=int(game.world[0]) + 1,
        stage=int(game.stage[0]) + 1,
        x=game.x[0],
        y=game.y()[0],
        lives=int(game.lives[0]) + 1,
        power=POWERS[min(int(game.power[0]), len(POWERS) - 1)],
        score=game.score[0],
        coins=game.coins[0],
        clock=game.clock[0],
        dead=bool(game.dead()[0]),
        finished=bool(game.finished()[0]),
    )
