"""Learning from the teacher."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.selfplay.frames.config import FramesConfig
from mario_rl.selfplay.frames.imitation import Imitation, Lessons
from mario_rl.selfplay.frames.network import make_network
from mario_rl.selfplay.frames.observation import look
from tests.selfplay.frames.conftest import games_played_by_teacher, teacher_of


def some_lessons(count: int) -> Lessons:
    lessons = Lessons(count)
    env = games_played_by_teacher(64, 20)
    teacher = teacher_of(env)
    while lessons.count < count:
        lesson = teacher.teach()
        kept = lesson.targets >= 0
        lessons.add(env.lanes.game.ram[kept], lesson.actions[kept], lesson.values[kept])
        env.step(lesson.actions)
    return lessons


def test_a_remembered_state_is_seen_as_it_was() -> None:
    env = games_played_by_teacher(16, 33)
    lesson = teacher_of(env).teach()
    kept = lesson.targets >= 0
    lessons = Lessons(16)
    lessons.add(env.lanes.game.ram[kept], lesson.actions[kept], lesson.values[kept])
    seen, actions, values = lessons.batch(np.arange(int(kept.sum())))
    then = look(GameMemory(env.lanes.game.ram[kept]), 0)
    for name, array in then.items():
        assert np.array_equal(seen[name].numpy(), array)
    assert actions.tolist() == lesson.actions[kept].tolist()
    assert values.argmax(1).tolist() == lesson.targets[kept].tolist()
    assert (values.amax(1) == 0).all()


@pytest.mark.parametrize(("kind", "lr", "updates"), [("landing", 5e-3, 60), ("cnn", 2e-3, 120)])
def test_overfits_a_few_hundred_states(kind: str, lr: float, updates: int) -> None:
    lessons = some_lessons(200)
    seen, actions, values = lessons.batch(np.arange(200))
    network = make_network(kind, 64, 8.0)
    optimiser = torch.optim.Adam(network.parameters(), lr=lr)
    for _ in range(updates):
        loss = network(seen).loss(actions, values)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        agreed = (network(seen).decided() == actions).float().mean()
    assert agreed > 0.9


def test_rounds_make_it_play_more_like_the_teacher() -> None:
    config = FramesConfig(imitation_rounds=6, imitation_lanes=16, imitation_batches=8, imitation_batch=64, level="0-3")
    imitation = Imitation(make_network("landing", 64, 8.0), config, np.random.default_rng(0))
    found = [imitation.round() for _ in range(6)]
    assert found[-1].loss < found[0].loss - 1
    assert found[-1].agreement > found[1].agreement
    assert len(imitation.lessons) > 200
