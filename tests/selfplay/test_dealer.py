"""Which rounds are dealt: levels along the curriculum, and seats."""

from __future__ import annotations

import numpy as np

from mario_rl.selfplay.config import SelfPlayConfig
from mario_rl.selfplay.dealer import LEARNER, NOBODY, Dealer

NONE = np.zeros(0)


def dealer(**settings: object) -> Dealer:
    return Dealer(SelfPlayConfig(**settings), np.random.default_rng(0))  # type: ignore[arg-type]


def test_the_curriculum_begins_with_all_easy_levels_alike() -> None:
    deal = dealer().deal(5_000, [], NONE)
    assert (deal.seats == [LEARNER, NOBODY]).all()
    counts = np.bincount(deal.levels, minlength=21)
    assert (counts[:5] > 850).all() and counts[5:].sum() == 0


def test_half_of_the_games_for_one_are_at_the_highest_levels_once_there_are_games_for_two() -> None:
    for share in (0.5, 0.0, 1.0):
        found = dealer(solo_share=0.5, solo_hard=share, level="3")
        found.begin_versus()
        deal = found.deal(20_000, [], NONE)
        alone = deal.players == 1
        assert abs(alone.mean() - 0.5) < 0.02
        assert (deal.levels[~alone] == 3).all()
        counts = np.bincount(deal.levels[alone], minlength=21) / alone.sum()
        assert abs(counts[18:].sum() - (share + (1 - share) * 3 / 21)) < 0.02
        assert (abs(counts[:18] - (1 - share) / 21) < 0.01).all()


def test_one_level_is_enough() -> None:
    found = dealer(solo_level="7")
    assert set(found.deal(10, [], NONE).levels.tolist()) == {7}
    found.begin_versus()
    deal = found.deal(200, [], NONE)
    assert set(deal.levels[deal.players == 1].tolist()) == {7}
