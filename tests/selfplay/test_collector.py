"""Games of self-play: who sits where, what is paid, and that experience is what happened in the games."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch

from mario_rl.environment.drmario.bots import make_bot
from mario_rl.environment.drmario.prospects import PROSPECT_FEATURES, SLOTS
from mario_rl.environment.drmario.tally import VIRUSES
from mario_rl.selfplay.arena import Arena
from mario_rl.selfplay.collector import Collector
from mario_rl.selfplay.config import SelfPlayConfig
from mario_rl.selfplay.dealer import LEARNER, NOBODY, RECENT, Dealer
from mario_rl.selfplay.learner import make_ppo
from mario_rl.selfplay.placement_player import BotOpponent
from mario_rl.selfplay.scorer import ROW, ScorerPolicy

CONFIG = SelfPlayConfig(
    envs=12, rollout=1500, hidden=8, value_hidden=8, level="0-1", solo_level="0-2", solo_share=0.5, self_prob=0.5
)


def collector_of(config: SelfPlayConfig, seed: int = 0) -> Collector:
    torch.manual_seed(seed)
    policy = make_ppo(config).policy
    assert isinstance(policy, ScorerPolicy)
    collector = Collector(config, policy, {1: BotOpponent(make_bot("greedy"))}, np.random.default_rng(seed))
    collector.invited, collector.chances = [1], np.ones(1)
    collector.dealer.begin_versus()
    return collector


def test_the_experience_is_what_happened_in_the_games() -> None:
    collector = collector_of(CONFIG)
    taken = collector.collect()
    assert len(taken.actions) >= CONFIG.rollout
    assert (taken.actions < taken.counts).all()
    kinds = {game.opponent for game in collector.played}
    assert kinds == {NOBODY, LEARNER, 1}
    # An untrained policy loses to greedy, and tops out alone.
    against_greedy = [game.score for game in collector.played if game.opponent == 1]
    assert np.mean(against_greedy) < 0.2
    # What the prospects of the chosen placements promised is what the games have counted.
    rows = taken.seen[:, : SLOTS * ROW].reshape(-1, SLOTS, ROW)[np.arange(len(taken.actions)), taken.actions]
    promised = int(rows[:, PROSPECT_FEATURES.index("viruses_taken")].sum())
    in_ended = sum(game.viruses for game in collector.played)
    running = int(collector.arena.totals[VIRUSES][collector._seats == LEARNER].sum())
    # chance hits by garbage come on top, decisions without an outcome yet are missing
    assert 0.8 * promised - 5 <= in_ended + running <= 1.2 * promised + 5


def test_a_win_is_paid_once_and_a_loss_costs_it() -> None:
    config = dataclasses.replace(CONFIG, virus=0.0, self_prob=0.0, solo_share=0.0, gamma=1.0, gae_lambda=1.0)
    collector = collector_of(config)
    config_rewards: list[float] = []
    end = collector.strands.end

    def remember(lanes: Any, rewards: Any) -> None:
        config_rewards.extend(rewards.tolist())
        end(lanes, rewards)

    collector.strands.end = remember  # type: ignore[method-assign]
    collector.collect()
    wins = sum(game.score == 1 for game in collector.played)
    losses = sum(game.score == 0 for game in collector.played)
    assert losses > 10
    assert sorted(config_rewards) == sorted(
        [1.0] * wins + [-1.0] * losses + [0.0] * (len(collector.played) - wins - losses)
    )


def test_both_seats_of_a_game_against_itself_learn_and_seats_are_swapped_evenly() -> None:
    collector = collector_of(dataclasses.replace(CONFIG, solo_share=0.0, self_prob=0.0, envs=40))
    collector.collect()
    seats = collector._seats
    assert ((seats == LEARNER).sum(axis=1) == 1).all()
    assert abs(int((seats[:, 0] == LEARNER).sum()) - 20) <= 1
    both = collector_of(dataclasses.replace(CONFIG, solo_share=0.0, self_prob=1.0))
    both.collect()
    assert (both._seats == LEARNER).all()
    scores = [game.score for game in both.played]
    assert sum(scores) == len(scores) / 2  # what one seat wins the other one loses


def test_an_opponent_is_asked_once_a_step_for_all_its_games() -> None:
    collector = collector_of(dataclasses.replace(CONFIG, solo_share=0.0, self_prob=0.0, envs=40))
    asked: list[int] = []
    decide = collector._opponents[1].decide

    def remember(games: Any, numbers: Any, seats: Any) -> Any:
        asked.append(len(numbers))
        return decide(games, numbers, seats)

    collector._opponents[1].decide = remember  # type: ignore[method-assign]
    collector._deal(np.ones(40, np.bool_))
    for step in range(1, 20):
        collector.step()
        assert len(asked) <= step
    assert max(asked) > 20


def test_the_same_seed_plays_the_same_and_a_saved_collector_goes_on_exactly() -> None:
    one, other = collector_of(CONFIG), collector_of(CONFIG)
    torch.manual_seed(5)
    first = one.collect()
    torch.manual_seed(5)
    again = other.collect()
    for own, its in zip(first, again, strict=True):
        np.testing.assert_array_equal(own, its)

    third = collector_of(CONFIG, seed=9)
    third._policy.load_state_dict(one._policy.state_dict())
    third.load_state_dict(one.state_dict())
    third.dealer._random.bit_generator.state = one.dealer._random.bit_generator.state
    torch.manual_seed(6)
    goes_on = one.collect()
    torch.manual_seed(6)
    resumed = third.collect()
    for own, its in zip(goes_on, resumed, strict=True):
        np.testing.assert_array_equal(own, its)


def test_a_round_that_never_ends_is_broken_off() -> None:
    arena = Arena(3)
    everyone = np.ones(3, np.bool_)
    ones = np.ones(3, np.int32)
    arena.begin(everyone, 100 * ones, ones, ones, ones)
    assert (arena.waiting == 1).all()
    arena.break_off(np.array([True, False, False]))
    games, seats = arena.askers()
    assert games.tolist() == [1, 2]
    assert not seats.any()


@pytest.mark.parametrize("clears", [True, False])
def test_the_curriculum_rises_with_success_only(clears: bool) -> None:
    dealer = Dealer(dataclasses.replace(CONFIG, solo_level="0-8"), np.random.default_rng(0))
    assert dealer.cap == 4
    deal = dealer.deal(200, [], np.zeros(0))
    assert deal.levels.max() <= 4
    assert (deal.players == 1).all()
    for _ in range(RECENT):
        dealer.solo_ended(0, not clears)  # easy levels say nothing
        dealer.solo_ended(4, clears)
    assert dealer.cap == (6 if clears else 4)
    for _ in range(3 * RECENT):
        dealer.solo_ended(8, clears)
    assert dealer.versus == clears
    if clears:
        mixed = dealer.deal(400, [3], np.ones(1))
        assert 120 < (mixed.players == 1).sum() < 280
        assert set(np.unique(mixed.seats).tolist()) == {NOBODY, LEARNER, 3}
        assert mixed.levels[mixed.players == 2].max() <= 1
