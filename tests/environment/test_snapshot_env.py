"""The environment that practises where Mario dies: Gymnasium's contracts, honest ends, states that are what they say.

"Into the goomba": holding right and B from the start of 1-1, Mario dies at x = 312 after 26 steps, every time.
"""

from __future__ import annotations

import json
import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from mario_rl.emulators.embedded import EmbeddedBatch
from mario_rl.environment import snapshot_wrapper
from mario_rl.environment.smb import memory
from mario_rl.environment.smb.env import SmbEnv
from mario_rl.environment.smb.lanes import SmbLanes
from mario_rl.environment.smb.vector import SmbVectorEnv
from mario_rl.environment.snapshot_wrapper import (
    SnapshotMarioEnv,
    create_snapshot_mario_env,
    create_snapshot_mario_vector_env,
)

RIGHT_AND_B = np.int64(3)
LANES = 4


def play_to_the_end(env: SmbEnv) -> tuple[list[float], np.ndarray, dict[str, Any], list[int]]:
    """Into the goomba: all rewards, the last observation and info, the x at which snapshots were saved."""
    rewards, saved = [], []
    while True:
        observation, reward, terminated, truncated, info = env.step(RIGHT_AND_B)
        rewards.append(reward)
        if info.get("snapshot_saved"):
            saved.append(info["x_pos"])
        if terminated or truncated:
            assert terminated and not truncated
            return rewards, observation, info, saved


def into_the_goomba(env: SnapshotMarioEnv, lives: int) -> list[dict[str, Any]]:
    """So many lives one after the other: what each began with."""
    begins = [env.reset(seed=0)[1]]
    for _ in range(lives):
        play_to_the_end(env)
        begins.append(env.reset()[1])
    return begins


