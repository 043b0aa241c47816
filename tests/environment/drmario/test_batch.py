"""Batches of games: states, masks, threads, and bytes that are no game."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mario_rl.environment.drmario.rules import IMAGE, MEDIUM, RulesBatch, StateError

PADS = np.array([0, 0, 1, 2, 4, 4, 0x80, 0x40, 0x82, 0x10], np.uint8)


def playing(n: int, players: int = 1, threads: int = 1, level: int = 5) -> RulesBatch:
    games = RulesBatch(n, threads)
    games.reset(2 * np.arange(1, n + 1), level, MEDIUM, players)  # an odd seed gives the same game as the even below
    games.skip_intro()
    return games


def pads(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.choice(PADS, (n, 2))


# --- states -----------------------------------------------------------------------------------------------------------


def test_ram_is_the_games_themselves():
    games = playing(2)
    games.ram[1, 0x43] = 77
    games.step(np.zeros((2, 2), np.uint8))
    assert games.ram[1, 0x43] == 78 and games.ram[0, 0x43] != 78
    assert games.ram.base is not None and games.save(1)[0x43] == 78


def test_ram_outlives_the_batch():
    ram = playing(3).ram
    assert ram[:, 0x46].tolist() == [4, 4, 4]


@pytest.mark.parametrize("players", [1, 2])
def test_every_state_of_play_can_be_saved_and_gone_on_from(players):
    games, others = playing(4, players, level=0), RulesBatch(4)
    rng = np.random.default_rng(1)
    modes = set()
    for _ in range(300):
        games.step(pads(rng, 4), 16)
        for game in range(4):
            others.load(game, games.save(game))
            modes.add((int(games.ram[game, 0x46]), int(games.ram[game, 0x59])))
        again = pads(rng, 4)
        games.step(again)
        others.step(again)
        assert (games.ram == others.ram).all()
    assert {mode for mode, _ in modes} >= {4, 7}


def test_a_game_goes_on_from_a_consoles_ram():
    games, others = playing(1), RulesBatch(1)
    games.step(np.zeros((1, 2), np.uint8), 100)
    console = np.frombuffer(games.save(0), np.uint8).copy()
    console[~IMAGE] = 0xA5  # sound, pictures, scratch
    others.load_ram(0, console.tobytes())
    assert not others.ram[0, ~IMAGE].any()
    for batch in (games, others):
        batch.step(np.full((1, 2), 4, np.uint8), 200)
    assert (games.ram[:, IMAGE] == others.ram[:, IMAGE]).all()


IMPLAUSIBLE = {
    "mode": (0x46, 0),
    "phase": (0x59, 7),
    "random state": (slice(0x17, 0x19), 0),
    "number of players": (0x727, 3),
    "pause flag": (0x68D, 1),
    "attract mode": (0x741, 0xFE),
    "wins needed": (0x725, 0),
    "score digit": (0x72C, 10),
    "capsule at": (0x7C3, 9),
    "throw animation": (0x7D, 22),
    "redraw row": (0x380, 16),
    "x at": (0x305, 8),
    "y at": (0x386, 16),
    "settle step": (0x307, 9),
    "speed at": (0x30B, 3),
    "speed-ups": (0x30A, 50),
    "gravity counter": (0x312, 200),
    "auto shift counter": (0x313, 16),
    "level": (0x316, 25),
    "action": (0x317, 7),
    "next colour": (0x31A, 3),
    "virus count": (0x324, 0x1A),
    "rotation": (0x325, 4),
    "reserve index": (0x327, 128),
    "attack colour": (0x3AC, 3),
    "field cell at \\$0410": (0x410, 0x43),
    "field cell at \\$0500": (0x500, 0x0A),
    "field cell at \\$04F0": (0x4F0, 0x80),
}


@pytest.mark.parametrize("what", IMPLAUSIBLE)
def test_ram_that_cannot_be_a_games_is_refused_and_changes_nothing(what):
    games = playing(1)
    state = np.frombuffer(games.save(0), np.uint8).copy()
    place, value = IMPLAUSIBLE[what]
    state[place] = value
    for load in (games.load, games.load_ram):
        before = games.save(0)
        with pytest.raises(StateError, match=f"not a game's RAM: .*{what}"):
            load(0, state.tobytes())
        assert games.save(0) == before


@pytest.mark.parametrize("size", [0, 2047, 2049])
def test_ram_of_another_size_is_refused(size):
    with pytest.raises(StateError, match=f"{size} bytes instead of 2048"):
        RulesBatch(1).load(0, bytes(size))


def test_a_menu_is_no_game():
    games = playing(1)
    state = np.frombuffer(games.save(0), np.uint8).copy()
    state[0x46] = 1
    with pytest.raises(StateError, match="the console shows a menu"):
        games.load_ram(0, state.tobytes())


@given(st.binary(min_size=2048, max_size=2048), st.booleans(), st.integers(0, 2**32 - 1))
@settings(max_examples=150, deadline=None)
def test_no_bytes_harm_the_engine(noise, at_spawn, seed):
    games = playing(2, players=2)
    rng = np.random.default_rng(seed)
    places = np.flatnonzero(rng.random(2048) < rng.choice([0.01, 0.3, 1]))
    games.ram[0, places] = np.frombuffer(noise, np.uint8)[places]
    if at_spawn:  # so that whatever is in the field gets planned with
        games.ram[0, [0x46, 0x59, 0x68D, 0x317, 0x305, 0x306, 0x325, 0x312]] = (4, 0, 0, 0, 3, 15, 0, 0)
    found = games.placements()
    games.placement_features(found.ids)
    for placement in found.ids[0, : found.counts[0]][:3].tolist():
        assert games.script(0, placement)
    for _ in range(10):
        games.step(rng.integers(0, 256, (2, 2)).astype(np.uint8), 50)
    games.next_decision()
    assert (games.ram[1, 0x780:] <= 8).all(), "the other game is its own"


# --- many games -------------------------------------------------------------------------------------------------------


def test_threads_change_nothing():
    one, many = playing(37, players=2), playing(37, players=2, threads=3)
    rng = np.random.default_rng(2)
    for _ in range(40):
        held, frames = pads(rng, 37), rng.integers(0, 60, 37).astype(np.int32)
        one.step(held, frames)
        many.step(held, frames)
    assert (one.ram == many.ram).all()
    assert (one.next_decision() == many.next_decision()).all()
    assert (one.ram == many.ram).all()


def test_masked_games_stay_as_they_are():
    games = playing(5)
    mask = np.array([True, False, True, False, False])
    before = games.ram.copy()
    games.step(np.zeros((5, 2), np.uint8), 3, mask)
    games.next_decision(mask)
    games.place(np.where(mask, games.placements(0, mask).ids[:, 0], 0), mask)
    games.reset(99, 3, mask=np.array([False, False, True, False, False]))
    assert (games.ram[~mask] == before[~mask]).all()
    assert games.ram[0, 0x43] != before[0, 0x43]
    assert games.ram[2, 0x46] == 3 and games.ram[2, 0x18] == 99


def test_frames_may_differ_from_game_to_game():
    games = playing(3)
    before = games.ram[:, 0x43].astype(int)
    games.step(np.zeros((3, 2), np.uint8), np.array([0, 1, 7], np.int32))
    assert ((games.ram[:, 0x43] - before) % 256).tolist() == [0, 1, 7]


def test_the_intro_is_skipped_exactly():
    skipped, stepped = RulesBatch(6), RulesBatch(6)
    levels = [[0, 0], [20, 20], [7, 15], [24, 3], [5, 5], [1, 20]]
    for games in (skipped, stepped):
        games.reset(np.arange(700, 706), levels, 2, [1, 2, 2, 1, 2, 1])
    skipped.skip_intro()
    for _ in range(400):
        stepped.step(np.zeros((6, 2), np.uint8), 1, stepped.ram[:, 0x46] != 4)
    assert (skipped.ram == stepped.ram).all()


def test_a_copy_is_the_same_game():
    games = playing(3)
    games.copy(0, 2)
    assert (games.ram[2] == games.ram[0]).all()
    games.step(np.full((3, 2), 2, np.uint8), 90)
    assert (games.ram[2] == games.ram[0]).all() and (games.ram[1] != games.ram[0]).any()


def test_levels_and_speeds_may_differ_between_the_players():
    games = RulesBatch(2)
    games.reset([5, 6], [[1, 20], [3, 4]], [[0, 2], [1, 1]], 2)
    assert games.ram[:, [0x316, 0x396]].tolist() == [[1, 20], [3, 4]]
    assert games.ram[:, [0x30B, 0x38B]].tolist() == [[0, 2], [1, 1]]
    games.skip_intro()
    assert games.ram[:, [0x324, 0x3A4]].tolist() == [[0x08, 0x84], [0x16, 0x20]]


# --- mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1,), "seeds must be between 2 and 65535, not 1"),
        ((65536,), "seeds must be between 2 and 65535"),
        (([5, 6],), "seeds must be one number, or 3"),
        ((2.5,), "seeds must be whole numbers"),
        (("x",), "seeds must be whole numbers"),
        ((5, 25), "levels must be between 0 and 24"),
        ((5, [[1, 2, 3]]), r"levels must be one number, or 3, or an array of shape \(3, 2\)"),
        ((5, 0, 3), "speeds must be between 0 and 2"),
        ((5, 0, 1, 3), "players must be between 1 and 2"),
    ],
)
def test_reset_says_what_is_wrong(arguments, message):
    games = RulesBatch(3)
    before = games.ram.copy()
    with pytest.raises(ValueError, match=message):
        games.reset(*arguments)
    assert (games.ram == before).all()


def test_other_mistakes_are_named():
    games = playing(3)
    with pytest.raises(ValueError, match="n must be between 1"):
        RulesBatch(0)
    with pytest.raises(ValueError, match="threads must be between 1 and 256"):
        RulesBatch(1, 0)
    with pytest.raises(IndexError, match="game 3 of 3"):
        games.save(3)
    with pytest.raises(ValueError, match=r"pads must have the shape \(games, 2\)"):
        games.step(np.zeros((2, 2), np.uint8))
    with pytest.raises(ValueError, match="frames must not be negative"):
        games.step(np.zeros((3, 2), np.uint8), -1)
    with pytest.raises(ValueError, match="mask must have one entry per game"):
        games.step(np.zeros((3, 2), np.uint8), 1, np.ones(2, bool))
    games.ram[0, 0x46] = 7
    with pytest.raises(ValueError, match="has no intro: reset it"):
        games.skip_intro()


def test_a_batch_in_use_by_another_thread_says_so():
    games = playing(2)
    stepping = threading.Thread(target=games.step, args=(np.zeros((2, 2), np.uint8), 5_000_000))
    stepping.start()
    refused = ""
    while stepping.is_alive() and not refused:
        try:
            games.save(0)
        except RuntimeError as busy:
            refused = str(busy)
    stepping.join()
    assert "stepped by another thread" in refused
