"""The single and the vector environment keep Gymnasium's contracts, and each other's."""

from __future__ import annotations

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import mario_rl.environment
from mario_rl.environment.actions import ACTION_SETS, action_names
from mario_rl.environment.factory import make_env, make_vector_env
from mario_rl.environment.smb.env import SmbEnv
from mario_rl.environment.smb.reward import RewardWeights
from mario_rl.environment.smb.vector import SmbVectorEnv

OBSERVATIONS = ("tiles", "pixels", "ram")
INFO = {
    *("x_pos", "y_pos", "x_pos_max", "distance", "time", "coins", "score", "life", "status", "world", "stage", "area"),
    *("level", "episode_length", "loops", "flag_get", "death", "death_x", "time_up", "stuck", "warp"),
}


# --- contracts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_gymnasium_s_checker_is_content(observation):
    env = gymnasium.make("mario_rl/SuperMarioBros-v0", observation=observation, render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # it would make the environment again with every render mode, among them None without one
        check_env(env.unwrapped, skip_render_check=False)


@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_stable_baselines3_s_checker_is_content(observation):
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="Your observation .* has an unconventional shape")
        checker.check_env(SmbEnv(observation=observation))


def test_vector_env_by_make_vec():
    env = gymnasium.make_vec(
        mario_rl.environment.SMB, num_envs=3, vectorization_mode="vector_entry_point", threads=2, level="2-1"
    )
    assert isinstance(env.unwrapped, SmbVectorEnv)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    observation, info = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    assert info["level"].tolist() == ["2-1"] * 3
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    assert env.observation_space.contains(observation)
    assert reward.shape == terminated.shape == truncated.shape == (3,)
    assert terminated.dtype == truncated.dtype == np.bool_
    env.close()


def test_factory():
    assert isinstance(make_env("smb", level="3-1").unwrapped, SmbEnv)
    assert make_vector_env("smb", lanes=2, threads=1, observation="ram").num_envs == 2
    with pytest.raises(ValueError, match="unknown game 'pong'"):
        make_env("pong")


def test_info_has_all_keys():
    _, info = SmbEnv(noop_max=0).reset()
    assert set(info) == INFO
    assert info == info | {
        "x_pos": 40,
        "y_pos": 176,
        "x_pos_max": 40,
        "coins": 0,
        "score": 0,
        "life": 2,
        "status": 0,
        "world": 1,
        "stage": 1,
        "level": "1-1",
        "episode_length": 0,
        "death": False,
        "death_x": -1,
    }
    assert all(type(value) in (int, bool, str) for value in info.values())


def test_coins_and_score_are_those_on_the_screen(recording):
    coins, score = 0, 0
    for step in recording("1-3_finish").play():
        coins, before = step.info["coins"], coins
        score, score_before = step.info["score"], score
        if coins > before:
            assert score - score_before >= 200 * (coins - before), "a coin is worth 200"
    assert coins > 0


# --- randomness ---------------------------------------------------------------------------------------------------


def play(env: SmbEnv, seed: int, steps: int = 60) -> list[tuple]:
    rng = np.random.default_rng(0)
    observation, info = env.reset(seed=seed)
    trace = [(observation.tobytes(), info)]
    for _ in range(steps):
        observation, reward, terminated, truncated, info = env.step(rng.integers(5))
        trace.append((observation.tobytes(), reward, terminated, truncated, info))
        if terminated or truncated:
            observation, info = env.reset()
            trace.append((observation.tobytes(), info))
    return trace


@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_a_seed_gives_the_same_game_again(observation):
    settings = {"observation": observation, "sticky": 0.3, "level": ["1-1", "1-4"]}
    env = SmbEnv(**settings)
    first = play(env, 3)
    assert play(env, 3) == first
    assert play(SmbEnv(**settings), 3) == first
    assert play(env, 4) != first


