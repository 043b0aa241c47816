"""The VecEnv against the plain environments, and against what SB3 demands."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from gymnasium import spaces
from stable_baselines3.common.vec_env.util import obs_space_info

from mario_rl.environment.drmario.memory import Mask
from mario_rl.environment.drmario.vector import DrMarioVectorEnv
from mario_rl.environment.drmario.versus import AGENTS, parallel_env
from mario_rl.selfplay.frames.observation import SPACE, Seen
from mario_rl.selfplay.frames.vec_env import FramesVecEnv, Part, PlayedRound

SETTINGS: dict[str, Any] = {"level": 0, "rewards": "scaled", "max_frames": 600}


def part(games: int, **settings: Any) -> Part:
    return Part(DrMarioVectorEnv(games, **SETTINGS, **settings))


def ignored(part: int, game: int, rounds: list[PlayedRound]) -> None:
    pass


def test_plays_exactly_like_the_vector_environment() -> None:
    """Observations, rewards, ends, and what was seen last, through top-outs and truncations."""
    random = np.random.default_rng(0)
    plain = DrMarioVectorEnv(6, observation="planes", features=True, **SETTINGS)
    expected, _ = plain.reset(seed=7)
    rounds: list[tuple[int, PlayedRound]] = []
    env = FramesVecEnv([part(2), part(4)], lambda part, game, played: rounds.append((part, played[0])))
    env.seed(7)
    seen = env.reset()
    ends = {False: 0, True: 0}
    for _ in range(500):
        for name, values in expected.items():
            assert np.array_equal(seen[name], values)
        actions = np.where(random.random(6) < 0.5, 3, random.integers(12, size=6))
        expected, rewards, terminated, truncated, told = plain.step(actions)
        seen, our_rewards, dones, infos = env.step(actions)
        assert env.learned.all()
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
    assert {played.result for _, played in rounds} == {"", "top_out"}
    assert {number for number, _ in rounds} == {0, 1}


def test_both_seats_of_a_game_for_two_are_paid_as_in_the_environment_for_two_agents() -> None:
    random = np.random.default_rng(1)
    games = 3
    env = FramesVecEnv([part(games, players=2)], ignored)
    env.seed(5)
    seen = env.reset()
    assert env.num_envs == 2 * games
    plain = [parallel_env(observation="planes", features=True, **SETTINGS) for _ in range(games)]
    expected = [one.reset(seed=5 + number)[0] for number, one in enumerate(plain)]
    rounds = 0
    for _ in range(400):
        for game in range(games):
            for seat, agent in enumerate(AGENTS):
                for name, values in expected[game][agent].items():
                    assert np.array_equal(seen[name][seat * games + game], values)
        actions = np.where(random.random(2 * games) < 0.6, 3, random.integers(12, size=2 * games))
        seen, rewards, dones, infos = env.step(actions)
        for game, one in enumerate(plain):
            chosen = {agent: actions[seat * games + game] for seat, agent in enumerate(AGENTS)}
            expected[game], paid, terminated, truncated, _ = one.step(chosen)
            over = terminated[AGENTS[0]] or truncated[AGENTS[0]]
            for seat, agent in enumerate(AGENTS):
                row = seat * games + game
                assert rewards[row] == pytest.approx(paid[agent], abs=1e-6)
                assert dones[row] == over
                if over:
                    last = infos[row]["terminal_observation"]
                    assert all(np.array_equal(last[name], now) for name, now in expected[game][agent].items())
            if over:
                rounds += 1
                expected[game], _ = one.reset()
    assert rounds > 3


class OneGuest:
    """Sits in the second seat of the first game and always presses the same."""

    def seats(self) -> Mask:
        return np.array([[False, True], [False, False]])

    def act(self, seen: Seen) -> npt.NDArray[np.int64]:
        assert len(seen["planes"]) == 4
        return np.array([1])


def test_a_guests_seat_is_its_own() -> None:
    env = FramesVecEnv([part(1), Part(DrMarioVectorEnv(2, players=2, **SETTINGS), OneGuest())], ignored)
    env.seed(3)
    env.reset()
    seen, _, _, _ = env.step(np.array([2, 2, 2, 2, 2]))  # right, all of them
    assert env.learned.tolist() == [True, True, True, False, True]
    right, left = [0, 0, 0, 0, 1], [0, 0, 0, 1, 0]
    assert seen["hand"][:, :5].tolist() == [right, right, right, left, right]


def test_the_hand_is_that_of_the_last_step() -> None:
    env = FramesVecEnv([part(3)], ignored)
    env.seed(1)
    assert not env.reset()["hand"][:, :5].any()
    seen, _, _, _ = env.step(np.array([1, 9, 10]))  # left, right + B, down + left
    assert seen["hand"][:, :5].tolist() == [[0, 0, 0, 1, 0], [0, 1, 0, 0, 1], [0, 0, 1, 1, 0]]


def test_is_what_sb3_takes() -> None:
    env = FramesVecEnv([part(2)], ignored)
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
