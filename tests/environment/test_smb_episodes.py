"""Everything that can happen in an episode, each played from a recorded game on the real console."""

from __future__ import annotations

import numpy as np
import pytest

from mario_rl.environment.smb import memory
from mario_rl.environment.smb.env import SmbEnv
from mario_rl.environment.smb.levels import LEVELS

MAP_OF_1_1 = 0xA690


def play_held(env: SmbEnv, action: int, most: int = 5000):
    """Hold one action until the episode ends; all steps of it."""
    env.reset()
    steps = []
    for _ in range(most):
        steps.append(env.step(np.int64(action)))
        if steps[-1][2] or steps[-1][3]:
            return steps
    raise AssertionError("the episode did not end")


# --- ends ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_can_be_finished(level, recording):
    steps = list(recording(f"{level}_finish").play())
    end = steps[-1]
    assert end.terminated
    assert end.info["flag_get"]
    assert not end.info["death"]
    assert not end.info["warp"]
    assert end.info["level"] == level
    assert not any(step.terminated or step.truncated for step in steps[:-1])
    assert end.reward > 4, "the flag pays"
    assert end.info["episode_length"] == len(steps)


@pytest.mark.parametrize("level", [level for level in LEVELS if level.endswith("-4")])
def test_castles_end_at_the_axe(level, recording):
    env = recording(f"{level}_finish").environment()
    *_, end = recording(f"{level}_finish").play(env)
    assert end.info["flag_get"]
    assert env.lanes.console.ram[0, memory.MODE] == memory.MODE_VICTORY


def test_the_flag_of_1_1_stands_where_it_should(recording):
    *_, end = recording("1-1_finish").play()
    assert end.info["x_pos"] == 3161
    assert end.info["y_pos"] < 176, "above the ground: the pole was touched, not yet slid down"


def test_a_goomba_kills_at_once(recording):
    env = SmbEnv(level="1-1", noop_max=0)
    steps = play_held(env, 1)  # walk right, into the first goomba
    end = steps[-1]
    info = end[4]
    assert end[2]
    assert info["death"]
    assert not info["time_up"]
    assert info["death_x"] == info["x_pos"]
    assert 250 < info["death_x"] < 350
    assert end[1] < -2, "death costs"
    # the game shows the death for about 180 frames more, the agent need not
    assert env.lanes.console.ram[0, memory.PLAYER_STATE] == memory.PLAYER_DYING


def test_a_pit_kills_as_soon_as_mario_leaves_the_screen(recording):
    env = recording("1-1_pit").environment()
    *_, end = recording("1-1_pit").play(env)
    assert end.terminated
    assert end.info["death"]
    assert end.info["y_pos"] >= 256
    assert env.lanes.console.ram[0, memory.PLAYER_STATE] == memory.PLAYER_NORMAL, "the game itself has not noticed yet"
    assert end.reward == pytest.approx(-2.5, abs=0.11), "death and perhaps the clock: a fall pays no pixels"


def test_time_up_is_a_death():
    env = SmbEnv(level="1-3", noop_max=0, stuck_steps=None)  # nothing reaches Mario where this level starts
    steps = play_held(env, 0)
    end, info = steps[-1], steps[-1][4]
    assert end[2]
    assert info["death"]
    assert info["time_up"]
    assert info["time"] == 0


def test_stuck_ends_and_costs():
    steps = play_held(SmbEnv(level="1-1", noop_max=0, stuck_steps=25), 0)
    assert len(steps) == 25
    _, reward, terminated, truncated, info = steps[-1]
    assert terminated
    assert not truncated
    assert info["stuck"]
    assert not info["death"]
    assert reward < -2


def test_max_steps_truncates():
    steps = play_held(SmbEnv(level="1-1", noop_max=0, stuck_steps=None, max_steps=10), 0)
    assert len(steps) == 10
    _, _, terminated, truncated, info = steps[-1]
    assert truncated
    assert not terminated
    assert not info["stuck"]


@pytest.mark.parametrize(("name", "world"), [("1-2_warp", 1), ("4-2_warp", 4)])
def test_a_warp_zone_ends_without_reward_or_death(name, world, recording):
    *_, end = recording(name).play()
    assert end.terminated
    assert end.info["warp"]
    assert not end.info["flag_get"]
    assert not end.info["death"]
    assert end.info["world"] > world
    assert abs(end.reward) < 1.5, "neither the flag's reward nor death's cost"


# --- ways through -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["1-2", "2-2", "4-2", "7-2"])
def test_exit_pipes_lead_to_the_map_of_1_1_and_progress_starts_anew(level, recording):
    steps = list(recording(f"{level}_finish").play(recording(f"{level}_finish").environment(stuck_steps=400)))
    areas = [step.info["area"] for step in steps]
    entered = areas.index(MAP_OF_1_1)
    before, first = steps[entered - 1], steps[entered]
    assert before.info["area"] != MAP_OF_1_1
    assert first.info["x_pos"] == 2872
    assert first.info["x_pos_max"] == 2872
    assert first.info["distance"] == before.info["distance"], "the pipe's ride is not progress"
    assert first.reward == 0
    assert steps[-1].info["x_pos"] == 3161
    assert steps[-1].info["flag_get"]


