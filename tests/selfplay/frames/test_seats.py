"""Who sits where in games for two, and what is learned from."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from mario_rl.selfplay.frames.config import FramesConfig
from mario_rl.selfplay.frames.network import make_network
from mario_rl.selfplay.frames.observation import SPACE
from mario_rl.selfplay.frames.opponents import CURRENT, Opponents, Table
from mario_rl.selfplay.frames.reinforcement import Reinforcement
from mario_rl.selfplay.frames.seats_buffer import SeatsBuffer
from mario_rl.selfplay.opponent_pool import Behaviour


def config(**changes: Any) -> FramesConfig:
    small = {"imitation_rounds": 0, "width": 8, "envs": 8, "n_steps": 16, "batch_size": 32, "epochs": 1}
    return FramesConfig(**(small | {"solo_steps": 0, "pool_gate": 0.0} | changes))


def opponents_with_a_past(settings: FramesConfig) -> Opponents:
    found = Opponents(make_network("landing", 8, 8.0), settings, np.random.default_rng(0))
    found.consider(100, Behaviour())
    return found


def test_guests_sit_in_both_seats_alike_and_as_often_as_they_should() -> None:
    table = Table(1, opponents_with_a_past(config(self_prob=0.75)))
    guests = []
    for _ in range(2_000):
        table.deal(0)
        guests.append(table.seats()[0].copy())
    sat = np.array(guests).sum(0)
    assert abs(int(sat[0]) - int(sat[1])) <= 1
    assert 430 < sat.sum() < 570
    assert not np.array(guests).all(1).any()


def test_a_guest_is_asked_once_for_all_its_seats() -> None:
    opponents = opponents_with_a_past(config())
    table = Table(3, opponents)
    guest = next(iter(opponents.numbers - {CURRENT}))
    table.numbers[:] = [[guest, CURRENT], [CURRENT, guest], [CURRENT, CURRENT]]
    asked: list[int] = []
    player = opponents.player(guest)
    decide = player.decide
    player.decide = lambda seen: asked.append(len(seen["planes"])) or decide(seen)  # type: ignore[func-returns-value, method-assign]
    seen = {name: np.stack([space.sample() for _ in range(6)]) for name, space in SPACE.spaces.items()}
    assert len(table.act(seen)) == 2
    assert asked == [2]
    again = Table(3, opponents)
    again.load_state_dict(table.state_dict())
    assert np.array_equal(again.numbers, table.numbers) and again.next_seat == table.next_seat


def test_the_buffer_gives_what_was_learned_from_and_nothing_else() -> None:
    buffer = SeatsBuffer(5, SPACE, make_action_space(), n_envs=3)
    seen = {name: np.zeros((3, *space.shape), np.float32) for name, space in SPACE.spaces.items()}
    for step in range(5):
        buffer.learned[step] = [True, step % 2 == 0, False]
        rewards = 10.0 * step + np.arange(3)
        buffer.add(seen, np.arange(3), rewards, np.zeros(3), torch.from_numpy(rewards), torch.zeros(3))
    buffer.compute_returns_and_advantage(torch.zeros(3), np.zeros(3))
    for _ in range(2):  # epochs
        batches = list(buffer.get(3))
        assert [len(batch.actions) for batch in batches] == [3, 3, 2]
        values = sorted(torch.cat([batch.old_values for batch in batches]).tolist())
        assert values == [0, 1, 10, 20, 21, 30, 40, 41]
    assert len(buffer.values.flatten()) == 8  # what SB3 computes the explained variance of
    buffer.reset()
    assert buffer.learned.all() and buffer.values.shape == (5, 3)


def make_action_space() -> Any:
    from gymnasium import spaces

    return spaces.Discrete(12)


def test_both_seats_are_learned_from_unless_a_guest_sits_there() -> None:
    for self_prob, share in ((1.0, 1.0), (0.0, 0.5)):
        stage = Reinforcement(make_network("landing", 8, 8.0), config(self_prob=self_prob), np.random.default_rng(0))
        assert stage.rollout(lambda: False) is not None
        assert stage.versus
        learned = stage.ppo.rollout_buffer.learned  # type: ignore[attr-defined]
        assert learned[:, :2].all()  # two seats alone
        for_two = learned[:, 2:].reshape(16, 2, 3)
        assert for_two.mean() == share
        assert (for_two.sum(1) >= 1).all()


def test_a_cnn_learns_by_ppo_too() -> None:
    torch.manual_seed(0)
    stage = Reinforcement(make_network("cnn", 8, 8.0), config(network="cnn"), np.random.default_rng(0))
    before = [weights.clone() for weights in stage.network.parameters()]
    figures = stage.rollout(lambda: False)
    assert figures is not None and np.isfinite(list(figures.values())).all()
    assert all(not torch.equal(old, new) for old, new in zip(before, stage.network.parameters(), strict=True))
