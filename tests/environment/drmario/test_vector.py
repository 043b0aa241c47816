"""The vector environments of Dr. Mario, beyond the contract (tests/contracts/test_vector_env.py)."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import mario_rl.environment
from mario_rl.environment.drmario.vector import DrMarioPlacementVectorEnv, DrMarioVectorEnv
from mario_rl.environment.factory import make_vector_env
from tests.contracts.vector_play import play
from tests.snapshots.lives import assert_same

LANES = 3
BUTTONS: dict[str, Any] = {"level": [0, 9, 20], "speed": ["med", "hi"], "max_frames": 700, "frame_skip": 7}


def test_levels_to_draw_from_are_part_of_a_state() -> None:
    original, elsewhere = DrMarioVectorEnv(LANES, **BUTTONS), DrMarioVectorEnv(LANES, **BUTTONS)
    original.reset(seed=5)
    original.draw_from([4, 5], "hi")
    elsewhere.load_state_dict(original.state_dict())
    _, info = elsewhere.reset()
    assert set(info["level"].tolist()) <= {4, 5} and info["speed"].tolist() == [2] * LANES


def test_scripts_under_way_are_part_of_a_state() -> None:
    """Saved after every step, while the opponent's capsules are somewhere on their way."""
    settings = {"level": 9, "speed": "low", "opponent": "greedy"}
    original, elsewhere = DrMarioPlacementVectorEnv(LANES, **settings), DrMarioPlacementVectorEnv(LANES, **settings)
    original.reset(seed=0)
    elsewhere.reset(seed=9)
    list(play(elsewhere, 3, 4))
    for number in range(8):
        state = original.state_dict()
        elsewhere.load_state_dict(state)
        assert_same(list(play(original, number, 1)), list(play(elsewhere, number, 1)))
        list(play(elsewhere, 50 + number, 2))


@pytest.mark.parametrize(
    ("lanes", "other", "says"),
    [
        (2, {}, "lanes 2, ours is 3"),
        (3, {"frame_skip": 2}, "frame_skip 2, ours is 7"),
        (3, {"observation": "flat"}, "observation flat, ours is planes"),
        (3, {"players": 2}, "seats 2, ours is 1"),
        (3, {"rewards": "scaled"}, "weights"),
        (3, {"backend": "embedded"}, "backend embedded"),
    ],
)
def test_a_state_of_other_settings_is_refused_and_changes_nothing(lanes: int, other: dict[str, Any], says: str) -> None:
    env = DrMarioVectorEnv(LANES, **BUTTONS)
    env.reset(seed=1)
    before = env.state_dict()
    stranger = DrMarioVectorEnv(lanes, **BUTTONS | other)
    stranger.reset(seed=2)
    with pytest.raises(ValueError, match=says):
        env.load_state_dict(stranger.state_dict())
    assert env.state_dict() == before


def test_make_vec_and_the_factory_know_both() -> None:
    for game, name, kind in (
        ("drmario", mario_rl.environment.DRMARIO, DrMarioVectorEnv),
        ("drmario-placement", mario_rl.environment.DRMARIO_PLACEMENT, DrMarioPlacementVectorEnv),
    ):
        env = gymnasium.make_vec(name, num_envs=2, vectorization_mode="vector_entry_point", level=2)
        assert isinstance(env.unwrapped, kind)
        assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
        seen, info = env.reset(seed=0)
        assert env.observation_space.contains(seen) and info["viruses"].tolist() == [12, 12]
        assert isinstance(make_vector_env(game, 2, threads=2, level=2).unwrapped, kind)


def test_every_lane_has_its_picture() -> None:
    env = DrMarioVectorEnv(LANES, **BUTTONS, render_mode="rgb_array")
    env.reset(seed=0)
    pictures = env.render()
    assert pictures is not None and [picture.shape for picture in pictures] == [(240, 256, 3)] * LANES


def test_a_policy_plays_all_other_seats_at_once() -> None:
    asked = []

    def policy(observations: np.ndarray) -> np.ndarray:
        asked.append(observations.shape)
        return np.array([1, 2, 3])

    env = DrMarioVectorEnv(LANES, opponent=policy)
    env.reset(seed=0)
    *_, infos = env.step(np.zeros(LANES, np.int64))
    assert infos["pad_opponent"].tolist() == [2, 1, 4] and asked == [(LANES, 12, 16, 8)]
