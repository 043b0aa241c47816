"""The readers of RAM against the plain reference, cell by cell and digit by digit."""

from __future__ import annotations

import numpy as np
import pytest

from mario_rl.environment.drmario import memory
from mario_rl.environment.drmario.memory import GameMemory, as_one_game
from tests.environment.drmario import reference
from tests.environment.drmario.plain_games import begin, random_play
from tests.environment.drmario.reference import Seat


def rams_of_random_play(players: int, games: int = 4) -> list[bytes]:
    """RAM at odd moments of some games."""
    rams = []
    for number in range(games):
        played = random_play(begin(1000 + 77 * number, 3 * number, players, number % 3), number, 1500)
        rams += [bytes(game.ram) for frame, game in enumerate(played) if frame % 97 == 0]
    return rams


@pytest.mark.parametrize("players", [1, 2])
def test_readers_agree_with_plain_loops(players: int) -> None:
    rams = rams_of_random_play(players)
    game = GameMemory(np.array([list(ram) for ram in rams], np.uint8))
    cleared_any = False
    for number, ram in enumerate(rams):
        for player in (0, 1):
            seat = Seat(bytearray(ram), player)
            assert game.viruses()[number, player] == int(f"{seat[reference.VIRUSES]:x}")
            thrown = int(f"{seat[reference.HUNDREDS]:x}{seat[reference.CAPSULES]:02x}") - 1
            assert game.capsules()[number, player] == thrown
            assert game.colours[number, player].tolist() == [seat[1], seat[2]]
            assert game.next[number, player].tolist() == [seat[0x1A], seat[0x1B]]
            assert (game.x[number, player], game.y[number, player]) == (seat[5], seat[6])
            assert game.rotation[number, player] == seat[0x25]
            table = reference.GRAVITY_TABLE[reference.GRAVITY_BASE[seat[0x0B]] + seat[0x0A]]
            assert game.fall_frames()[number, player] == table + 1
            for column in range(8):
                rows = [row for row in range(16) if seat.cell(8 * row + column) < 0xF0]
                assert game.heights()[number, player, column] == (16 - rows[0] if rows else 0)
                cleared_any |= not rows
            for row in range(16):
                assert game.fields[number, player, row].tolist() == [seat.cell(8 * row + x) for x in range(8)]
            assert game.controllable()[number, player] == (ram[0x46] == 4 and ram[0x68D] == 0 and seat[0x17] == 0)
            taking_part = player < players
            assert game.topped_out()[number, player] == (taking_part and seat[9] != 0)
        assert game.score()[number] == int("".join(str(digit) for digit in reversed(ram[0x729:0x72F])) + "0")
        assert game.round_over()[number] == any(Seat(bytearray(ram), player)[9] for player in range(players))
    assert game.topped_out().any() and not game.topped_out().all(), "both kinds are among them"
    assert cleared_any, "an empty column was among them"
    if players == 1:
        assert game.score().any()


def test_an_empty_bottle_is_cleared_only_in_play_and_only_where_somebody_plays() -> None:
    game = as_one_game(np.zeros(2048, np.uint8))
    assert not game.cleared().any(), "mode 0"
    game.mode[0] = memory.MODE_VIRUSES_APPEAR
    assert not game.cleared().any(), "before the first virus appears"
    game.mode[0] = memory.MODE_PLAY
    assert game.cleared().tolist() == [[True, False]]
    game.players[0] = 2
    assert game.cleared().tolist() == [[True, True]]
    game.blocks[0, 0, memory.VIRUSES] = 0x10
    assert game.cleared().tolist() == [[False, True]]


def test_many_capsules() -> None:
    game = as_one_game(np.zeros(2048, np.uint8))
    game.blocks[0, :, memory.CAPSULES] = (0x35, 0x01)
    game.blocks[0, :, memory.CAPSULES_HUNDREDS] = (0x12, 0x00)
    assert game.capsules().tolist() == [[1234, 0]]


def test_arrays_look_into_the_ram_itself() -> None:
    ram = np.zeros((3, 2048), np.uint8)
    game = GameMemory(ram)
    ram[1, 0x0500 + 8 * 15 + 7] = 0xD2
    ram[2, 0x0385] = 6
    ram[0, 0x0302] = 2
    assert game.fields[1, 1, 15, 7] == 0xD2
    assert game.x[2].tolist() == [0, 6]
    assert game.colours[0, 0].tolist() == [0, 2]
    game.action[2, 1] = 3
    assert ram[2, 0x0397] == 3


def test_a_pause_and_the_demo_take_the_pad_away() -> None:
    game = as_one_game(np.zeros(2048, np.uint8))
    game.mode[0] = memory.MODE_PLAY
    assert game.controllable().all()
    for address, value in ((memory.PAUSE, 5), (memory.DEMO, 0xFE), (memory.MODE, 7)):
        before = game.ram[0, address]
        game.ram[0, address] = value
        assert not game.controllable().any()
        game.ram[0, address] = before
