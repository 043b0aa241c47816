"""Bottles at rest, for players inside the cartridge: made at random, and such as games lead to."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt

from mario_rl.environment.drmario.bots import make_bot
from mario_rl.environment.drmario.memory import EMPTY, POP, GameMemory
from mario_rl.environment.drmario.rules import RulesBatch
from tests.environment.drmario.boards import crowded_board

Board = npt.NDArray[np.uint8]


def has_line(board: Board) -> bool:
    """Whether four of a colour lie in line."""
    colours = np.where(board < POP, board & 3, 9)
    for lines in (colours, colours.T):
        same = (lines[:, 1:] == lines[:, :-1]) & (lines[:, 1:] != 9)
        if (same[:, 2:] & same[:, 1:-1] & same[:, :-2]).any():
            return True
    return False


def without_lines(board: Board, rng: random.Random) -> Board:
    """The same, with pieces taken out until no four of a colour lie in line."""
    board = board.copy()
    while has_line(board):
        board[rng.randrange(16), rng.randrange(8)] = EMPTY
    return board


def random_board(rng: random.Random) -> Board:
    """Anything at rest: empty, crowded, with columns full to the top."""
    board = np.frombuffer(crowded_board(rng, rng.choice((0.1, 0.5, 0.95)), rng.choice((1, 2, 3, 3))), np.uint8)
    board = board.reshape(16, 8).copy()
    for column in range(8):
        if rng.random() < 0.15:
            top = rng.randrange(16)
            board[top:, column] = [rng.choice((0x80, 0xD0)) + rng.randrange(3) for _ in range(16 - top)]
    board[0, 3:5] = EMPTY  # where the capsule comes in
    return without_lines(board, rng)


def boards_of_games(count: int, seed: int = 3) -> list[tuple[Board, tuple[int, int]]]:
    """Bottles and capsules of games that "random" and "greedy" have played."""
    games = RulesBatch(32)
    random_seeds = np.random.default_rng(seed).integers(2, 65536, 32)
    games.reset(random_seeds, np.arange(32) % 21)
    games.skip_intro()
    memory = GameMemory(games.ram)
    players = [make_bot("greedy"), make_bot("random", seed)]
    waiting = games.next_decision()
    found: list[tuple[Board, tuple[int, int]]] = []
    step = 0
    while len(found) < count and (waiting > 0).any():
        for game in np.flatnonzero(waiting).tolist():
            first, second = memory.colours[game, 0].tolist()
            found.append((memory.fields[game, 0].copy(), (first, second)))
        player = players[step % 4 == 3]
        waiting = games.place(np.where(waiting, player.choose(games, waiting > 0, 0), -1), waiting > 0)
        step += 1
    return found[:count]
