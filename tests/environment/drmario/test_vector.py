"""The vector environments: n lanes are n single environments, and a saved state goes on exactly."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import mario_rl.environment
from mario_rl._drmario import StateError
from mario_rl.environment.drmario.env import DrMarioEnv
from mario_rl.environment.drmario.placement import DrMarioPlacementEnv
from mario_rl.environment.drmario.vector import DrMarioPlacementVectorEnv, DrMarioVectorEnv, LanesVectorEnv
from mario_rl.environment.factory import make_vector_env
from tests.snapshots.lives import assert_same, through_a_file

LANES = 3
# Short episodes: many resets and truncations. The opponent plans its placements, which is part of the state.
BUTTONS: dict[str, Any] = {"level": [0, 9, 20], "speed": ["med", "hi"], "max_frames": 700, "frame_skip": 7}
PLACEMENTS: dict[str, Any] = {"level": [0, 9, 20], "speed": ["med", "hi"], "max_frames": 700}
KINDS: list[tuple[type[LanesVectorEnv], dict[str, Any]]] = [
    (DrMarioVectorEnv, BUTTONS | {"features": True, "opponent": "greedy"}),
    (DrMarioVectorEnv, BUTTONS | {"actions": "multidiscrete", "observation": "flat"}),
    (DrMarioVectorEnv, BUTTONS | {"backend": "embedded", "players": 2, "player_id": 2}),
    (DrMarioPlacementVectorEnv, PLACEMENTS | {"opponent": "greedy"}),
    (DrMarioPlacementVectorEnv, PLACEMENTS | {"observation": "placements", "tucks": True}),
    (DrMarioPlacementVectorEnv, PLACEMENTS | {"backend": "embedded"}),
]


def play(env: LanesVectorEnv, seed: int, steps: int) -> Iterator[tuple[Any, ...]]:
    """Random actions (of those that are allowed), drawn for all lanes alike."""
    random = np.random.default_rng(seed)
    for _ in range(steps):
        if isinstance(env, DrMarioPlacementVectorEnv):
            masks = env.action_masks()
            actions = (random.random(masks.shape) * masks).argmax(axis=1)
        else:
            space = env.single_action_space
            most = space.n if isinstance(space, gymnasium.spaces.Discrete) else space.nvec  # type: ignore[attr-defined]
            actions = random.integers(0, most, (env.num_envs, *(space.shape or ())))
        yield actions, *copy.deepcopy(env.step(actions))


def of_lane(values: Any, lane: int) -> Any:
    """A lane's part of nested observations and infos, without Gymnasium's masks."""
    if isinstance(values, dict):
        return {
            key: of_lane(value, lane)
            for key, value in values.items()
            if not key.startswith("_") and not key.startswith("final_")
        }
    return values[lane]


@pytest.mark.parametrize(("kind", "settings"), KINDS)
def test_a_lane_plays_as_a_single_environment(kind: type[LanesVectorEnv], settings: dict[str, Any]) -> None:
    envs = kind(LANES, **settings)
    single = DrMarioEnv if kind is DrMarioVectorEnv else DrMarioPlacementEnv
    singles = [single(**settings) for _ in range(LANES)]
    seen, info = envs.reset(seed=11)
    for lane, env in enumerate(singles):
        assert_same((of_lane(seen, lane), of_lane(info, lane)), env.reset(seed=11 + lane))
    ended = 0
    for actions, seen, reward, terminated, truncated, infos in play(envs, 1, 110 if kind is DrMarioVectorEnv else 25):
        for lane, env in enumerate(singles):
            step = env.step(actions[lane])
            assert (reward[lane], terminated[lane], truncated[lane]) == step[1:4]
            if terminated[lane] or truncated[lane]:
                ended += 1
                assert infos["_final_obs"][lane] and infos["_final_info"][lane]
                assert_same((infos["final_obs"][lane], of_lane(infos["final_info"], lane)), (step[0], step[4]))
                first, told = env.reset()
                told["reward_terms"] = step[4]["reward_terms"]  # the reward that came with this step
                assert_same((of_lane(seen, lane), of_lane(infos, lane)), (first, told))
            else:
                assert_same((of_lane(seen, lane), of_lane(infos, lane)), (step[0], step[4]))
    assert ended >= LANES, "resets are part of it"


@pytest.mark.parametrize(("kind", "settings"), KINDS)
def test_a_loaded_state_goes_on_exactly(kind: type[LanesVectorEnv], settings: dict[str, Any]) -> None:
    original = kind(LANES, **settings)
    original.reset(seed=5)
    last = list(play(original, 0, 13))[-1]
    original.draw_from([4, 5], "hi")
    state = through_a_file(original.state_dict())
    assert_same(original.current_observation(), last[1])
    steps = 110 if kind is DrMarioVectorEnv else 25
    expected = list(play(original, 1, steps))

    elsewhere = kind(LANES, threads=1 if settings.get("backend") else 2, **settings)
    elsewhere.reset(seed=77)
    list(play(elsewhere, 2, 9))
    for env in (kind(LANES, **settings), elsewhere):
        env.load_state_dict(state)
        assert_same(env.current_observation(), last[1])
        for step, other in zip(expected, play(env, 1, steps), strict=True):
            assert_same(step, other)


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


def test_a_damaged_state_changes_nothing() -> None:
    env = DrMarioVectorEnv(LANES, **BUTTONS)
    env.reset(seed=1)
    before = env.state_dict()
    other = DrMarioVectorEnv(LANES, **BUTTONS)
    other.reset(seed=9)
    no_game, short_array = other.state_dict(), other.state_dict()
    no_game["games"][2] = b"not a game"
    short_array["arrays"]["totals"] = short_array["arrays"]["totals"][:-4]
    with pytest.raises(StateError):
        env.load_state_dict(no_game)
    with pytest.raises(ValueError):
        env.load_state_dict(short_array)
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


def test_some_lanes_can_be_reset() -> None:
    env = DrMarioVectorEnv(LANES, **BUTTONS, render_mode="rgb_array")
    env.reset(seed=0)
    list(play(env, 0, 3))
    _, info = env.reset(options={"reset_mask": np.array([False, True, False])})
    assert info["frame"].tolist() == [21, 0, 21] and info["_frame"].tolist() == [False, True, False]
    pictures = env.render()
    assert pictures is not None and [picture.shape for picture in pictures] == [(240, 256, 3)] * 3
    with pytest.raises(ValueError, match="reset_mask"):
        env.reset(options={"reset_mask": [True]})


def test_a_policy_plays_all_other_seats_at_once() -> None:
    asked = []

    def policy(observations: np.ndarray) -> np.ndarray:
        asked.append(observations.shape)
        return np.array([1, 2, 3])

    env = DrMarioVectorEnv(LANES, opponent=policy)
    env.reset(seed=0)
    *_, infos = env.step(np.zeros(LANES, np.int64))
    assert infos["pad_opponent"].tolist() == [2, 1, 4] and asked == [(LANES, 12, 16, 8)]


@pytest.mark.parametrize("actions", [[0, 0], [0, 0, 12], [0.0, 0.0, 0.0], [0, -1, 0]])
def test_actions_that_are_none(actions: list[Any]) -> None:
    env = DrMarioVectorEnv(LANES)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="action"):
        env.step(np.array(actions))
