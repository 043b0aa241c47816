"""Worked examples of Dr. Mario's rules with the numbers of docs/drmario.md: how a round begins, how capsules fall."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from mario_rl.emulators.base import DOWN, LEFT, RIGHT, A, B
from mario_rl.environment.drmario.rules import HIGH, LOW, MEDIUM
from tests.environment.drmario.example_game import (
    ACTION,
    CAPSULES,
    DAS,
    FALLING,
    GRAVITY,
    INDEX,
    ROTATION,
    SETTLING,
    SPEED_UPS,
    VIRUSES,
    Game,
    X,
    Y,
)

# --- randomness, the beginning of a round -----------------------------------------------------------------------------


def test_reserve_of_the_power_on_seed():
    game = Game(seed=0x8988).step()
    assert "".join(map(str, game.ram[0x780:0x7A0])) == "35830107203007331677636331663583"
    assert (game[0x01], game[0x02]) == (1, 0), "3 is red and yellow"
    assert (game[0x1A], game[0x1B]) == (1, 2), "5 is red and blue"


def test_first_capsule_played_is_the_second_of_the_reserve():
    game = Game(seed=0x8988).begin()
    assert (game[0x01], game[0x02], game[0x1A], game[0x1B]) == (1, 2, 2, 2)
    assert game[INDEX] == 3
    assert game[CAPSULES] == 2


def test_generator_states():
    states = [0x8988, 0x44C4, 0x2262, 0x1131, 0x0898, 0x044C, 0x0226, 0x0113, 0x8089, 0x4044, 0x2022]
    # The reserve takes 128 steps from each of them, so the results follow each other as the states do.
    after = []
    for state in states:
        game = Game(seed=state).step()
        after.append(int(game.ram[0x17]) << 8 | int(game.ram[0x18]))
    for now, then in pairwise(after):
        assert then == now >> 1 | ((now >> 9 ^ now >> 1) & 1) << 15


def test_seeds_that_differ_in_the_last_bit_only_give_the_same_game():
    one, other = Game(seed=0x1234).step(), Game(seed=0x1235).step()
    assert (one.ram[0x780:] == other.ram[0x780:]).all()


@pytest.mark.parametrize(("level", "frames"), [(0, 134), (1, 138), (5, 154)])
def test_viruses_appear_in_so_many_frames(level, frames):
    game = Game(level=level).step()
    assert game.ram[0x46] == 8
    assert game.frames_until(lambda: game.ram[0x46] == 4) == frames
    assert f"{game[VIRUSES]:x}" == str(4 * (level + 1))
    assert (game.ram[0x400:0x480] == game.ram[0x500:0x580]).all()


@pytest.mark.parametrize("level", [0, 14, 15, 17, 20, 24])
def test_viruses_stay_below_their_height_and_never_two_apart(level):
    game = Game(seed=0x4711, level=level)
    game.batch.skip_intro()
    field = game.ram[0x400:0x480].reshape(16, 8)
    highest = {0: 9, 14: 9, 15: 10, 17: 11}.get(level, 12)
    assert (field[: 15 - highest] == 0xFF).all()
    assert (field != 0xFF).sum() == 4 * (min(level, 20) + 1)
    for one, other in ((field[:-2], field[2:]), (field[:, :-2], field[:, 2:])):
        assert not ((one != 0xFF) & (one == other)).any()


@pytest.mark.parametrize(("players", "frames"), [(1, 23), (2, 2)])
def test_first_capsule_comes_under_control(players, frames):
    game = Game(players=players)
    game.batch.skip_intro()
    assert game.frames_until(lambda: game[ACTION] == FALLING) == frames


# --- falling ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("speed", "speed_ups", "frames"),
    [
        (LOW, 0, 40), (MEDIUM, 0, 20), (HIGH, 0, 14), (LOW, 10, 20), (MEDIUM, 10, 10), (HIGH, 10, 7),
        (LOW, 20, 10), (MEDIUM, 20, 6), (HIGH, 20, 6), (LOW, 49, 4), (MEDIUM, 49, 2), (HIGH, 49, 1),
    ],
)  # fmt: skip
def test_frames_in_a_row(speed, speed_ups, frames):
    game = Game(speed=speed).begin()
    game[SPEED_UPS] = speed_ups
    for row in (14, 13, 12):
        assert game.frames_until(lambda row=row: game[Y] == row) == frames


def test_down_alone_drops_in_odd_frames():
    game = Game().begin()
    rows = [game.step(DOWN)[Y] for _ in range(6)]
    assert rows == [14, 14, 13, 13, 12, 12]


@pytest.mark.parametrize("other", [LEFT, RIGHT])
def test_down_with_another_direction_does_not_drop(other):
    game = Game().begin()
    assert game.step(DOWN | other, 10)[Y] == 15


def test_auto_shift_moves_on_the_press_after_16_frames_then_every_6():
    game = Game().begin()
    game.ram[0x30B], game[X] = LOW, 0
    columns = [game.step(RIGHT)[X] for _ in range(30)]
    assert [frame for frame in range(1, 30) if columns[frame] != columns[frame - 1]] == [16, 22, 28]
    assert columns[0] == 1


def test_a_blocked_capsule_slides_in_as_soon_as_there_is_room():
    game = Game().begin().draw("\n".join([".. .. o0 .. .. .. .. .."] * 2 + [".. .. .. .. .. .. .. .."] * 14))
    game.step(LEFT, 3)
    assert game.position == (3, 15, 0) and game[DAS] == 15
    game.step(LEFT, 16)
    assert game.position == (3, 15, 0)
    assert game.frames_until(lambda: game[Y] == 13, LEFT) and game[X] == 2, "in the frame of the drop"


@pytest.mark.parametrize(("button", "rotations"), [(A, [3, 2, 1, 0]), (B, [1, 2, 3, 0])])
def test_rotation(button, rotations):
    game = Game().begin()
    assert [game.step(button).step()[ROTATION] for _ in range(4)] == rotations
    assert game.step(button, 5)[ROTATION] == rotations[0], "a held button turns once"


@pytest.mark.parametrize(("rotation", "cells"), [(0, ["<1 >2"]), (1, ["^2", "_1"]), (2, ["<2 >1"]), (3, ["^1", "_2"])])
def test_where_the_colours_go(rotation, cells):
    game = Game().begin()
    game[0x01], game[0x02], game[ROTATION], game[Y] = 1, 2, rotation, 0
    game.step(DOWN)
    assert game[ACTION] == SETTLING
    rows = [row.split()[3 : 3 + len(cells[0].split())] for row in game.drawn(2)]
    assert [" ".join(row) for row in rows if row != [".."] * len(row)] == cells


def test_turning_to_horizontal_with_left_held_moves_one_further():
    game = Game().begin()
    game[ROTATION] = 1
    game.step(LEFT)
    assert game.position == (2, 15, 1)
    assert game.step(LEFT | A).position == (1, 15, 0)


def test_turning_to_horizontal_kicks_to_the_left_but_never_to_the_right():
    game = Game().begin()
    game[X], game[ROTATION] = 7, 1
    assert game.step(A).position == (6, 15, 0)
    wall = Game().begin().draw("\n".join([".. o0 .. .. .. .. .. .."] * 16))
    wall[X], wall[ROTATION] = 0, 1
    assert wall.step(A).position == (0, 15, 1)


def test_both_buttons_act_in_one_frame():
    game = Game().begin()
    game[X], game[ROTATION] = 7, 1
    assert game.step(A | B).position == (6, 15, 1), "clockwise with a kick, and back"


def test_the_lock_frame_still_charges_the_counter():
    game = Game().begin()
    game[Y], game[GRAVITY] = 0, 19
    game.step(LEFT)
    assert game[ACTION] == SETTLING
    assert game[X] == 3 and game[DAS] == 15, "it collides with its own copy"


def test_a_half_above_the_bottle_vanishes():
    game = Game().begin().draw("\n".join([".. .. .. .. .. .. .. .."] + [".. .. .. o0 .. .. .. .."] * 15))
    game[ROTATION], game[GRAVITY], game[0x01], game[0x02] = 1, 19, 1, 2
    before = game.ram[0x400:0x500].copy()
    game.step()
    changed = np.flatnonzero(game.ram[0x400:0x500] != before)
    assert changed.tolist() == [3] and game.ram[0x403] == 0x51
