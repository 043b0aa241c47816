"""What players see, against a drawing by hand and against plain loops over the reference's RAM."""

from __future__ import annotations

import numpy as np
import pytest

from mario_rl.environment.drmario import memory
from mario_rl.environment.drmario.memory import GameMemory, as_one_game
from mario_rl.environment.drmario.observation import FEATURES, FLAT, observation_of
from mario_rl.environment.one_lane import seen_by_one
from tests.environment.drmario.plain_games import begin, random_play
from tests.environment.drmario.reference import Seat
from tests.environment.drmario.test_memory import rams_of_random_play


def plain_planes(ram: bytes, number: int) -> np.ndarray:
    """One side's six planes, a cell at a time."""
    seat = Seat(bytearray(ram), number)
    planes = np.zeros((6, 16, 8), np.float32)
    for index in range(128):
        row, column = divmod(index, 8)
        cell = seat.cell(index)
        kind, colour = cell & 0xF0, cell & 0x0F
        if colour <= 2 and kind in (0x40, 0x50, 0x60, 0x70, 0x80, 0xB0):
            planes[1 + colour, row, column] = 0.5
        elif colour <= 2 and kind == 0xD0:
            planes[1 + colour, row, column] = 1
        else:
            planes[0, row, column] = 1
    if seat[0x17] in (0, 3) and ram[0x46] == 4 and not seat[9]:
        empty = Seat(bytearray(ram), number)
        for index in range(128):
            empty.set_cell(index, 0xFF)
        empty.write_capsule()  # the reference knows which half goes where
        for index in range(128):
            if empty.cell(index) != 0xFF:
                row, column = divmod(index, 8)
                planes[4, row, column] = np.float32((empty.cell(index) & 15) + 1) / 3
                planes[5, row, column] = (seat[0x25] + 1) / 4
    return planes


@pytest.mark.parametrize("players", [1, 2])
@pytest.mark.parametrize("seat", [0, 1])
def test_planes_agree_with_plain_loops(players: int, seat: int) -> None:
    if seat >= players:
        return
    rams = rams_of_random_play(players)
    seen = observation_of("planes", False).read(GameMemory(np.array([list(ram) for ram in rams], np.uint8)), seat)
    assert isinstance(seen, np.ndarray)
    assert seen.shape == (len(rams), 12, 16, 8) and seen.dtype == np.float32
    for number, ram in enumerate(rams):
        np.testing.assert_array_equal(seen[number, :6], plain_planes(ram, seat))
        other = plain_planes(ram, 1 - seat) if players == 2 else np.zeros((6, 16, 8))
        np.testing.assert_array_equal(seen[number, 6:], other)
    rotations = set(np.unique(seen[:, 5]).tolist())
    assert rotations >= {0.25, 0.5, 1.0}, "capsules of several rotations were among them"


def test_a_bottle_drawn_by_hand() -> None:
    ram = bytearray(2048)
    ram[0x400:0x600] = bytes([0xFF]) * 512
    ram[0x46], ram[0x727] = 4, 2
    ram[0x400 + 8 * 15] = 0xD2  # a blue virus, bottom left
    ram[0x400 + 8 * 15 + 7] = 0x41  # a red half, bottom right
    ram[0x400 + 8 * 14 + 7] = 0xF1  # a red pop above it: nothing any more
    ram[0x400 + 8 * 5 + 3] = 0x8B  # the edge of a box: nothing
    ram[0x500 + 3] = 0x80  # the other bottle: a yellow single
    ram[0x301], ram[0x302], ram[0x305], ram[0x306], ram[0x325] = 1, 2, 4, 10, 3  # upright, red on top of blue
    ram[0x397] = 1  # the other player's capsule is settling
    planes = observation_of("planes", False).read(as_one_game(np.frombuffer(ram, np.uint8)), 0)[0]
    lit = {(plane + 1, row, column): planes[plane + 1, row, column] for plane, row, column in np.argwhere(planes[1:6])}
    assert lit == pytest.approx(
        {
            (3, 15, 0): 1.0,
            (2, 15, 7): 0.5,
            (4, 5, 4): 3 / 3,
            (4, 4, 4): 2 / 3,
            (5, 5, 4): 1.0,
            (5, 4, 4): 1.0,
        }
    )
    assert planes[0].sum() == 126
    assert planes[6].sum() == 127
    assert planes[7, 0, 3] == 0.5 and planes[7:].sum() == 0.5


