"""Matches: the same games on everything that plays them, seats and results as they should be."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mario_rl.environment.drmario.bot_weights import load_weights
from mario_rl.environment.drmario.bots import SearchBot, make_bot
from mario_rl.environment.drmario.console import EmulatorGames, Games, open_games
from mario_rl.environment.drmario.memory import GameMemory, Ints, Mask
from mario_rl.environment.drmario.pilot import Pilot
from mario_rl.environment.drmario.planner import Planner, at_decision
from mario_rl.environment.drmario.rules import MEDIUM, RulesBatch
from mario_rl.environment.drmario.seeds import random_state
from mario_rl.environment.drmario.settings import GameSettings
from mario_rl.roms import antidote
from mario_rl.runs.directory import RunError
from mario_rl.selfplay import match
from mario_rl.selfplay.match import Conditions, Fixture, GameRecord, fixtures, play_match
from mario_rl.selfplay.players import Player, make_player
from tests.emulators.mednafen_here import mednafen_or_skip

EASY = Conditions(level=1)
ON_THE_CARTRIDGE = replace(EASY, backend="embedded", rom=antidote())


def player_called(name: str) -> Player:
    """A player by name; "sloppy" is as quick as greedy and plays differently."""
    if name != "sloppy":
        return make_player(name)
    return SearchBot(name, 1, np.round(load_weights("greedy") / 20) * 20)


class Presser:
    """Holds what it is told to, and remembers when it was asked."""

    name = "presser"
    frame_skip = 4

    def __init__(self, pad: int = 0):
        self.pad = pad
        self.asked: list[tuple[int, int]] = []  # the frame counter of the first of the games, and how many they are

    def hold(self, game: GameMemory, seat: int) -> npt.NDArray[np.uint8]:
        self.asked.append((int(game.frame_count[0]), len(game.frame_count)))
        return np.full(len(game.frame_count), self.pad, np.uint8)


class LeftOrDown(Presser):
    """Goes to the left wall and drops."""

    def hold(self, game: GameMemory, seat: int) -> npt.NDArray[np.uint8]:
        return np.where(game.x[:, seat] > 0, 0x02, 0x04).astype(np.uint8)


# --- the same everywhere ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "games", "changes"),
    [
        ("search", "greedy", 2, {}),
        ("greedy", None, 3, {}),
        ("greedy", "sloppy", 4, {"speed": "hi", "level": 3}),
        ("greedy", "greedy", 4, {"max_frames": 900}),
        ("search", None, 2, {"max_frames": 700, "speed": "low"}),
    ],
)
def test_games_are_the_same_on_the_engine_and_on_the_cartridge(
    a: str, b: str | None, games: int, changes: dict[str, Any]
) -> None:
    first, second = player_called(a), None if b is None else player_called(b)
    records = [
        play_match(first, second, games, replace(conditions, **changes)) for conditions in (EASY, ON_THE_CARTRIDGE)
    ]
    assert records[0] == records[1]
    assert all(record.capsules > 5 for record in records[0])
    cut_off = "max_frames" in changes
    assert {record.ending for record in records[0]} == ({"cut_off"} if cut_off else {"clear"})
    if cut_off:
        assert {record.result for record in records[0]} == {"loss" if b is None else "draw"}
        assert all(record.frames >= changes["max_frames"] for record in records[0])


def test_games_are_the_same_in_mednafen() -> None:
    mednafen_or_skip()
    players = make_player("greedy"), player_called("sloppy")
    conditions = replace(EASY, level=0)
    in_mednafen = replace(conditions, backend="mednafen", rom=antidote())
    assert play_match(*players, 2, in_mednafen) == play_match(*players, 2, conditions)


def test_who_presses_buttons_plays_the_same_everywhere_and_from_either_seat() -> None:
    conditions = Conditions(level=3, twice=True)
    records = play_match(LeftOrDown(), make_player("greedy"), 4, conditions)
    assert records == play_match(
        LeftOrDown(), make_player("greedy"), 4, replace(conditions, backend="embedded", rom=antidote())
    )
    assert {(record.result, record.ending) for record in records} == {("loss", "top_out")}
    assert {record.seat for record in records} == {1, 2}
    for one, other in pairwise(records[:2]):
        assert one.capsules == other.capsules, "both games of a board"


def test_alone_they_do_as_the_engine_does_by_itself() -> None:
    """An oracle that shares nothing with the match but the rules: the engine's own play."""
    bot = make_bot("greedy")
    assert isinstance(bot, SearchBot)
    batch = RulesBatch(20)
    batch.reset([random_state(7 + game) for game in range(20)], 8, MEDIUM, 1)
    batch.skip_intro()
    capsules = batch.play(bot.weights, bot.plies)[:, 0]
    cleared = GameMemory(batch.ram).cleared()[:, 0]
    records = play_match(bot, None, 20, Conditions(level=8, first_seed=7))
    assert [record.capsules for record in records] == capsules.tolist()
    assert [record.cleared for record in records] == cleared.tolist()
    assert [record.seed for record in records] == list(range(7, 27))
    assert all(record.viruses == 0 and record.sent == record.received == 0 for record in records)


