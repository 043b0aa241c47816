"""The features on the 6502 against those of the rules engine, on thousands of bottles."""

from __future__ import annotations

import random

import numpy as np
import pytest

from mario_rl.distill.chooser import compile_player
from mario_rl.distill.counting import PAIRS, slots
from mario_rl.distill.drops import DROPS, FEATURES, NOWHERE, drop_ids, look
from mario_rl.distill.tables import MOST, Tables
from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.environment.drmario.rules import RulesBatch
from tests.distill.boards import Board, boards_of_games, random_board
from tests.distill.machine import RETURN, Machine

ALL = ("contact", "run", "run_viruses", "beside", *(name for name in FEATURES if name.rsplit("_", 1)[0] not in PAIRS))


def zeros(names: tuple[str, ...]) -> Tables:
    return Tables({name: (0,) * (MOST[f"{name}_low" if name in PAIRS else name] + 1) for name in names}, 1)


class Watched(Machine):
    """A player whose features are noted at every drop it looks at."""

    def __init__(self, names: tuple[str, ...], columns_a_frame: int = 2):
        tables = zeros(names)
        made = compile_player(0xE000, tables, columns_a_frame)
        super().__init__(made)
        self.kept = slots(tables.uses)
        self.names = made.names
        self.frames: list[int] = []

    def put(self, board: Board, colours: tuple[int, int], seat: int) -> None:
        memory = self.memory
        memory[0x400:0x600] = [0xFF] * 0x200
        start = 0x400 + 0x100 * seat
        memory[start : start + 128] = board.flatten().tolist()
        block = 0x300 + 0x80 * seat
        memory[block + 1 : block + 3] = list(colours)
        memory[block + 5], memory[block + 6], memory[block + 0x25] = 3, 15, 0

    def think(self, seat: int) -> dict[tuple[int, int], list[int]]:
        """What it counts, by (rotation, column), until it has thought about all there is."""
        found: dict[tuple[int, int], list[int]] = {}
        mpu, names = self.mpu, self.names
        block = 0x300 + 0x80 * seat
        self.call("player_start", x=seat)
        self.frames = []
        for action in (3, *[0] * 9):
            if action == 0 and self.memory[names["column"]] & 0x80:
                break
            self.memory[block + 0x17] = action
            mpu.x, mpu.sp, mpu.pc, mpu.processorCycles = seat, 0xFD, self.labels["player_frame"], 0
            self.memory[0x1FE:0x200] = [(RETURN - 1) & 0xFF, (RETURN - 1) >> 8]
            while mpu.pc != RETURN:
                if mpu.pc == self.labels["score"]:
                    drop = self.memory[names["rotation"]], self.memory[names["column"]]
                    assert drop not in found
                    start = names["features"]
                    found[drop] = list(self.memory[start : start + len(self.kept)])
                mpu.step()
            self.frames.append(int(mpu.processorCycles))
        return found


def by_the_engine(board: Board, colours: tuple[int, int]) -> dict[tuple[int, int], list[int]]:
    games = RulesBatch(1)
    games.reset([2], 0)
    games.skip_intro()
    games.next_decision()
    memory = GameMemory(games.ram)
    memory.fields[0, 0], memory.colours[0, 0] = board, colours
    drops = look(games, np.array([0]), 0)
    there = drops.ids[0] != NOWHERE
    return {DROPS[number]: drops.features[0, number].tolist() for number in np.flatnonzero(there).tolist()}


def compare(watched: Watched, board: Board, colours: tuple[int, int], seat: int) -> int:
    watched.put(board, colours, seat)
    ours = watched.think(seat)
    engine = by_the_engine(board, colours)
    assert list(ours) == list(engine), "the same drops in the same order"
    columns = [FEATURES.index(name) for name in watched.kept]
    for drop, counted in ours.items():
        assert counted == [engine[drop][column] for column in columns], (drop, watched.kept)
    start = 0x400 + 0x100 * seat
    assert watched.memory[start : start + 128] == board.flatten().tolist(), "the bottle is as it was"
    return len(ours)


def test_all_features_on_random_bottles() -> None:
    rng, watched = random.Random(5), Watched(ALL)
    drops = sum(
        compare(watched, random_board(rng), (rng.randrange(3), rng.randrange(3)), number % 2) for number in range(400)
    )
    assert drops > 5000


def test_all_features_on_bottles_of_games() -> None:
    watched = Watched(ALL)
    drops = sum(compare(watched, board, colours, 0) for board, colours in boards_of_games(250))
    assert drops > 5000


@pytest.mark.parametrize("name", ALL)
def test_any_feature_alone(name: str) -> None:
    rng, watched = random.Random(name), Watched((name,))
    for _ in range(15):
        compare(watched, random_board(rng), (rng.randrange(3), rng.randrange(3)), 1)


def test_drops_go_where_a_capsule_that_is_let_fall_lands() -> None:
    """By the plainest reading of the rules, for bottles of all kinds."""
    rng = random.Random(8)
    for _ in range(300):
        board = random_board(rng)
        heights = [next((row for row in range(16) if board[row, column] < 0xF0), 16) for column in range(8)]
        expected = []
        for rotation, column in DROPS:
            columns = [column] if rotation % 2 else [column, column + 1]
            way = range(min(columns[0], 3), max(columns[-1], 4) + 1)
            fits = columns[-1] < 8 and all(board[0, passed] >= 0xF0 for passed in way)
            room = min(heights[one] for one in columns) if columns[-1] < 8 else 0
            expected.append(rotation * 128 + (16 - room) * 8 + column if fits and room >= 2 else NOWHERE)
        assert drop_ids(board[None])[0].tolist() == expected
