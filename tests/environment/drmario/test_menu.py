"""From power-on into a round: on a console the round is the one the rules engine plays for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from mario_rl.emulators.embedded import EmbeddedBatch, EmbeddedEmulator
from mario_rl.environment.drmario.console import ConsoleList
from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.environment.drmario.menu import Menu
from mario_rl.environment.drmario.rules import IMAGE, RulesBatch
from mario_rl.roms import antidote
from tests.emulators.test_rom import cartridge

SEEDS = np.array([0x8988, 3, 0xFFFF, 1234], np.int32)
LEVELS = np.array([[0, 0], [20, 20], [7, 7], [15, 15]], np.int32)
SPEEDS = np.array([[1, 1], [2, 2], [0, 0], [1, 1]], np.int32)
ALL = np.ones(4, np.bool_)


def on_the_engine(levels: np.ndarray, players: int) -> np.ndarray:
    games = RulesBatch(4)
    games.reset(SEEDS, levels, SPEEDS, players)
    games.skip_intro()
    return np.array(games.ram[:, IMAGE])


@pytest.mark.parametrize("players", [1, 2])
def test_the_same_seed_is_the_same_round_as_on_the_engine(players: int) -> None:
    consoles = EmbeddedBatch(antidote(), lanes=4)
    menu = Menu(consoles)
    menu.begin(ALL, SEEDS, LEVELS, SPEEDS, players)
    np.testing.assert_array_equal(consoles.ram[:, IMAGE], on_the_engine(LEVELS, players))
    # and again, from the middle of a round in some lanes only
    pads = np.full((4, 2), 2, np.uint8)
    consoles.step(pads, 333)
    before = consoles.ram.copy()
    some = np.array([True, False, False, True])
    menu.begin(some, SEEDS, LEVELS, SPEEDS, players)
    np.testing.assert_array_equal(consoles.ram[some][:, IMAGE], on_the_engine(LEVELS, players)[some])
    np.testing.assert_array_equal(consoles.ram[~some], before[~some])


def test_players_with_levels_of_their_own() -> None:
    levels = np.array([[0, 20], [20, 3], [7, 9], [15, 0]], np.int32)
    consoles = EmbeddedBatch(antidote(), lanes=4)
    Menu(consoles).begin(ALL, SEEDS, levels, SPEEDS, 2)
    np.testing.assert_array_equal(consoles.ram[:, IMAGE], on_the_engine(levels, 2))
    assert GameMemory(consoles.ram).viruses().tolist() == (4 * (levels + 1)).tolist()


def test_single_consoles_side_by_side() -> None:
    consoles = ConsoleList([EmbeddedEmulator(antidote()) for _ in range(4)])
    Menu(consoles).begin(ALL, SEEDS, LEVELS, SPEEDS, 2)
    np.testing.assert_array_equal(consoles.ram[:, IMAGE], on_the_engine(LEVELS, 2))


@pytest.mark.parametrize("fill", [0xEA, 0x00])
def test_another_cartridge_is_refused_in_one_line(fill: int) -> None:
    consoles = EmbeddedBatch(cartridge(fill), lanes=4)
    with pytest.raises(ValueError, match=r"did not get into a round of Dr\. Mario within 1200 frames") as error:
        Menu(consoles).begin(ALL, SEEDS, LEVELS, SPEEDS, 1)
    assert "mario-rl rom list" in str(error.value) and "\n" not in str(error.value)


def test_bytes_of_another_game_that_look_like_the_menu_are_not_enough() -> None:
    """A console whose mode byte passes through the right values, with nothing behind them."""

    class Pretender(ConsoleList):
        def _look(self, lanes: object) -> None:
            """The RAM is nobody's."""

        def step(self, pads: np.ndarray, frames: object, mask: object = None, screen: object = "off") -> None:
            self.ram[:, 0x46] = np.where(pads[:, 0] == 0, self.ram[:, 0x46], self.ram[:, 0x46] + 1)
            self.ram[:, 0x46] = np.where(self.ram[:, 0x46] == 2, 4, self.ram[:, 0x46])
            self.ram[:, 0x727] = 1

    consoles = Pretender([EmbeddedEmulator(antidote()) for _ in range(4)])
    with pytest.raises(ValueError, match="is neither Dr"):
        Menu(consoles).begin(ALL, SEEDS, LEVELS, SPEEDS, 1)


def test_the_pad_is_released_and_nothing_is_paused_when_play_begins() -> None:
    consoles = EmbeddedBatch(antidote(), lanes=4)
    Menu(consoles).begin(ALL, SEEDS, LEVELS, SPEEDS, 2)
    game = GameMemory(consoles.ram)
    assert not game.held.any() and not game.paused.any() and (game.mode == 4).all()
