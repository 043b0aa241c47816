"""The VecEnv against the plain vector environment, and against what SB3 demands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from stable_baselines3.common.vec_env.util import obs_space_info

from mario_rl.environment.drmario.vector import DrMarioVectorEnv
from mario_rl.selfplay.frames.observation import SPACE
from mario_rl.selfplay.frames.vec_env import FramesVecEnv, PlayedRound

SETTINGS: dict[str, Any] = {"level": 0, "rewards": "scaled", "max_frames": 600}


def test_plays_exactly_like_the_vector_environment() -> None:
    """Observations, rewards, ends, and what was seen last, through top-outs and truncations."""
    random = np.random.default_rng(0)
    plain = DrMarioVectorEnv(6, observation="planes", features=True, **SETTINGS)
    expected, _ = plain.reset(seed=7)
    rounds: list[PlayedRound] = []
    env = FramesVecEnv([DrMarioVectorEnv(2, **SETTINGS), DrMarioVectorEnv(4, **SETTINGS)], rounds.append)
    env.seed(7)
    seen = env.reset()
    ends = {False: 0, True: 0}
    for _ in range(500):
        for name, values in expected.items():
            assert np.array_equal(seen[name], values)
        actions = np.where(random.random(6) < 0.5, 3, random.integers(12, size=6))
        expected, rewards, terminated, truncated, told = plain.step(actions)
        seen, our_rewards, dones, infos = env.step(actions)
        assert np.array_equal(our_rewards, rewards)
        assert np.array_equal(dones, terminated | truncated)
        for lane, info in enumerate(infos):
            if not dones[lane]:
                assert info == {}
                continue
            last = told["final_obs"][lane]
            assert all(np.array_equal(info["terminal_observation"][name], values) for name, values in last.items())
            assert info["TimeLimit.truncated"] == truncated[lane]
            assert SPACE.contains(info["terminal_observation"])
            ends[bool(truncated[lane])] += 1
    assert min(ends.values()) > 3
    assert len(rounds) == sum(ends.values())
    assert {played.result for played in rounds} == {"", "top_out"}
    assert {played.part for played in rounds} == {0, 1}


def test_the_hand_is_that_of_the_last_step() -> None:
    env = FramesVecEnv([DrMarioVectorEnv(3, **SETTINGS)], lambda played: None)
    env.seed(1)
    assert not env.reset()["hand"][:, :5].any()
    seen, _, _, _ = env.step(np.array([1, 9, 10]))  # left, right + B, down + left
    assert seen["hand"][:, :5].tolist() == [[0, 0, 0, 1, 0], [0, 1, 0, 0, 1], [0, 0, 1, 1, 0]]


def test_is_what_sb3_takes() -> None:
    env = FramesVecEnv([DrMarioVectorEnv(2, **SETTINGS)], lambda played: None)
    assert isinstance(env.observation_space, spaces.Dict) and isinstance(env.action_space, spaces.Discrete)
    keys, shapes, kinds = obs_space_info(env.observation_space)
    seen = env.reset()
    assert set(seen) == set(keys)
    assert all(seen[key].shape == (2, *shapes[key]) and seen[key].dtype == kinds[key] for key in keys)
    seen, rewards, dones, infos = env.step(np.array([0, 3]))
    assert (rewards.shape, rewards.dtype, dones.shape, dones.dtype) == ((2,), np.float32, (2,), np.bool_)
    assert len(infos) == 2
    assert env.get_attr("num_envs") == [2, 2]
    assert env.env_is_wrapped(object) == [False, False]
    with pytest.raises(AttributeError):
        env.set_attr("level", 3)
    env.close()
