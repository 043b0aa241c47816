"""The teacher plays through the same 12 buttons as the student, and knows what to do wherever the student is."""

from __future__ import annotations

import numpy as np
import pytest

from mario_rl.emulators.base import DOWN, LEFT, RIGHT, A, B
from mario_rl.environment.drmario.buttons import DISCRETE
from mario_rl.environment.drmario.vector import DrMarioVectorEnv
from mario_rl.runs.directory import RunError
from mario_rl.selfplay.frames.teacher import Teacher, steer
from tests.selfplay.frames.conftest import teacher_of


@pytest.mark.parametrize(("level", "worst"), [(0, 1.0), (5, 0.9)])
def test_clears_bottles_by_pressing_buttons(level: int, worst: float) -> None:
    env = DrMarioVectorEnv(20, level=level)
    env.reset(seed=5)
    teacher = teacher_of(env)
    results: dict[int, str] = {}
    while len(results) < 20:
        _, _, _, _, infos = env.step(teacher.teach().actions)
        if "final_info" in infos:
            for lane in np.flatnonzero(infos["_final_info"]).tolist():
                results.setdefault(lane, str(infos["final_info"]["result"][lane]))
    assert list(results.values()).count("win") >= worst * 20


def test_capsules_come_to_rest_where_it_wanted_them() -> None:
    env = DrMarioVectorEnv(16, level=3)
    env.reset(seed=9)
    teacher = teacher_of(env)
    game = env.lanes.game
    wanted = np.full(16, -1)
    met = missed = 0
    for _ in range(400):
        lesson = teacher.teach()
        locks = env.lanes.rounds.tally.locks[:, 0].copy()
        wanted = np.where(lesson.falling, lesson.targets, wanted)
        env.step(lesson.actions)
        for lane in np.flatnonzero(env.lanes.rounds.tally.locks[:, 0] == locks + 1).tolist():
            there = int(game.rotation[lane, 0]) * 8 + int(game.x[lane, 0])
            met, missed = met + (there == wanted[lane]), missed + (there != wanted[lane])
    assert met > 200
    assert missed <= 0.02 * met


def test_teaches_in_states_it_would_not_have_got_into() -> None:
    """Random buttons lead anywhere; it still says something sensible, and in the second seat, too."""
    random = np.random.default_rng(3)
    for settings in ({}, {"players": 2, "player_id": 2}):
        env = DrMarioVectorEnv(32, level=range(21), **settings)
        env.reset(seed=4)
        teacher = teacher_of(env)
        spoken = 0
        for _ in range(150):
            lesson = teacher.teach()
            has_target = lesson.targets >= 0
            assert not (has_target & ~lesson.falling).any()
            assert np.isfinite(lesson.values[has_target].max(1)).all()
            spoken += int(has_target.sum())
            env.step(random.integers(12, size=32))
        assert spoken > 500


def test_steering_lets_go_before_it_presses_again() -> None:
    def pad(way: int, rotation: int, wanted: int, held: int) -> int:
        held_now = np.array([held], np.uint8)
        return int(steer(np.array([way]), np.array([rotation]), np.array([wanted]), held_now)[0])

    assert pad(-2, 0, 0, 0) == LEFT
    assert pad(-2, 0, 0, LEFT) == 0
    assert pad(3, 0, 1, 0) == RIGHT | B
    assert pad(3, 0, 3, RIGHT) == A
    assert pad(0, 3, 2, A) == 0
    assert pad(0, 2, 2, A) == DOWN
    assert pad(-1, 1, 0, 0) == A  # with LEFT, too, it would go two columns
    allowed = {pad(way, now, then, 0) for way in range(-7, 8) for now in range(4) for then in range(4)}
    assert allowed <= set(DISCRETE)


def test_an_unknown_teacher() -> None:
    env = DrMarioVectorEnv(1)
    with pytest.raises(RunError, match="use greedy or search"):
        Teacher(env.lanes.games.batch, 0, "random")  # type: ignore[attr-defined]