def test_it_does_not_matter_how_many_games_are_played_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    players = make_player("greedy"), player_called("sloppy")
    at_once = play_match(*players, 8, EASY)
    told: list[tuple[int, int]] = []
    monkeypatch.setitem(match.LANES, "rules", 3)
    assert play_match(*players, 8, EASY, lambda *counts: told.append(counts)) == at_once
    assert told[-1] == (8, 8)
    assert all(before[0] < after[0] for before, after in pairwise(told))
    assert len({record.frames for record in at_once}) > 4, "the lanes went on to their next games at different times"


# --- placements land where they should ----------------------------------------------------------------------------


class Decision:
    """What the engine saw, and where the capsules went, at one moment of a round."""

    def __init__(self, batch: RulesBatch, waiting: int, placements: list[int]):
        self.waiting = [bool(waiting & 1), bool(waiting & 2)]
        self.placements = placements
        self.fields = GameMemory(batch.ram).fields[0].copy()


def round_on_the_engine(level: int) -> list[Decision]:
    batch = RulesBatch(1)
    batch.reset(random_state(0), level, MEDIUM, 2)
    batch.skip_intro()
    bots, decisions = (make_bot("search"), make_bot("random", 5)), []
    while waiting := int(batch.next_decision()[0]):
        placements = [
            int(bot.choose(batch, np.ones(1, np.bool_), seat)[0]) if waiting >> seat & 1 else -1
            for seat, bot in enumerate(bots)
        ]
        decisions.append(Decision(batch, waiting, placements))
        batch.place([placements])
    return decisions


@pytest.mark.parametrize("backend", ["embedded", "mednafen"])
def test_the_same_placements_land_as_on_the_engine(backend: str) -> None:
    """A whole round for two; both fields are compared whenever a capsule waits."""
    if backend == "mednafen":
        mednafen_or_skip()
    decisions = round_on_the_engine(level=5)
    assert len(decisions) > 25
    games = open_games(GameSettings(players=2, backend=backend, rom=antidote()), 1)
    try:
        assert follow(games, decisions, level=5) == len(decisions)
    finally:
        games.close()


def follow(games: Games, decisions: list[Decision], level: int) -> int:
    """Play them again; how many there were until the round was over."""
    both, one = np.ones((1, 2), np.int32), np.ones(1, np.bool_)
    games.begin(one, np.array([random_state(0)], np.int32), level * both, MEDIUM * both, 2)
    game, planner = games.game, Planner(games)
    pilots = [Pilot(planner, game, seat) for seat in range(2)]
    count = 0
    for _ in range(20_000):
        if game.round_over()[0]:
            assert [int(pilot.missed[0]) for pilot in pilots] == [0, 0]
            return count
        waiting = [bool(at_decision(game, seat)[0]) for seat in range(2)]
        if any(waiting):
            expected = decisions[count]
            assert waiting == expected.waiting
            assert (game.fields[0] == expected.fields).all(), f"decision {count}"
            planner.look(one)
            for pilot in pilots:
                if waiting[pilot.seat]:
                    pilot.send(one, np.array([expected.placements[pilot.seat]]))
            count += 1
        games.step(np.stack([pilot.pads() for pilot in pilots], axis=1))
        for pilot in pilots:
            pilot.advance(np.ones(1, np.int32))
    raise AssertionError("the round has no end")


# --- seats and results --------------------------------------------------------------------------------------------


def test_seats_alternate_and_boards_are_new_or_played_twice() -> None:
    assert fixtures(4, 5, alone=False) == [Fixture(5, 0), Fixture(6, 1), Fixture(7, 0), Fixture(8, 1)]
    assert fixtures(4, 5, alone=False, twice=True) == [Fixture(5, 0), Fixture(5, 1), Fixture(6, 0), Fixture(6, 1)]
    assert fixtures(3, 0, alone=True) == [Fixture(0, 0), Fixture(1, 0), Fixture(2, 0)]


