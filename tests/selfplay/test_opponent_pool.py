"""Who is in the pool and who is drawn."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mario_rl.selfplay.opponent_pool import LEAST_GAMES, Behaviour, Member, OpponentPool

WEIGHTS = {"w": torch.zeros(2)}


def beat(pool: OpponentPool, number: int, score: float = 1.0, games: int = LEAST_GAMES) -> None:
    for _ in range(games):
        pool.played(number, score)


def pool_of(strategy: str, selves: int, size: int = 10, bots: tuple[str, ...] = ()) -> OpponentPool:
    """With so many past selves that the learner wins half of its games against, and no candidate."""
    pool = OpponentPool(size, strategy, 0.6, list(bots))
    for number in range(selves):
        pool.consider(WEIGHTS, 1000 * (number + 1), Behaviour(attack=10.0 * number))
        join_candidate(pool)
    return pool


def join_candidate(pool: OpponentPool, score: float = 0.5) -> tuple[Member, Member | None]:
    """The candidate is beaten and joins; then the learner scores so much against it. The next one is sent off."""
    assert pool.candidate is not None
    beat(pool, pool.candidate.number)
    joined, gone = pool.consider(WEIGHTS, 10**6, Behaviour())
    assert joined is not None
    joined.score, joined.games = score, 0
    pool.candidate = None
    return joined, gone


def drawn(pool: OpponentPool, times: int = 3000) -> dict[str, float]:
    random = np.random.default_rng(0)
    names = [pool.of(pool.invite(1, random)[0][0]).name for _ in range(times)]
    return {name: names.count(name) / times for name in names}


def test_a_candidate_keeps_its_own_copy_of_the_weights() -> None:
    pool, weights = pool_of("uniform", 0), {"w": torch.zeros(2)}
    pool.consider(weights, 5, Behaviour())
    weights["w"] += 1
    assert pool.candidate is not None
    assert pool.candidate.weights is not None
    assert pool.candidate.weights["w"].tolist() == [0, 0]


def test_the_strategies_draw_as_they_say() -> None:
    assert drawn(pool_of("latest", 3, bots=("greedy",))) == {"step 3,000": 1.0}
    for strategy in ("uniform", "diverse"):
        assert all(abs(chance - 0.25) < 0.04 for chance in drawn(pool_of(strategy, 3, bots=("greedy",))).values())
    pool = pool_of("prioritised", 3)
    for _ in range(300):
        pool.played(pool.members[0].number, 0.0)  # it always loses to this one
        pool.played(pool.members[1].number, 1.0)
        pool.played(pool.members[2].number, 1.0)
    chances = drawn(pool)
    # the newest (or the candidate) is played as often as the hardest, so that the gate can open
    assert abs(chances["step 1,000"] - chances["step 3,000"]) < 0.05
    assert 0.01 < chances["step 2,000"] < 0.06


def test_invited_members_are_different_and_their_chances_add_up() -> None:
    pool = pool_of("prioritised", 6)
    numbers, chances = pool.invite(4, np.random.default_rng(1))
    assert len(set(numbers)) == 4
    assert chances.sum() == pytest.approx(1)
    assert len(pool.invite(50, np.random.default_rng(1))[0]) == 6
    assert pool_of("latest", 0).invite(3, np.random.default_rng(1))[0] == []


def test_a_candidate_joins_when_it_is_beaten_clearly() -> None:
    pool = pool_of("uniform", 0, bots=("greedy",))
    assert pool.consider(WEIGHTS, 10, Behaviour()) == (None, None)
    candidate = pool.candidate
    assert candidate is not None
    beat(pool, candidate.number, games=LEAST_GAMES - 1)
    assert pool.consider(WEIGHTS, 20, Behaviour()) == (None, None)  # too few games to tell
    assert pool.candidate is candidate
    pool.played(candidate.number, 1.0)
    assert pool.consider(WEIGHTS, 30, Behaviour()) == (candidate, None)
    assert pool.selves == [candidate]
    assert pool.candidate is not None
    assert pool.candidate.steps == 30
    beat(pool, pool.candidate.number, score=0.5, games=500)
    assert pool.consider(WEIGHTS, 40, Behaviour()) == (None, None)
    pool.played(999, 1.0)  # somebody who has left


def test_the_pool_lets_go_whom_it_needs_least() -> None:
    beaten = pool_of("prioritised", 3, size=3, bots=("greedy",))
    beat(beaten, beaten.selves[1].number)
    beaten.consider(WEIGHTS, 4000, Behaviour())
    _, gone = join_candidate(beaten)
    assert gone is not None
    assert gone.steps == 2000
    assert beaten.members[0].name == "greedy"  # bots never leave

    alike = pool_of("diverse", 3, size=3)
    alike.selves[1].behaviour = Behaviour(attack=1.0)  # plays as the first one does
    alike.consider(WEIGHTS, 4000, Behaviour(attack=50.0))
    _, gone = join_candidate(alike)
    assert gone is not None
    assert gone.steps in (1000, 2000)
    assert {member.steps for member in alike.selves} >= {3000, 4000}


def test_state_goes_round() -> None:
    pool = pool_of("diverse", 4, bots=("greedy",))
    pool.consider(WEIGHTS, 7, Behaviour(height=3.0))
    pool.played(2, 1.0)
    other = OpponentPool(10, "diverse", 0.6, [])
    other.load_state_dict(pool.state_dict())
    assert [vars(member) | {"weights": 0} for member in other.everyone] == [
        vars(member) | {"weights": 0} for member in pool.everyone
    ]
    for one in (pool, other):
        assert one.candidate is not None
        beat(one, one.candidate.number)
        one.consider(WEIGHTS, 9, Behaviour())
    assert other.candidate is not None
    assert pool.candidate is not None
    assert other.candidate.number == pool.candidate.number
