"""Bottles at rest, for players inside the cartridge: made at random, and such as games lead to."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt

from mario_rl.distill.drops import Drops, look
from mario_rl.environment.drmario.bots import make_bot
from mario_rl.environment.drmario.memory import CAPSULES, EMPTY, POP, GameMemory
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


Bottle = tuple[Board, tuple[int, int]]
"""A bottle, and the colours of the capsule that comes in."""


def bottles(count: int, seed: int = 1) -> list[Bottle]:
    """One half made at random, one half of games."""
    rng = random.Random(seed)
    made = [(random_board(rng), (rng.randrange(3), rng.randrange(3))) for _ in range(count // 2)]
    return [*made, *boards_of_games(count - len(made), seed)]


def looked_at(given: list[Bottle], seed: int = 1) -> Drops:
    """The drops of bottles, each with some capsule's number."""
    rng, games = random.Random(seed), RulesBatch(len(given))
    games.reset(np.arange(2, 2 + len(given)), 0)
    games.skip_intro()
    games.next_decision()
    memory = GameMemory(games.ram)
    for number, (board, colours) in enumerate(given):
        memory.fields[number, 0], memory.colours[number, 0] = board, colours
        memory.blocks[number, 0, CAPSULES] = rng.randrange(10) << 4 | rng.randrange(10)
    return look(games, np.arange(len(given)), 0)
