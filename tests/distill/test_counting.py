"""The features on the 6502 against those of the rules engine and of a plain reference, on hundreds of bottles."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from mario_rl.distill.drops import DROPS, FEATURES, MOST, NOWHERE, Drops
from mario_rl.distill.half_counting import slots
from mario_rl.distill.linear import Linear
from mario_rl.distill.machine import ThinkingMachine
from tests.distill.boards import Board, bottles, looked_at, random_board

OWN = (range(0xB0, 0xD0), range(0x3B0, 0x400), range(0x05, 0x06), range(0x100, 0x200))
"""The player's memory, the pad it presses, and the stack (docs/cartridge.md)."""
RAM = 0x800


class Watched(ThinkingMachine):
    """A player whose features are noted at every drop it looks at, and that finds noise in its memory."""

    def __init__(self, features: tuple[str, ...], columns_a_frame: int = 1):
        form = Linear(dict.fromkeys(features, 0), 100, columns_a_frame=columns_a_frame)
        super().__init__(form)
        self.kept = slots(form.uses)
        self.found: list[tuple[tuple[int, int], list[int]]] = []
        self._before: list[int] = []
        self._noise = random.Random(3)
        self._step, self.mpu.step = self.mpu.step, self._watched_step

    def _watched_step(self) -> None:
        if self.mpu.pc == self.labels["counted"]:
            drop = self.memory[self.names["rotation"]], self.memory[self.names["column"]]
            start = self.names["features"]
            self.found.append((drop, list(self.memory[start : start + len(self.kept)])))
        self._step()

    def call(self, label: str, a: int = 0, x: int = 0, y: int = 0) -> int:
        if label == "think":
            for own in OWN:
                self.memory[own.start : own.stop] = self._noise.randbytes(len(own))
            self._before = list(self.memory)
        return super().call(label, a, x, y)

    def look(self, drops: Drops, game: int, seat: int) -> dict[tuple[int, int], list[int]]:
        """The features of all drops that it looks at, by rotation and column."""
        self.memory[0:RAM] = self._noise.randbytes(RAM)
        self.found = []
        self.think(drops, game, seat)
        changed = {place for place in range(0x10000) if self.memory[place] != self._before[place]}
        assert not [hex(place) for place in changed if not any(place in own for own in OWN)]
        return dict(self.found)


def compare(features: tuple[str, ...], drops: Drops, columns_a_frame: int = 1) -> int:
    """The drops that were compared."""
    machine, compared = Watched(features, columns_a_frame), 0
    columns = [FEATURES.index(name) for name in machine.kept]
    for game in range(len(drops.ids)):
        expected = {
            DROPS[number]: drops.features[game, number, columns].tolist()
            for number in np.flatnonzero(drops.open[game]).tolist()
        }
        counted = machine.look(drops, game, seat=game % 2)
        assert counted == expected
        assert list(counted) == list(expected), "in the order of DROPS"
        assert len(machine.found) == len(counted), "each of them once"
        compared += len(counted)
    return compared


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_console_counts_what_the_engine_counts(seed: int) -> None:
    assert compare(FEATURES, looked_at(bottles(200, seed), seed)) > 3000


@pytest.mark.parametrize(("features", "columns_a_frame"), [(FEATURES[::2], 2), (FEATURES[1::2], 4)])
def test_it_counts_the_same_with_fewer_features_and_more_columns_a_frame(
    features: tuple[str, ...], columns_a_frame: int
) -> None:
    assert compare(features, looked_at(bottles(80, 4), 4), columns_a_frame) > 1000


@pytest.mark.parametrize("feature", [name for name in FEATURES if not name.endswith("_high")])
def test_any_feature_can_be_counted_alone(feature: str) -> None:
    assert compare((feature,), looked_at(bottles(12, 5), 5)) > 100


@pytest.mark.parametrize("pair", list(pairwise(FEATURES)))
def test_any_two_features_can_be_counted_together(pair: tuple[str, str]) -> None:
    assert compare(pair, looked_at(bottles(6, 6), 6)) > 50