def test_the_random_wait_is_uniform_up_to_noop_max():
    env = SmbEnv(observation="ram", noop_max=5)
    env.reset(seed=0)
    frame_counters = [int(env.reset()[0][0x09]) for _ in range(300)]  # the game's own frame counter
    values, counts = np.unique(frame_counters, return_counts=True)
    assert len(values) == 6
    assert values.max() - values.min() == 5
    assert counts.min() > 25

    still = SmbEnv(observation="ram", noop_max=0)
    assert len({int(still.reset()[0][0x09]) for _ in range(10)}) == 1


def test_sticky_repeats_the_action_before_as_often_as_said():
    vector = SmbVectorEnv(16, sticky=0.25, noop_max=0, stuck_steps=None, actions="simple")
    vector.reset(seed=0)
    repeated = []
    for number in range(200):
        before = vector.lanes._pads[:, 0].copy()
        asked = np.full(16, 6 if number % 2 else 0)  # left and nothing, in turn
        vector.step(asked)
        now = vector.lanes._pads[:, 0]
        differs = before != vector.lanes.pad_table[asked]
        repeated += (now == before)[differs].tolist()
    assert 0.2 < np.mean(repeated) < 0.3


# --- many lanes ---------------------------------------------------------------------------------------------------


def test_info_masks_are_gymnasium_s():
    vector = SmbVectorEnv(3, stuck_steps=4, noop_max=0)
    _, infos = vector.reset(seed=0)
    for _ in range(4):
        assert {key.removeprefix("_") for key in infos} == INFO
        assert all(infos[f"_{key}"].all() for key in INFO)
        *_, infos = vector.step(np.array([0, 1, 0]))
    final = infos["final_info"]
    assert infos["_final_info"].tolist() == [True, False, True]
    assert final["_x_pos"].tolist() == [True, False, True]
    assert final["stuck"][[0, 2]].all()
    assert final["episode_length"][[0, 2]].tolist() == [4, 4]
    assert infos["episode_length"].tolist() == [0, 4, 0]
    assert not infos["stuck"].any()


def test_gymnasium_s_own_statistics_wrapper_works_on_it():
    vector = gymnasium.wrappers.vector.RecordEpisodeStatistics(SmbVectorEnv(2, stuck_steps=5, noop_max=0))
    vector.reset(seed=0)
    for _ in range(5):
        *_, infos = vector.step(np.array([0, 0]))
    assert infos["episode"]["l"].tolist() == [5, 5]


def test_lanes_can_begin_an_episode_from_a_saved_state():
    """What snapshots need: a state loaded into a lane, its counters started from there."""
    vector = SmbVectorEnv(2, noop_max=0, stuck_steps=None)
    vector.reset(seed=0)
    for _ in range(20):
        vector.step(np.array([3, 0]))
    lanes = vector.lanes
    state = lanes.console.save(0)
    x = int(lanes.game.x[0])
    target = np.array([False, True])
    lanes.console.load_lanes(target, [state])
    lanes.begin(target, ["1-1"])
    *_, infos = vector.step(np.array([0, 0]))
    assert x > 100
    assert infos["x_pos"].tolist() == [infos["x_pos"][0]] * 2
    assert infos["episode_length"].tolist() == [21, 1]
    assert infos["distance"][1] < 20


def test_render():
    env = SmbEnv(render_mode="rgb_array", noop_max=0)
    env.reset()
    first = env.render()
    assert first.shape == (240, 256, 3)
    assert first.dtype == np.uint8
    assert len(np.unique(first.reshape(-1, 3), axis=0)) > 5, "a picture, not one colour"
    for _ in range(10):
        env.step(np.int64(1))
    assert (env.render() != first).any()
    assert SmbEnv().render() is None
    vector = SmbVectorEnv(2, render_mode="rgb_array", observation="pixels")
    vector.reset(seed=0)
    assert [frame.shape for frame in vector.render()] == [(240, 256, 3)] * 2


