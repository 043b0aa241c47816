"""Into rounds that the cartridge plays: they begin as all others do, for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from mario_rl.emulators.embedded import EmbeddedBatch, EmbeddedEmulator
from mario_rl.environment.drmario import memory
from mario_rl.environment.drmario.cartridge_menu import AttractMenu, VsCpuMenu
from mario_rl.environment.drmario.console import ConsoleList
from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.environment.drmario.menu import Menu
from mario_rl.environment.drmario.planner import at_decision, capsule_waits
from mario_rl.environment.drmario.rules import IMAGE, RulesBatch
from mario_rl.roms import antidote

SEEDS = np.array([0x8988, 3, 0xFFFF, 1234], np.int32)
LEVELS = np.array([[0, 0], [20, 20], [7, 7], [15, 15]], np.int32)
SPEEDS = np.array([[1, 1], [2, 2], [0, 0], [1, 1]], np.int32)
ALL = np.ones(4, np.bool_)
NOTHING = np.zeros((4, 2), np.uint8)

# All that makes a round, but for the byte that says who plays it.
ROUND = IMAGE.copy()
ROUND[memory.DEMO] = False


def on_the_engine(players: int) -> RulesBatch:
    games = RulesBatch(4)
    games.reset(SEEDS, LEVELS, SPEEDS, players)
    games.skip_intro()
    return games


@pytest.mark.parametrize(("menu", "players"), [(AttractMenu, 1), (VsCpuMenu, 2)])
def test_the_same_seed_is_the_same_round_as_on_the_engine(menu: type[Menu], players: int) -> None:
    consoles = EmbeddedBatch(antidote(), lanes=4)
    walked = menu(consoles)
    walked.begin(ALL, SEEDS, LEVELS, SPEEDS, players)
    expected = on_the_engine(players).ram
    assert (consoles.ram[:, memory.RESERVE] == expected[:, memory.RESERVE]).all(), "the capsules"
    assert (GameMemory(consoles.ram).fields == GameMemory(expected).fields).all(), "the viruses"
    np.testing.assert_array_equal(consoles.ram[:, ROUND], expected[:, ROUND])
    # and again, from the middle of a round in some lanes only
    consoles.step(NOTHING, 333)
    before = consoles.ram.copy()
    some = np.array([True, False, False, True])
    walked.begin(some, SEEDS, LEVELS, SPEEDS, players)
    np.testing.assert_array_equal(consoles.ram[some][:, ROUND], expected[some][:, ROUND])
    np.testing.assert_array_equal(consoles.ram[~some], before[~some])


def test_it_plays_the_second_seat_in_vs_cpu() -> None:
    consoles = EmbeddedBatch(antidote(), lanes=4)
    VsCpuMenu(consoles).begin(ALL, SEEDS, LEVELS, SPEEDS, 2)
    assert (consoles.ram[:, memory.VS_CPU] == 1).all()
    game, pressed = GameMemory(consoles.ram), np.zeros((4, 2), np.uint8)
    for _ in range(120):
        consoles.step(NOTHING, 1)
        pressed |= game.held
    assert (pressed[:, 0] == 0).all()
    assert (pressed[:, 1] != 0).all()


def test_its_first_capsule_waits_when_that_of_any_round_for_one_does() -> None:
    """Only that no pad can move it, so that nobody is asked."""
    consoles = EmbeddedBatch(antidote(), lanes=4)
    AttractMenu(consoles).begin(ALL, SEEDS, LEVELS, SPEEDS, 1)
    game, engine = GameMemory(consoles.ram), on_the_engine(1)
    for _ in range(100):
        waits = capsule_waits(game, 0)
        assert (waits == at_decision(GameMemory(engine.ram), 0)).all()
        assert not at_decision(game, 0).any()
        assert not game.controllable().any()
        if waits[0]:  # at MED: the slowest is still to come
            break
        consoles.step(NOTHING, 1)
        engine.step(NOTHING)
    assert waits[0]


class TwoChoices(ConsoleList):
    """A title that knows one player and two, and nothing else."""

    def step(self, pads: np.ndarray, frames: object, mask: object = None, screen: object = "off") -> None:
        super().step(pads, frames, mask, screen)  # type: ignore[arg-type]
        for lane in np.flatnonzero(self.ram[:, memory.VS_CPU]).tolist():
            self.poke(lane, memory.VS_CPU, 0)
            self.poke(lane, memory.PLAYERS, 1)


def test_a_title_without_vs_cpu_leads_to_a_plain_round_for_two() -> None:
    consoles = TwoChoices([EmbeddedEmulator(antidote()) for _ in range(4)])
    menu = VsCpuMenu(consoles)
    for _ in range(2):
        menu.begin(ALL, SEEDS, LEVELS, SPEEDS, 2)
        np.testing.assert_array_equal(consoles.ram[:, ROUND], on_the_engine(2).ram[:, ROUND])
        assert (consoles.ram[:, memory.VS_CPU] == 0).all()


def test_a_walk_that_was_broken_off_is_walked_anew() -> None:
    """A console may be lost on the title; what it had shown until then is not held against it."""
    consoles = EmbeddedBatch(antidote(), lanes=4)
    menu = VsCpuMenu(consoles)
    menu._seen_two_players = True
    menu.begin(ALL, SEEDS, LEVELS, SPEEDS, 2)
    assert (consoles.ram[:, memory.VS_CPU] == 1).all()
