"""The features on the 6502 against those of the rules engine and of a plain reference, on many bottles."""

from __future__ import annotations

import random

import numpy as np
import pytest

from mario_rl.distill.counting import slots
from mario_rl.distill.drops import DROPS, FEATURES, MOST, Drops, look
from mario_rl.distill.linear import Linear
from mario_rl.distill.machine import ThinkingMachine
from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.environment.drmario.rules import RulesBatch
from tests.distill.boards import Board, boards_of_games, random_board

CAPSULE = 0x47


def looked_at(bottles: list[tuple[Board, tuple[int, int]]]) -> Drops:
    games = RulesBatch(len(bottles))
    games.reset(np.arange(2, 2 + len(bottles)), 0)
    games.skip_intro()
    games.next_decision()
    memory = GameMemory(games.ram)
    for number, (board, colours) in enumerate(bottles):
        memory.fields[number, 0], memory.colours[number, 0] = board, colours
    games.ram[:, 0x310] = CAPSULE
    return look(games, np.arange(len(bottles)), 0)


def some_bottles() -> list[tuple[Board, tuple[int, int]]]:
    rng = random.Random(1)
    colours = [(rng.randrange(3), rng.randrange(3)) for _ in range(40)]
    return [*boards_of_games(40), *((random_board(rng), pair) for pair in colours)]


class Watched(ThinkingMachine):
    """A player whose features are noted at every drop it looks at."""

    def __init__(self, features: tuple[str, ...]):
        form = Linear(dict.fromkeys(features, 0), 100)
        super().__init__(form)
        self.kept = slots(form.uses)

    def features_of(self, drops: Drops, game: int) -> dict[tuple[int, int], list[int]]:
        found: dict[tuple[int, int], list[int]] = {}
        mpu, names, step = self.mpu, self.names, self.mpu.step

        def watched_step() -> None:
            if mpu.pc == self.labels["next_weight"] and mpu.x == len(self.kept) - 1:
                drop = self.memory[names["rotation"]], self.memory[names["column"]]
                found[drop] = list(self.memory[names["features"] : names["features"] + len(self.kept)])
            step()

        mpu.step = watched_step
        self.think(drops, game)
        mpu.step = step
        return found


@pytest.mark.parametrize("features", [FEATURES[: len(FEATURES) // 2], FEATURES[len(FEATURES) // 2 :], FEATURES[4:12]])
def test_the_console_counts_what_the_engine_counts(features: tuple[str, ...]) -> None:
    drops, machine = looked_at(some_bottles()), Watched(features)
    columns = [FEATURES.index(name) for name in machine.kept]
    for game in range(len(drops.ids)):
        expected = {
            DROPS[number]: drops.features[game, number, columns].tolist()
            for number in np.flatnonzero(drops.open[game]).tolist()
        }
        assert machine.features_of(drops, game) == expected
        start = 0x500
        assert self_field(machine, start) == drops.fields[game].ravel().tolist()


def self_field(machine: ThinkingMachine, start: int) -> list[int]:
    return list(machine.memory[start : start + 128])


def test_wanted_ground_and_whim_by_a_plain_look_at_the_bottle() -> None:
    drops = looked_at(some_bottles())
    named = {name: drops.features[..., FEATURES.index(name)] for name in FEATURES}
    for game, number in zip(*np.nonzero(drops.open), strict=True):
        rotation, column = DROPS[number]
        field = drops.fields[game]
        first, second = drops.colours[game].tolist()
        low, high = (first, second) if rotation < 2 else (second, first)
        upright = rotation % 2 == 1
        free = [next((row for row in range(16) if field[row, c] < 0xF0), 16) for c in range(8)]
        row = (free[column] if upright else min(free[column], free[column + 1])) - 1
        with_it = field.copy()
        with_it[row, column] = low
        with_it[row - 1 if upright else row, column if upright else column + 1] = high
        assert named["whim"][game, number] == (CAPSULE ^ column) & 7
        for half, at_row, at_column, colour in (
            ("low", row, column, low),
            ("high", row - upright, column + (not upright), high),
        ):
            viruses = [cell & 3 for cell in field[:, at_column].tolist() if 0xD0 <= cell < 0xF0]
            wanted = 0 if not viruses else 2 if viruses[0] == colour else 1
            assert named[f"wanted_{half}"][game, number] == wanted
            below = [int(cell) for cell in with_it[at_row + 1 :, at_column]]
            run = 0
            while run < min(len(below), 3) and below[run] < 0xF0 and below[run] & 3 == colour:
                run += 1
            ground = 3 + run if run else 3 if not below else 2 if below[0] >= 0xF0 else 1 if below[0] >= 0xD0 else 0
            assert named[f"ground_{half}"][game, number] == ground


def test_features_stay_within_their_bounds() -> None:
    drops = looked_at(some_bottles())
    assert (drops.features <= np.array([MOST[name] for name in FEATURES])).all()
