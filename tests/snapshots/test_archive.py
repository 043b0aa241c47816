"""The archive: cells keep the shortest way, and choosing prefers what is new and seldom chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mario_rl.environment.smb import memory
from mario_rl.environment.smb.memory import GameMemory
from mario_rl.snapshots.archive import (
    CELL_HEIGHT,
    CELL_WIDTH,
    CHOICES_IN_THE_AIR,
    DETOUR,
    DRAWS,
    SHORTER,
    USED_BLOCK,
    WORN_OUT,
    Archive,
    Cell,
    CellKeys,
    Way,
)


def cell(key: int, steps: int = 0, in_the_air: bool = False, before: Way | None = None) -> Cell:
    return Cell(key, 1, 2, 3, b"state", Way(before, bytes(steps)), looped=False, in_the_air=in_the_air)


@given(st.lists(st.binary(max_size=5), min_size=1))
def test_a_way_is_all_its_pieces_one_after_the_other(pieces: list[bytes]) -> None:
    way = None
    for piece in pieces:
        way = Way(way, piece)
    assert way is not None
    assert way.all_pads() == b"".join(pieces)
    assert way.steps == len(b"".join(pieces))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 60))))
def test_no_cell_keeps_a_way_that_is_longer_than_one_it_was_offered(offers: list[tuple[int, int]]) -> None:
    archive = Archive()
    shortest: dict[int, int] = {}
    for key, steps in offers:
        if archive.wants(key, steps):
            archive.put(cell(key, steps))
        shortest[key] = min(steps, shortest.get(key, steps))
    kept = {cell.key: cell.way.steps for cell in archive.cells}
    assert kept.keys() == shortest.keys()
    for key, steps in kept.items():
        assert shortest[key] <= steps <= shortest[key] + SHORTER
    assert len(archive) == len(archive.cells) == len(shortest)


def test_a_cell_that_was_chosen_in_vain_takes_a_somewhat_later_state() -> None:
    archive = Archive()
    archive.put(cell(1, 100))
    archive.cells[0].chosen = WORN_OUT
    assert not archive.wants(1, 101)
    archive.cells[0].chosen = WORN_OUT + 1
    assert archive.wants(1, 100 + DETOUR - 1)
    assert not archive.wants(1, 100 + DETOUR)
    archive.put(cell(1, 101))
    assert archive.cells[0].way.steps == 101
    assert archive.cells[0].chosen == (WORN_OUT + 1) // 2  # it is worth a try again
    assert len(archive) == 1


ALMOST_ONE = float(np.nextafter(1, 0))


@given(st.integers(1, 50), st.lists(st.floats(0, ALMOST_ONE), min_size=DRAWS, max_size=DRAWS))
def test_any_random_numbers_choose_a_cell_and_it_is_counted(count: int, numbers: list[float]) -> None:
    archive = Archive()
    for key in range(count):
        archive.put(cell(key, in_the_air=key % 2 == 1))
    chosen = archive.choose(np.array(numbers))
    assert chosen is archive.cells[chosen.key]
    assert chosen.chosen == (CHOICES_IN_THE_AIR if chosen.in_the_air else 1)
    assert sum(cell.chosen for cell in archive.cells) == chosen.chosen


def test_every_cell_is_reached_by_both_kinds_of_choice() -> None:
    for kind in (0.0, 0.5):
        archive = Archive()
        for key in range(20):
            archive.put(cell(key))
        chosen = {
            archive.choose(np.array([kind] + [number] * (DRAWS - 1))).key for number in np.linspace(0, ALMOST_ONE, 500)
        }
        assert chosen == set(range(20))


def test_the_newest_tenth_is_chosen_as_often_as_all_the_rest_of_the_newest() -> None:
    archive = Archive()
    for key in range(100):
        archive.put(cell(key))
    numbers = np.linspace(0, ALMOST_ONE, 1000)
    keys = [archive.choose(np.array([0.0] + [number] * (DRAWS - 1))).key for number in numbers]
    assert sum(key >= 90 for key in keys) == pytest.approx(500, abs=5)


def test_of_the_candidates_the_one_that_was_chosen_least_is_taken() -> None:
    archive = Archive()
    for key in range(10):
        archive.put(cell(key))
    for known in archive.cells:
        known.chosen = 5
    archive.cells[4].chosen = 2
    draws = np.array([0.9, 0.05, 0.15, 0.25, 0.35, 0.45, 0.55])  # the older kind: cells 0 to 5
    assert archive.choose(draws).key == 4


def test_after_the_end_was_found_cells_with_a_shorter_way_are_the_new_ones() -> None:
    archive = Archive()
    for key in range(10):
        archive.put(cell(key, 50))
    archive.put(cell(3, 20))
    newest = np.zeros(DRAWS)
    assert archive.choose(newest).key == 9
    assert archive.choose_shortened(newest).key == 3


def test_cells_from_which_others_were_reached_are_productive() -> None:
    archive = Archive()
    first = cell(1)
    archive.put(first)
    archive.put(cell(2, before=first.way))
    archive.put(cell(3))
    assert [known.key for known in archive.productive()] == [1]


PLACES = st.fixed_dictionaries(
    {
        "area": st.sampled_from([0xA3FC, 0xA3FD, 0xAEC2]),
        "x": st.integers(-100, 100),
        "y": st.integers(-40, 250),
        "correct": st.integers(0, 3),
        "passed": st.integers(0, 3),
        "power": st.integers(0, 2),
        "swimming": st.integers(0, 1),
        "float": st.integers(0, 2),
        "hit": st.booleans(),
        "looped": st.booleans(),
    }
)


def what_counts(place: dict[str, Any]) -> tuple[object, ...]:
    """In plain words, what makes two places the same cell."""
    return (
        place["area"],
        place["x"] // CELL_WIDTH,
        place["y"] // CELL_HEIGHT,
        place["correct"],
        place["passed"],
        place["power"] > 0,
        place["swimming"],
        place["float"] == 0,
        place["hit"],
        place["looped"],
    )


def ram_of(place: dict[str, Any]) -> np.ndarray:
    ram = np.zeros(2048, np.uint8)
    ram[memory.AREA_POINTER], ram[memory.AREA_POINTER + 1] = place["area"] & 0xFF, place["area"] >> 8
    ram[memory.SLOT_X], ram[memory.SLOT_X_PAGE] = place["x"] & 0xFF, place["x"] >> 8 & 0xFF
    ram[memory.SLOT_Y], ram[memory.SLOT_Y_PAGE] = place["y"] & 0xFF, (place["y"] >> 8) + 1
    ram[memory.MAZE_CORRECT], ram[memory.MAZE_PASSED] = place["correct"], place["passed"]
    ram[memory.SIZE_AND_POWER], ram[memory.SWIMMING] = place["power"], place["swimming"]
    ram[memory.FLOAT_STATE] = place["float"]
    ram[memory.METATILES.start + 100] = USED_BLOCK if place["hit"] else 0x54
    return ram


@given(PLACES, PLACES)
def test_places_are_the_same_cell_exactly_if_all_that_counts_is_the_same(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    for second in (other, one | {"x": other["x"]}, one | {"y": other["y"]}, one | {"float": other["float"]}):
        game = GameMemory(np.stack([ram_of(one), ram_of(second)]))
        game.look()
        keys = CellKeys(game)(np.array([one["looped"], second["looped"]]))
        assert (keys[0] == keys[1]) == (what_counts(one) == what_counts(second))
