"""A trained policy as a player: the best placement, and draws in long games that are always the same."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mario_rl.environment.drmario import memory
from mario_rl.environment.drmario.bots import make_bot
from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.environment.drmario.rules import RulesBatch
from mario_rl.selfplay.placement_player import LONG_GAME, BotOpponent, PlacementPlayer
from mario_rl.selfplay.players import make_player
from mario_rl.selfplay.scorer import PlacementScorer

GAMES = 32


@pytest.fixture
def games() -> RulesBatch:
    games = RulesBatch(GAMES)
    games.reset(np.arange(GAMES) * 500 + 2, np.arange(GAMES) % 15, 1, 2)
    games.skip_intro()
    games.next_decision()
    return games


@pytest.fixture
def player() -> PlacementPlayer:
    torch.manual_seed(1)
    return PlacementPlayer(PlacementScorer(hidden=16), "untrained")


def test_it_takes_what_it_rates_best_in_either_seat(games: RulesBatch, player: PlacementPlayer) -> None:
    lanes = np.arange(GAMES) % 3 == 0
    for seat in (0, 1):
        chosen = player.choose(games, lanes, seat)
        assert (chosen[~lanes] == -1).all()
        for lane in np.flatnonzero(lanes).tolist():
            ratings = player.ratings(games, lane, seat)
            assert chosen[lane] == ratings[0].placement
            assert [rating.value for rating in ratings] == sorted((rating.value for rating in ratings), reverse=True)
            assert sum(np.exp(rating.value) for rating in ratings) == pytest.approx(1, abs=1e-4)
    assert (player.choose(games, np.zeros(GAMES, np.bool_), 0) == -1).all()


def test_a_game_is_played_the_same_way_however_many_others_there_are() -> None:
    """With single precision two of these decisions depend on it."""
    champion, many, single = make_player("champion"), RulesBatch(500), RulesBatch(1)
    assert isinstance(champion, PlacementPlayer)
    many.reset(np.arange(many.n) * 60 + 2, 0, 1, 1)  # nearly empty bottles: many placements are as good as another
    many.skip_intro()
    many.next_decision()
    everyone, alone = np.ones(many.n, np.bool_), np.ones(1, np.bool_)
    for _ in range(3):
        together = champion.choose(many, everyone, 0)
        for game in range(many.n):
            single.load(0, many.save(game))
            assert champion.choose(single, alone, 0)[0] == together[game]
        many.place(together)


def test_in_a_long_game_it_draws_and_the_same_game_gives_the_same_draw(
    games: RulesBatch, player: PlacementPlayer
) -> None:
    everyone = np.ones(GAMES, np.bool_)
    best = player.choose(games, everyone, 0)
    blocks = GameMemory(games.ram).blocks
    blocks[:, 0, memory.CAPSULES_HUNDREDS] = LONG_GAME // 100
    blocks[:, 0, memory.CAPSULES] = 0x01
    drawn = player.choose(games, everyone, 0)
    assert (drawn == player.choose(games, everyone, 0)).all()
    assert 0 < (drawn == best).sum() + 1 < GAMES  # an untrained policy is nearly indifferent
    assert (player.choose(games, everyone, 1) == player.choose(games, everyone, 1)).all()
    blocks[:, 0, memory.CAPSULES] = 0x02
    assert (player.choose(games, everyone, 0) != drawn).any()


def test_a_bot_as_an_opponent_chooses_as_it_does_alone(games: RulesBatch) -> None:
    bot = make_bot("greedy")
    numbers = np.array([0, 0, 3, 9], np.int32)
    seats = np.array([0, 1, 1, 0], np.int32)
    everyone = np.ones(GAMES, np.bool_)
    alone = [bot.choose(games, everyone, seat) for seat in (0, 1)]
    together = BotOpponent(bot).decide(games, numbers, seats)
    assert together.tolist() == [alone[seat][number] for number, seat in zip(numbers, seats, strict=True)]


def test_the_champion_comes_with_the_package(games: RulesBatch) -> None:
    champion = make_player("champion")
    assert isinstance(champion, PlacementPlayer)
    assert champion.card["steps"] > 1_000_000
    games.reset(np.arange(GAMES) * 700 + 2, 5, 1, 1)
    games.skip_intro()
    waiting = games.next_decision()
    for _ in range(120):
        if not waiting.any():
            break
        asked = waiting > 0
        waiting = games.place(np.where(asked, champion.choose(games, asked, 0), -1), asked)
    assert GameMemory(games.ram).cleared()[:, 0].mean() > 0.9