def test_pipes_cost_no_steps(recording):
    """In and out of 1-1's bonus room: between two steps on either side lies one step, and Mario can move after it."""
    env = recording("1-1_bonus").environment()
    frames_of_a_step = []
    areas = []
    before = int(env.lanes.console.frames[0])
    for step in recording("1-1_bonus").play(env):
        now = int(env.lanes.console.frames[0])
        frames_of_a_step.append(now - before)
        before = now
        areas.append(step.info["area"])
        assert env.lanes.game.controllable()[0]
    changes = [number for number in range(1, len(areas)) if areas[number] != areas[number - 1]]
    assert len(changes) == 2
    assert {areas[0], areas[changes[0]], areas[-1]} == {MAP_OF_1_1, areas[changes[0]]}
    assert all(frames_of_a_step[number] > 60 for number in changes)
    ordinary = [frames for number, frames in enumerate(frames_of_a_step) if number not in changes]
    # the first step also counts the boot
    assert set(ordinary[1:]) == {4}


def test_growing_costs_no_steps(recording):
    env = recording("1-1_grow").environment()
    steps = list(recording("1-1_grow").play(env))
    assert steps[-1].info["status"] == 1
    assert steps[-2].info["status"] == 0
    assert env.lanes.game.controllable()[0]


def test_water_is_swum_through(recording):
    env = recording("2-2_finish").environment()
    swam = [env.lanes.console.ram[0, memory.SWIMMING] for _ in recording("2-2_finish").play(env)]
    assert sum(map(bool, swam)) > 200


def test_falling_out_of_the_cloud_bonus_is_not_death(recording):
    env = recording("2-1_cloud").environment()
    clouds = []
    for step in recording("2-1_cloud").play(env):
        clouds.append(bool(env.lanes.console.ram[0, memory.CLOUD_BONUS]))
        assert not step.terminated
    assert any(clouds), "the vine was climbed"
    assert not clouds[-1], "and the level entered again"
    assert step.info["area"] == 0xA7CF


# --- the maze castles ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["4-4_below_zero", "7-4_loop", "8-4_finish"])
def test_a_loop_is_neither_progress_nor_an_end(name, recording):
    previous = None
    looped = 0
    for step in recording(name).play():
        if previous is not None and step.info["loops"] > previous.info["loops"]:
            looped += 1
            assert step.info["x_pos"] < previous.info["x_pos"] - 700
            assert step.info["x_pos_max"] >= previous.info["x_pos"]
            assert not step.terminated
            assert abs(step.reward) <= 0.2, "only the clock"
        previous = step
    assert looped >= 1


def test_ground_walked_again_after_a_loop_pays_nothing(recording):
    env = recording("7-4_loop").environment()
    *_, last = recording("7-4_loop").play(env)
    moved = 0
    for _ in range(15):
        _, reward, terminated, _, info = env.step(np.int64(3))  # run right
        assert not terminated
        assert reward <= 0
        moved = info["x_pos"] - last.info["x_pos"]
    assert moved > 50, "he did walk"


def test_x_can_be_negative_in_4_4(recording):
    steps = list(recording("4-4_below_zero").play())
    assert steps[-1].info["x_pos"] < 0
    assert steps[-1].info["x_pos_max"] > 900
    assert np.isfinite(steps[-1].observation).all()


def test_a_loop_restarts_the_stuck_counter(recording):
    """Walking the loop again takes longer than 60 steps; that alone must not end the episode."""
    steps = list(recording("8-4_finish").play(recording("8-4_finish").environment(stuck_steps=130)))
    assert steps[-1].info["flag_get"]


@pytest.mark.parametrize("frame_skip", [1, 3, 16])
def test_a_pipe_is_noticed_at_every_frame_skip(frame_skip, recording):
    """Down the first pipe of 1-1 that leads somewhere, from a state in which Mario stands on it."""
    env = recording("1-1_bonus").environment(frame_skip=frame_skip)
    env.reset()
    lanes = env.lanes
    on_the_pipe = _state_before_the_pipe(recording("1-1_bonus"))
    everywhere = np.ones(1, np.bool_)
    lanes.console.load_lanes(everywhere, [on_the_pipe])
    lanes.begin(everywhere, ["1-1"])
    for _ in range(20):
        _, reward, terminated, _, info = env.step(np.int64(10))  # down
        assert not terminated
        if info["area"] != MAP_OF_1_1:
            break
    assert info["area"] != MAP_OF_1_1
    assert info["x_pos_max"] == info["x_pos"] < 100
    assert abs(reward) <= 0.1 * 4 * frame_skip
    assert lanes.game.controllable()[0]


def _state_before_the_pipe(game) -> bytes:
    env = game.environment()
    states = [b""]
    for step in game.play(env):
        if step.info["area"] != MAP_OF_1_1:
            return states[-1]
        states.append(env.lanes.console.save(0))
    raise AssertionError("the recording enters no pipe")