# --- settings -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"level": "9-9"},
        {"level": []},
        {"observation": "sound"},
        {"actions": "all"},
        {"frame_skip": 0},
        {"frame_skip": 2.5},
        {"frame_skip": 60},
        {"sticky": 1.0},
        {"sticky": -0.1},
        {"noop_max": -1},
        {"noop_max": 1000},
        {"stuck_steps": 0},
        {"max_steps": 0},
        {"rewards": {"fame": 1.0}},
        {"render_mode": "human"},
    ],
)
def test_bad_settings_are_refused_in_one_sentence(wrong):
    for make in (SmbEnv, SmbVectorEnv):
        with pytest.raises(ValueError) as error:
            make(**wrong)
        assert "\n" not in str(error.value)
        assert next(iter(wrong)).rstrip("s") in str(error.value)


@pytest.mark.parametrize("wrong", [{"num_envs": 0}, {"num_envs": 1.5}, {"threads": 0}])
def test_bad_numbers_of_lanes_and_threads(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SmbVectorEnv(**wrong)


def test_a_missing_rom_is_named():
    with pytest.raises(FileNotFoundError, match="nowhere"):
        SmbEnv(rom="/nowhere.nes")


@pytest.mark.parametrize("wrong", [5, -1])
def test_actions_out_of_range_are_refused(wrong):
    env = SmbEnv()
    env.reset()
    with pytest.raises(ValueError, match="0 to 4"):
        env.step(np.int64(wrong))
    vector = SmbVectorEnv(2)
    vector.reset()
    with pytest.raises(ValueError, match="0 to 4"):
        vector.step(np.array([0, wrong]))
    for shape in (np.array([0]), np.array([0.0, 1.0])):
        with pytest.raises(ValueError, match="2 whole numbers"):
            vector.step(shape)


def test_action_sets():
    assert {name: len(pads) for name, pads in ACTION_SETS.items()} == {"right_only": 5, "simple": 7, "complex": 12}
    assert action_names("right_only") == ["noop", "right", "right+A", "right+B", "right+A+B"]
    assert action_names("complex")[-2:] == ["down", "up"]


def test_frame_skip_is_the_frames_of_a_step():
    for frame_skip in (1, 4, 8):
        env = SmbEnv(frame_skip=frame_skip, noop_max=0)
        env.reset()
        before = int(env.lanes.console.frames[0])
        env.step(np.int64(1))
        assert int(env.lanes.console.frames[0]) - before == frame_skip


# --- reward -------------------------------------------------------------------------------------------------------


def test_rewards_add_up_to_distance_clock_and_flag(recording):
    """Over a whole game: 0.1 a pixel from start to flag, -0.1 a unit of the clock, 5 for the flag."""
    env = recording("1-1_finish").environment()
    _, start = env.reset()
    steps = list(recording("1-1_finish").play(env))
    end = steps[-1].info
    expected = 0.1 * (end["x_pos"] - start["x_pos"]) - 0.1 * (start["time"] - end["time"]) + 5
    assert sum(step.reward for step in steps) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("term", ["progress", "clock", "death", "flag", "stuck"])
def test_each_term_has_its_own_weight(term, recording):
    """With all other weights 0, a game pays what that term alone says."""
    weights = dict.fromkeys(("progress", "clock", "death", "flag", "stuck"), 0.0) | {term: 2.0}
    finished = list(recording("1-1_finish").play(recording("1-1_finish").environment(rewards=weights)))
    pit = list(recording("1-1_pit").play(recording("1-1_pit").environment(rewards=RewardWeights(**weights))))
    stuck_env = SmbEnv(rewards=weights, stuck_steps=20, noop_max=0)
    stuck_env.reset()
    stuck = sum(stuck_env.step(np.int64(0))[1] for _ in range(20))
    sums = (sum(step.reward for step in finished), sum(step.reward for step in pit), stuck)
    spent = 400 - finished[-1].info["time"]
    expected = {
        "progress": (2 * (3161 - 40), 2 * (pit[-2].info["x_pos"] - 40), 0),
        "clock": (2 * spent, 2 * (400 - pit[-1].info["time"]), None),
        "death": (0, 2, 0),
        "flag": (2, 0, 0),
        "stuck": (0, 0, 2),
    }[term]
    for got, wanted in zip(sums, expected, strict=True):
        if wanted is not None:
            assert got == pytest.approx(wanted, abs=2.1 if term == "clock" else 0.01)