def test_b_sees_the_same_games_from_the_other_side() -> None:
    conditions = Conditions(level=4, twice=True)
    players = make_player("greedy"), player_called("sloppy")
    ours, theirs = play_match(*players, 24, conditions), play_match(*players[::-1], 24, conditions)
    mirrored = {(record.seed, 3 - record.seat): record for record in theirs}
    turned = {"win": "loss", "loss": "win", "draw": "draw"}
    for record in ours:
        other = mirrored[record.seed, record.seat]
        assert record.result == turned[other.result]
        assert (record.sent, record.received, record.frames) == (other.received, other.sent, other.frames)
        assert (record.capsules, record.viruses) == (other.opponent_capsules, other.opponent_viruses)
    assert set(Counter(record.result for record in ours)) == {"win", "loss"}
    assert sum(record.sent for record in ours) > 0
    assert all(record.cleared == (record.viruses == 0) for record in ours)


def test_what_is_ours_and_what_is_theirs() -> None:
    """Against somebody who lets everything fall: it sends nothing and does everything slowly."""
    records = play_match(make_player("greedy"), Presser(), 20, Conditions(level=5))
    assert {(record.result, record.ending) for record in records} == {("win", "top_out")}
    assert {record.seat for record in records} == {1, 2}
    assert sum(record.sent for record in records) > 0
    assert all(record.received == 0 and record.opponent_capsules < record.capsules for record in records)
    assert all(0 < record.viruses < record.opponent_viruses <= 24 for record in records)


def test_two_who_do_the_same_draw() -> None:
    records = play_match(Presser(), Presser(), 2, Conditions(level=5))
    assert [(record.result, record.ending, record.cleared) for record in records] == [("draw", "top_out", False)] * 2
    alone = play_match(Presser(), None, 1, Conditions(level=5))
    assert [(record.result, record.ending, record.cleared) for record in alone] == [("loss", "top_out", False)]


def test_buttons_are_held_for_as_long_as_the_player_says() -> None:
    presser = Presser(0x04)
    play_match(presser, None, 1, Conditions(level=5))
    steps = [(after[0] - before[0]) % 256 for before, after in pairwise(presser.asked)]
    assert set(steps) == {4}
    presser = Presser()
    play_match(presser, make_player("greedy"), 4, Conditions(level=5))
    assert [games for _, games in presser.asked[:2]] == [2, 2], "one question for all games of a seat"


def test_a_clear_counts_before_a_top_out() -> None:
    """Both in the same frame, which takes a poked game."""
    tables = match._Tables(make_player("greedy"), make_player("greedy"), EASY, games=1, threads=1)
    tables.begin([(0, Fixture(0, 0))])
    ram = tables._game.ram
    ram[0, 0x389] = 1  # the second player has failed
    assert _result(tables) == ("win", "top_out")
    ram[0, 0x3A4] = 0  # and cleared
    assert _result(tables) == ("loss", "clear")
    ram[0, 0x324] = 0  # as the first did
    assert _result(tables) == ("draw", "clear")


def _result(tables: match._Tables) -> tuple[str, str]:
    record: GameRecord = tables._record(0)
    return record.result, record.ending


# --- what goes wrong ----------------------------------------------------------------------------------------------


class FailingGames(EmulatorGames):
    """Consoles of which one is lost at some steps, and comes back in a menu."""

    failures: frozenset[int]
    steps = 0

    def step(self, pads: npt.NDArray[np.uint8], frames: int | Ints = 1, lanes: Mask | None = None) -> None:
        super().step(pads, frames, lanes)
        self.steps += 1
        if self.steps in self.failures:
            self.console.power(0)
            self.lost[0] = True


@pytest.mark.parametrize("failures", [{10, 900}, {10, 300, 600, 900}], ids=["now and then", "too often"])
def test_a_game_whose_console_was_lost_is_played_again(failures: set[int], monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(settings: GameSettings, lanes: int, threads: int = 1) -> Games:
        games = open_games(settings, lanes, threads)
        games.__class__ = type("Failing", (FailingGames,), {"failures": frozenset(failures)})
        return games

    player = make_player("greedy")
    expected = play_match(player, None, 2, EASY)
    monkeypatch.setattr(match, "open_games", opened)
    if len(failures) <= match.MOST_LOSSES:
        assert play_match(player, None, 2, ON_THE_CARTRIDGE) == expected
    else:
        with pytest.raises(RunError, match="lost 4 times"):
            play_match(player, None, 2, ON_THE_CARTRIDGE)


def test_what_cannot_be_played_is_said_in_one_line(smb_rom: Path) -> None:
    player = make_player("greedy")
    for conditions, words in (
        (replace(EASY, backend="toaster"), "unknown backend 'toaster'"),
        (replace(EASY, level=21), "level"),
        (replace(EASY, speed="warp"), "unknown speed 'warp'"),
        (replace(ON_THE_CARTRIDGE, rom=smb_rom), "check the ROM"),
    ):
        with pytest.raises(RunError, match=words):
            play_match(player, None, 1, conditions)