def test_a_half_above_the_bottle_is_not_seen() -> None:
    game = begin(0x8988, 0, 1)
    while game.seats[0][0x17] != 0:
        game.step(0)
    game.step(0x80)  # A: upright, in the top row
    assert (game.seats[0][0x25], game.seats[0][6]) == (3, 15)
    planes = observation_of("planes", False).read(as_one_game(np.frombuffer(game.ram, np.uint8)), 0)[0]
    assert np.argwhere(planes[4]).tolist() == [[0, 3]]


def test_features_by_name() -> None:
    game = begin(0x8988, 10, 2)
    played = random_play(game, 1, 400)
    next(moment for number, moment in enumerate(played) if number > 200 and moment.seats[0][0x12] > 5)
    seen = observation_of("planes", True).read(as_one_game(np.frombuffer(game.ram, np.uint8)), 1)
    assert isinstance(seen, dict)
    values = dict(zip(FEATURES, seen["features"][0].tolist(), strict=True))
    for side, seat in (("own", game.seats[1]), ("other", game.seats[0])):
        assert values[f"{side}_viruses"] == pytest.approx(int(f"{seat[0x24]:x}") / 84)
        for half, colour in ((1, seat[0x1A]), (2, seat[0x1B])):
            hot = [values[f"{side}_next{half}_{name}"] for name in ("yellow", "red", "blue")]
            assert hot == [float(colour == number) for number in range(3)]
        heights = as_one_game(np.frombuffer(game.ram, np.uint8)).heights()[0, seat.number]
        assert [values[f"{side}_height{column}"] * 16 for column in range(8)] == heights.tolist()
    assert game.seats[0][0x0A] == 0, "no speed-up yet: a row takes 20 frames"
    assert values["other_drop_timer"] == pytest.approx(game.seats[0][0x12] / 20)
    np.testing.assert_array_equal(
        seen["planes"], observation_of("planes", False).read(as_one_game(np.frombuffer(game.ram, np.uint8)), 1)
    )


def test_flat_by_name() -> None:
    game = begin(0x1234, 5, 1, speed=0)
    while game.seats[0][0x17] != 0:
        game.step(0)
    for pad in (0x80, 0, 2, 0, 2, 0, 0):  # turn, and two to the left
        game.step(pad)
    memory_view = as_one_game(np.frombuffer(game.ram, np.uint8))
    seen = observation_of("flat", False).read(memory_view, 0)[0]
    planes = observation_of("planes", False).read(memory_view, 0)[0]
    assert len(FLAT) == len(seen) == 1064
    values = dict(zip(FLAT, seen.tolist(), strict=True))
    for row in range(16):
        for column in range(8):
            for kind, name in enumerate(("empty", "yellow", "red", "blue")):
                assert values[f"own_row{row}_column{column}_{name}"] == planes[kind, row, column]
    seat = game.seats[0]
    assert values["own_x"] == pytest.approx(seat[5] / 7) and seat[5] == 1
    assert values["own_y"] == pytest.approx(seat[6] / 15)
    assert [values[f"own_rotation{number}"] for number in range(4)] == [0, 0, 0, 1]
    assert [values[f"own_capsule1_{name}"] for name in ("yellow", "red", "blue")].index(1) == seat[1]
    assert values["own_viruses"] == pytest.approx(24 / 84)
    assert not any(value for name, value in values.items() if name.startswith("other_")), "nobody sits there"

    game.seats[0][0x17] = 1  # it settles: no capsule is falling
    values = dict(zip(FLAT, observation_of("flat", False).read(memory_view, 0)[0].tolist(), strict=True))
    assert not any(value for name, value in values.items() if name.startswith(("own_capsule", "own_x", "own_rotation")))


@pytest.mark.parametrize("name", ["planes", "flat"])
@pytest.mark.parametrize("features", [False, True])
def test_any_ram_gives_an_observation_of_the_space(name: str, features: bool) -> None:
    if features and name == "flat":
        with pytest.raises(ValueError, match="features=True goes with"):
            observation_of(name, features)
        return
    observation = observation_of(name, features)
    rams = np.random.default_rng(5).integers(0, 256, (200, 2048), np.uint8)
    rams[:, memory.MODE] = memory.MODE_PLAY
    rams[::2, memory.PLAYERS] = 2
    rams[::3, [memory.BLOCK + memory.ACTION, memory.BLOCK + memory.FAILED]] = 0
    seen = observation.read(GameMemory(rams), 0)
    for number in range(len(rams)):
        assert observation.space.contains(seen_by_one(seen, number))


def test_an_unknown_observation_is_named() -> None:
    with pytest.raises(ValueError, match="unknown observation 'pixels'; use one of planes, flat"):
        observation_of("pixels", False)