# --- by the plainest reading of the rules ---------------------------------------------------------------------------


def free_rows(field: Board) -> list[int]:
    """Above the highest piece of each column."""
    return [next((row for row in range(16) if field[row, column] < 0xF0), 16) for column in range(8)]


def test_drops_go_where_a_capsule_that_is_let_fall_lands() -> None:
    """Both halves of an upright one inside, and no piece in the top row on the way there."""
    rng = random.Random(8)
    boards = [random_board(rng) for _ in range(1000)]
    drops = looked_at([(board, (0, 1)) for board in boards])
    barred = 0
    for game, board in enumerate(boards):
        free = free_rows(board)
        for number, (rotation, column) in enumerate(DROPS):
            columns = [column] if rotation % 2 else [column, column + 1]
            room = min(free[one] for one in columns) if columns[-1] < 8 else 0
            place = rotation * 128 + (16 - room) * 8 + column
            assert drops.ids[game, number] == (place if room >= 2 else NOWHERE)
            way = range(min(columns[0], 3), min(max(columns[-1], 4), 7) + 1)
            open_way = all(board[0, passed] >= 0xF0 for passed in way)
            assert drops.open[game, number] == (room >= 2 and open_way)
            barred += room >= 2 and not open_way
    assert barred > 50


def test_wanted_ground_and_whim_by_a_plain_look_at_the_bottle() -> None:
    drops = looked_at(bottles(400, 7), 7)
    named = {name: drops.features[..., FEATURES.index(name)] for name in FEATURES}
    seen: set[tuple[str, int]] = set()
    for game, number in zip(*np.nonzero(drops.open), strict=True):
        rotation, column = DROPS[number]
        field = drops.fields[game]
        first, second = drops.colours[game].tolist()
        low, high = (first, second) if rotation < 2 else (second, first)
        upright = rotation % 2 == 1
        free = free_rows(field)
        row = (free[column] if upright else min(free[column], free[column + 1])) - 1
        halves = {"low": (row, column, low), "high": (row - upright, column + (not upright), high)}
        colours = {(at_row, at_column): colour for at_row, at_column, colour in halves.values()}
        assert named["whim"][game, number] == (column ^ int(drops.capsules[game])) % 8
        for half, (at_row, at_column, colour) in halves.items():
            viruses = [cell % 16 for cell in field[:, at_column].tolist() if cell // 16 == 0xD]
            wanted = 0 if not viruses else 2 if viruses[0] == colour else 1
            below = []
            for lower in range(at_row + 1, 16):
                cell = int(field[lower, at_column])
                below.append(("piece", colours[lower, at_column]) if (lower, at_column) in colours else kind(cell))
            run = 0
            while run < min(len(below), 3) and below[run][0] != "nothing" and below[run][1] == colour:
                run += 1
            under = below[0][0] if below else "floor"
            ground = 3 + run if run else {"piece": 0, "virus": 1, "nothing": 2, "floor": 3}[under]
            assert named[f"wanted_{half}"][game, number] == wanted
            assert named[f"ground_{half}"][game, number] == ground
            seen |= {(f"wanted_{half}", wanted), (f"ground_{half}", ground)}
    assert len(seen) == 2 * (3 + 7), "all there are"


def kind(cell: int) -> tuple[str, int]:
    """What lies in a cell, and its colour."""
    return ("nothing", 9) if cell >= 0xF0 else ("virus" if cell // 16 == 0xD else "piece", cell % 16)


def test_features_stay_within_their_bounds_and_reach_them() -> None:
    drops = looked_at(bottles(600, 9), 9)
    most = drops.features[drops.open].max(axis=0)
    assert (most <= np.array([MOST[name] for name in FEATURES])).all()
    rare = {"viruses_gone", "gap"}
    assert [name for name, found in zip(FEATURES, most, strict=True) if found < MOST[name] and name not in rare] == []