# --- contracts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("observation", ["tiles", "pixels"])
def test_gymnasium_s_checker_is_content(observation: str) -> None:
    env = create_snapshot_mario_env(observation=observation, render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # it would make the environment again with every render mode, and there is no id to make it with
        check_env(env, skip_render_check=True)


@pytest.mark.parametrize("observation", ["tiles", "pixels", "ram"])
def test_a_step_does_what_the_plain_environment_does(observation: str) -> None:
    """SAME_STEP, step by step: rewards, ends and last observations are those of a plain environment in the same state.

    What follows an end is what the restored, or the fresh, console shows.
    """
    settings: dict[str, Any] = {"observation": observation, "max_steps": 60, "noop_max": 5}
    env = create_snapshot_mario_vector_env(LANES, checkpoint_interval=40, fresh=0.2, **settings)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    plain = SmbVectorEnv(LANES, level="1-1", **settings)
    env.reset(seed=4)
    actions = np.repeat(np.random.default_rng(0).choice([1, 2, 3, 3, 3], (50, LANES)), 4, axis=0)
    restored, fresh, cut = 0, 0, 0
    for row in actions:
        state = env.state_dict() | {"curriculum": None, "starts": None}
        state["arrays"] = {name: array for name, array in state["arrays"].items() if name != "practice"}
        plain.load_state_dict(state)
        reward, outcome = plain.lanes.step(row)
        seen = plain.lanes.observation.read()
        observation_now, rewards, terminated, truncated, infos = env.step(row)
        np.testing.assert_array_equal(rewards, reward)
        np.testing.assert_array_equal(terminated, outcome.terminated)
        np.testing.assert_array_equal(truncated, outcome.truncated)
        ended = terminated | truncated
        np.testing.assert_array_equal(observation_now[~ended], seen[~ended])
        np.testing.assert_array_equal(observation_now, env.current_observation())
        assert not infos["snapshot_restored"][~ended].any()
        if not ended.any():
            assert "final_obs" not in infos
            continue
        np.testing.assert_array_equal(infos["_final_obs"], ended)
        np.testing.assert_array_equal(infos["_final_info"], ended)
        told = plain.lanes.info(outcome)
        for lane in np.flatnonzero(ended):
            np.testing.assert_array_equal(infos["final_obs"][lane], seen[lane])
            assert all(infos["final_info"][key][lane] == told[key][lane] for key in told)
            assert not infos["final_info"]["snapshot_restored"][lane]
            assert infos["practice"][lane] == infos["snapshot_restored"][lane]
            assert not infos["practice"][lane] or told["death"][lane], "only a death is practised"
            assert (infos["x_pos"][lane] == 40) != infos["practice"][lane]
            assert infos["episode_length"][lane] == infos["distance"][lane] == 0
        restored += int(infos["snapshot_restored"].sum())
        fresh += int((ended & ~infos["snapshot_restored"]).sum())
        cut += int(truncated.sum())
    assert restored == env.total_restores and restored >= 3 and fresh >= 3 and cut >= 1


def test_one_lane_of_the_vector_form_plays_as_the_single_one() -> None:
    single = create_snapshot_mario_env(noop_max=8, checkpoint_interval=60, sticky=0.2)
    vector = create_snapshot_mario_vector_env(1, noop_max=8, checkpoint_interval=60, sticky=0.2, fresh=0.0)
    single.reset(seed=7)
    vector.reset(seed=7)
    ends = 0
    for action in np.repeat(np.random.default_rng(1).choice([1, 2, 3, 3, 3], 60), 4):
        observation, reward, terminated, truncated, info = single.step(action)
        observations, rewards, _, _, infos = vector.step(np.array([action]))
        assert reward == rewards[0]
        if terminated or truncated:
            ends += 1
            np.testing.assert_array_equal(infos["final_obs"][0], observation)
            assert {key: infos["final_info"][key][0] for key in info} == info
            observation, info = single.reset()
        np.testing.assert_array_equal(observations[0], observation)
        assert {key: infos[key][0] for key in info} == info
    assert ends > 2 and (single.total_saves, single.total_restores) == (vector.total_saves, vector.total_restores)
    assert single.total_restores > 0


# --- what happens -------------------------------------------------------------------------------------------------


def test_into_the_goomba_again_and_again() -> None:
    """Three deaths make a hotspot, the fourth life saves before it; three restores without progress, a new start."""
    env = create_snapshot_mario_env(noop_max=0)
    begins = into_the_goomba(env, lives=12)
    assert [begin["snapshot_restored"] for begin in begins] == 4 * [False] + 2 * [True, True, True, False] + [True]
    assert [begin["practice"] for begin in begins] == [begin["snapshot_restored"] for begin in begins]
    assert {begin["x_pos"] for begin in begins if begin["practice"]} == {255}  # saved at 252, running
    assert (env.total_saves, env.total_restores) == (3, 7)
    assert not any(begin["snapshot_saved"] for begin in begins)


def test_the_step_that_saves_says_so() -> None:
    env = create_snapshot_mario_env(noop_max=0)
    into_the_goomba(env, lives=3)
    total = 0
    for _ in range(25):
        info = env.step(RIGHT_AND_B)[4]
        total += info["snapshot_saved"]
        assert env.total_saves == total
        if info["snapshot_saved"]:
            assert 250 <= info["x_pos"] <= 300 and info["snapshot_restored"] is False
    assert total == 1


def test_a_death_is_paid_as_always_and_practice_is_a_life_of_its_own() -> None:
    """Fresh or practised: the rewards are those of plain lanes that play the same from the same state."""
    plain = SmbEnv(noop_max=0)
    plain.reset(seed=0)
    rewards, last, end, _ = play_to_the_end(plain)
    assert rewards[-1] < -2 and end["death"]
    env = create_snapshot_mario_env(noop_max=0)
    into_the_goomba(env, lives=3)
    ours, seen, info, saved = play_to_the_end(env)
    assert ours == rewards and len(saved) == 1
    np.testing.assert_array_equal(seen, last)
    assert info["death"] and info["death_x"] == 312 and not info["practice"]

    observation, info = env.reset()
    assert info["practice"] and info["episode_length"] == 0 and info["distance"] == 0 and not info["death"]
    (snapshot,) = env.snapshots.store
    lanes = SmbLanes(1, plain.settings)
    lanes.console.load(0, snapshot.state)
    lanes.console.step(np.zeros((1, 2), np.uint8), 1)
    lanes.begin(np.ones(1, np.bool_), ["1-1"])
    np.testing.assert_array_equal(observation, lanes.observation.read()[0])
    practised, seen, info, _ = play_to_the_end(env)
    expected, ended = [], False
    while not ended:
        reward, outcome = lanes.step(np.array([RIGHT_AND_B]))
        expected.append(float(reward[0]))
        ended = outcome.any_ended
    assert practised == expected and len(practised) < len(rewards)
    np.testing.assert_array_equal(seen, lanes.observation.read()[0])
    assert info["practice"] and info["death"] and info["episode_length"] == len(practised)


def test_a_restored_console_is_the_saved_one_and_a_fresh_one_is_fresh(smb_rom: Path) -> None:
    """RAM and all else that a state holds, one frame later: an episode begins with a frame without buttons."""
    env = create_snapshot_mario_env(noop_max=0)
    env.reset(seed=0)
    at_the_start = env.lanes.console.save(0)
    into_the_goomba(env, lives=3)
    assert env.lanes.console.save(0) == at_the_start
    saved_ram = None
    while saved_ram is None:
        if env.step(RIGHT_AND_B)[4]["snapshot_saved"]:
            saved_ram = env.lanes.console.ram[0].copy()
            after_save = env.lanes.console.save(0)
    play_to_the_end(env)
    assert env.reset()[1]["snapshot_restored"]
    (snapshot,) = env.snapshots.store
    assert snapshot.state == after_save
    console = EmbeddedBatch(smb_rom, lanes=1)
    console.load(0, snapshot.state)
    np.testing.assert_array_equal(console.ram[0], saved_ram)
    console.step(np.zeros((1, 2), np.uint8), 1)
    np.testing.assert_array_equal(env.lanes.console.ram[0], console.ram[0])
    assert env.lanes.console.save(0) == console.save(0)


@pytest.mark.parametrize("how", [{"options": {"fresh": True}}, {"seed": 0}])
def test_one_can_ask_for_a_fresh_start(how: dict[str, Any]) -> None:
    env = create_snapshot_mario_env(noop_max=0)
    env.reset(seed=0)
    at_the_start = env.lanes.console.save(0)
    into_the_goomba(env, lives=3)
    play_to_the_end(env)
    _, info = env.reset(**how)
    assert not info["practice"] and not info["snapshot_restored"] and env.lanes.console.save(0) == at_the_start
    assert sum(env.snapshots.hotspots.deaths("1-1").values()) == 4, "the death counts all the same"


def test_resets_in_the_midst_of_practice() -> None:
    env = create_snapshot_mario_env(noop_max=0)
    into_the_goomba(env, lives=4)
    for _ in range(2):
        _, info = env.reset()  # again, without a step
        assert not info["practice"] and not info["snapshot_restored"] and info["x_pos"] == 40
    env.step(RIGHT_AND_B)
    assert not env.reset()[1]["practice"]


def test_resetting_some_lanes_leaves_the_others_alone() -> None:
    env = create_snapshot_mario_vector_env(2, noop_max=0, fresh=0.0)
    env.reset(seed=0)
    while env.total_restores < 2:
        infos = env.step(np.full(2, RIGHT_AND_B))[4]
    assert infos["snapshot_restored"].all()
    before = env.lanes.console.save(1)
    _, infos = env.reset(options={"reset_mask": np.array([True, False])})
    assert infos["practice"].tolist() == [False, True] and infos["x_pos"].tolist() == [40, 255]
    assert not infos["snapshot_restored"][0] and env.lanes.console.save(1) == before
    env.step(np.full(2, RIGHT_AND_B))


def test_snapshots_are_saved_on_the_ground_and_under_water() -> None:
    env = create_snapshot_mario_vector_env(LANES, "2-2", checkpoint_interval=60, actions="simple")
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(150):
        env.step(rng.choice([2, 2, 2, 1, 5], LANES))
    assert env.total_saves > 5, "Mario never stands while he swims"
    env = create_snapshot_mario_vector_env(LANES, "1-1", checkpoint_interval=8)
    env.reset(seed=0)
    in_the_air = 0
    for row in np.repeat(rng.integers(1, 5, (40, LANES)), 4, axis=0):
        infos = env.step(row)[4]
        floating = env.lanes.console.ram[:, memory.FLOAT_STATE] != 0
        in_the_air += int(floating.sum())
        assert not (infos["snapshot_saved"] & floating).any()
    assert in_the_air > 50 and env.total_saves > 5


# --- the file of hotspots -----------------------------------------------------------------------------------------


def test_deaths_outlive_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "death_hotspots.json"
    env = create_snapshot_mario_env((1, 1), hotspot_path=file, noop_max=0)
    into_the_goomba(env, lives=3)
    assert not file.exists()
    env.close()
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    again = create_snapshot_mario_env("1-1", hotspot_path=str(file), noop_max=0)
    assert again.snapshots.hotspots.get_hotspots("1-1") == [(300, 3)]
    again.reset(seed=0)
    assert len(play_to_the_end(again)[3]) == 1, "the hotspot is known from the first life on"


def test_deaths_are_saved_every_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "death_hotspots.json"
    vector = create_snapshot_mario_vector_env(1, hotspot_path=file, noop_max=0)
    single = create_snapshot_mario_env(hotspot_path=file, noop_max=0)
    clock = [0.0]
    monkeypatch.setattr(snapshot_wrapper.time, "monotonic", lambda: clock[0])
    for env, step in ((vector, np.array([RIGHT_AND_B])), (single, RIGHT_AND_B)):
        env._file.save()
        written = file.stat().st_mtime_ns
        env.reset(seed=0)
        for _ in range(26):
            env.step(step)
        assert file.stat().st_mtime_ns == written and json.loads(file.read_text())["deaths"] == {}
        clock[0] += 60
        env.step(step)
        assert list(json.loads(file.read_text())["deaths"]) == ["1-1"]


def test_a_damaged_file_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "death_hotspots.json"
    file.write_text("{")
    with caplog.at_level(logging.WARNING):
        create_snapshot_mario_env(hotspot_path=file).close()
    assert "does not hold hotspots" in caplog.text
    assert sorted(path.name for path in tmp_path.iterdir()) == [file.name, f"{file.name}.damaged"]


def test_a_file_that_cannot_be_written_costs_nobody_his_game(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    env = create_snapshot_mario_vector_env(1, hotspot_path=tmp_path / "nowhere" / "death_hotspots.json")
    env.reset(seed=0)
    with caplog.at_level(logging.WARNING):
        env.close()
    assert "death_hotspots.json is not saved: No such file or directory" in caplog.text
    assert list(tmp_path.iterdir()) == []


# --- mistakes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"level": (9, 1)}, "9-1"),
        ({"checkpoint_interval": 0}, "checkpoint_interval"),
        ({"max_restores_without_progress": 0}, "max_restores_without_progress"),
        ({"half_life": 0}, "half_life"),
        ({"observation": "smell"}, "smell"),
    ],
)
def test_wrong_settings_are_refused_in_one_sentence(wrong: dict[str, Any], says: str) -> None:
    for create in (create_snapshot_mario_env, lambda **settings: create_snapshot_mario_vector_env(2, **settings)):
        with pytest.raises(ValueError, match=says) as problem:
            create(**wrong)
        assert "\n" not in str(problem.value)


def test_an_environment_without_practice_says_nothing_of_it() -> None:
    _, info = SmbEnv().reset()
    assert not {"practice", "snapshot_saved", "snapshot_restored"} & set(info)
