"""Collectors count what happened: checked against a plain account of the same episodes."""

from __future__ import annotations

import io
import resource
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mario_rl.config import TrainingConfig
from mario_rl.environment.smb.vector import SmbVectorEnv
from mario_rl.learners.base import LaneSteps
from mario_rl.metrics.collectors import CompositeCollector, CoordinatorCollector, MarioCollector, SystemCollector
from mario_rl.metrics.collectors.composite import worker_collectors
from mario_rl.metrics.collectors.gradients import GradientCollector


def lane_steps(rewards, terminated, truncated=None):
    lanes = len(rewards)
    nothing = np.zeros((lanes, 1), np.float32)
    terminated = np.asarray(terminated, bool)
    truncated = np.zeros(lanes, bool) if truncated is None else np.asarray(truncated, bool)
    rewards = np.asarray(rewards, np.float32)
    return LaneSteps(nothing, np.zeros(lanes, np.int64), rewards, nothing, terminated, truncated)


def saved_and_loaded(state):
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


# --- Mario --------------------------------------------------------------------------------------------------------

LANES = 3
# one step of one lane: (reward, how it ended, x, area)
step = st.tuples(
    st.integers(-15, 15),
    st.sampled_from(["on", "on", "on", "flag", "death", "stuck", "cut"]),
    st.integers(-50, 3300),
    st.sampled_from([37, 2]),
)


def replay(collector, account):
    """Show a collector the steps of an account, as the vector environment would tell them."""
    lengths = np.zeros(LANES, int)
    for row in account:
        rewards = [reward * 0.1 for reward, *_ in row]
        endings = np.array([how for _, how, *_ in row])
        ended = endings != "on"
        lengths += 1
        final = {
            "x_pos_max": np.array([x for *_, x, _ in row]),
            "flag_get": endings == "flag",
            "death": endings == "death",
            "death_x": np.where(endings == "death", [x for *_, x, _ in row], -1),
            "level": np.array(["1-1"] * LANES),
            "area": np.array([area for *_, area in row]),
            "episode_length": lengths.copy(),
        }
        infos = {"x_pos_max": np.where(ended, 40, final["x_pos_max"])}  # lanes that ended show their new episode
        if ended.any():
            infos |= {"final_info": final, "_final_info": ended}
        collector.on_steps(lane_steps(rewards, ended & (endings != "cut"), endings == "cut"), infos)
        lengths[ended] = 0


def reckoned(account):
    """The same metrics from whole episodes, in the order in which they ended."""
    episodes, under_way, best, deaths, first_flag = [], [[] for _ in range(LANES)], 0, [], None
    for count, row in enumerate(account, start=1):
        for lane, (reward, how, x, area) in enumerate(row):
            under_way[lane].append(reward)
            best = max(best, x)
            if how != "on":
                episodes.append((sum(under_way[lane]), how, x, len(under_way[lane])))
                under_way[lane] = []
                best = max(best, 40)
            if how == "death":
                deaths.append(("1-1", area, x))
            if how == "flag" and first_flag is None:
                first_flag = count * LANES
    return episodes, best, deaths, first_flag


@given(st.lists(st.tuples(step, step, step), min_size=1, max_size=120))
@settings(max_examples=60, deadline=None)
def test_mario_s_metrics_are_those_of_the_episodes(account):
    collector = MarioCollector(LANES, reward_scale=0.1)
    replay(collector, account)
    episodes, best, deaths, first_flag = reckoned(account)
    values = collector.values()
    assert values["steps"] == len(account) * LANES
    assert values["episodes"] == len(episodes)
    assert values["best_x"] == max(best, max(max(row[lane][2] for lane in range(LANES)) for row in account))
    assert values["flags"] == sum(how == "flag" for _, how, _, _ in episodes)
    assert values["deaths"] == len(deaths)
    assert collector.first_flag_steps == first_flag
    assert collector.take_deaths() == deaths
    assert collector.take_deaths() == []
    recent = episodes[-100:]
    assert collector.recent_episodes == len(recent)
    assert collector.recent_flags == sum(how == "flag" for _, how, _, _ in recent)
    if episodes:
        assert values["reward"] == pytest.approx(episodes[-1][0], abs=1e-4)
        for name, column in (("reward_mean", 0), ("x_mean", 2), ("episode_length", 3)):
            assert values[name] == pytest.approx(np.mean([episode[column] for episode in recent]), abs=1e-4)
        assert values["flag_rate"] == pytest.approx(collector.recent_flags / len(recent))
    else:
        assert {"reward", "reward_mean", "x_mean", "flag_rate"}.isdisjoint(values)


@given(st.lists(st.tuples(step, step, step), max_size=40), st.lists(st.tuples(step, step, step), max_size=40))
@settings(max_examples=30, deadline=None)
def test_mario_s_metrics_go_on_after_a_resume(before, after):
    whole, first, second = (MarioCollector(LANES, reward_scale=0.1) for _ in range(3))
    replay(whole, before)
    replay(first, before)
    second.load_state_dict(saved_and_loaded(first.state_dict()))
    # episodes under way keep their length in the environment's own counters, so continue both alike
    replay(whole, after)
    replay(second, after)
    assert second.values() == whole.values()
    assert second.take_deaths() == whole.take_deaths()
    assert second.first_flag_steps == whole.first_flag_steps


def test_mario_s_metrics_of_the_real_environment(smb_rom):
    """Random games until several have ended, against an account kept from the environment's own words."""
    env = SmbVectorEnv(4, rom=smb_rom, level="1-1", noop_max=0)
    collector = MarioCollector(4, reward_scale=0.5)
    env.reset(seed=3)
    random = np.random.default_rng(3)
    returns, finished, deaths, furthest = np.zeros(4), [], [], 0
    steps = 0
    while len(finished) < 8:
        _, rewards, terminated, truncated, infos = env.step(random.integers(0, 5, 4))
        collector.on_steps(lane_steps(rewards * 0.5, terminated, truncated), infos)
        steps += 4
        returns += rewards
        furthest = max(furthest, *infos["x_pos_max"].tolist())
        for lane in np.flatnonzero(terminated | truncated):
            final = {key: value[lane] for key, value in infos["final_info"].items()}
            furthest = max(furthest, final["x_pos_max"])
            finished.append(returns[lane])
            if final["death"]:
                deaths.append((final["level"], final["area"], final["x_pos"]))
            returns[lane] = 0
    env.close()
    values = collector.values()
    assert (values["steps"], values["episodes"], values["best_x"]) == (steps, len(finished), furthest)
    assert values["reward_mean"] == pytest.approx(np.mean(finished), rel=1e-4)
    assert deaths and collector.take_deaths() == deaths


# --- gradients and algorithms -------------------------------------------------------------------------------------

WORKER = {
    *("steps", "episodes", "reward", "reward_mean", "x_mean", "best_x", "flags", "flag_rate", "deaths"),
    *("episode_length", "saves", "restores", "stuck", "epsilon", "grads_sent", "grads_dropped"),
    *("weight_version", "loss"),
    *("practice_episodes", "practice_flags", "practice_flag_rate", "curriculum_progress"),
    *("steps_per_second", "cpu_percent", "memory_mb"),
}
DDQN = {"q_mean", "q_max", "td_error", "replay_size", "beta"}
PPO = {"policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction", "explained_variance"}

DREAMER = {
    *("wm_loss", "recon_mse", "ssim", "kl", "reward_loss", "end_loss", "ends_seen", "ends_foreseen", "actor_loss"),
    *("critic_loss", "imagined_return", "value_mean", "return_range", "entropy", "replay_size"),
}


@pytest.mark.parametrize(("model", "own"), [("ddqn", DDQN), ("dreamer", DREAMER), ("ppo", PPO)])
def test_a_worker_has_the_metrics_of_its_model(model, own):
    collector = worker_collectors(TrainingConfig(model=model, lanes=2))
    assert sorted(collector.names) == sorted(WORKER | own)
    told = dict.fromkeys(own, 0.5) | {"loss": 2.0, "weight_version": 7.0, "something_else": 1.0}
    collector.on_gradient(told)
    collector.on_gradient(dict.fromkeys(own, 1.5) | {"loss": 4.0})
    values = collector.values()
    assert values["grads_sent"] == 2 and values["loss"] == 3 and values["weight_version"] == 7
    latest = {"replay_size", "beta"}
    assert {name: values[name] for name in own} == {name: 1.5 if name in latest else 1.0 for name in own}

    resumed = worker_collectors(TrainingConfig(model=model, lanes=2))
    resumed.load_state_dict(saved_and_loaded(collector.state_dict()))
    measured = {"steps_per_second", "cpu_percent", "memory_mb"}
    assert {k: v for k, v in resumed.values().items() if k not in measured} == {
        k: v for k, v in values.items() if k not in measured
    }


def test_a_dropped_gradient_counts_but_does_not_spoil_the_means():
    collector = worker_collectors(TrainingConfig(model="ddqn", lanes=2))
    collector.on_gradient({"loss": 1.0, "q_mean": 1.0})
    collector.on_gradient({"loss": float("nan"), "q_mean": float("nan"), "dropped": 1})
    values = collector.values()
    assert (values["grads_sent"], values["grads_dropped"], values["loss"], values["q_mean"]) == (1, 1, 1.0, 1.0)


def test_two_collectors_of_one_name_are_refused():
    with pytest.raises(ValueError, match="grads_sent"):
        CompositeCollector([GradientCollector(), GradientCollector()])


def test_a_worker_killed_and_started_again_goes_on_counting():
    old, new = (worker_collectors(TrainingConfig(model="ddqn", lanes=LANES)) for _ in range(2))
    replay(old.mario, [((1, "flag", 3161, 37), (1, "death", 700, 37), (1, "on", 300, 37))] * 4)
    new.continue_from(old.values())
    replay(new.mario, [((1, "on", 50, 37), (1, "death", 60, 37), (1, "on", 50, 37))])
    values = new.values()
    assert (values["steps"], values["episodes"], values["flags"], values["deaths"]) == (15, 9, 4, 5)
    assert values["best_x"] == 3161


# --- process and coordinator --------------------------------------------------------------------------------------


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_system_metrics_of_this_process():
    clock = Clock()
    collector = SystemCollector(clock)
    began = time.process_time()
    while time.process_time() < began + 0.05:  # the kernel counts in hundredths
        sum(range(10_000))
    clock.now = 2.0
    collector.on_steps(lane_steps([0, 0, 0, 0], [False] * 4), {})
    values = collector.values()
    assert values["steps_per_second"] == 2
    assert values["cpu_percent"] > 0
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    assert values["memory_mb"] == pytest.approx(pages * resource.getpagesize() / 2**20, rel=0.2)


COORDINATOR = {
    *("steps", "updates", "updates_per_second", "steps_per_second", "loss", "grad_norm", "lr", "weight_version"),
    *("grads_received", "grads_nonfinite", "grads_stale", "workers_in", "flag_rate", "best_x", "episodes"),
    *("first_flag_steps", "first_flag_seconds", "evaluation_rate", "evaluation_mean_x"),
}


def test_the_coordinator_s_metrics():
    clock = Clock()
    collector = CoordinatorCollector(clock)
    assert sorted(collector.names) == sorted(COORDINATOR)
    nan = float("nan")
    for updates in range(1, 5):
        clock.now += 2
        # a run resumed at 100 000 steps: those were not done now
        collector.observe(
            {"steps": 100_000 + 64 * updates, "updates": updates, "loss": updates, "evaluation_rate": nan}
        )
    values = collector.values()
    assert (values["steps"], values["updates"], values["loss"]) == (100_256, 4, 2.5)
    assert values["steps_per_second"] == pytest.approx(3 * 64 / 8)
    assert values["updates_per_second"] == pytest.approx(3 / 8)
    assert "evaluation_rate" not in values

    resumed = CoordinatorCollector(clock)
    resumed.load_state_dict(saved_and_loaded(collector.state_dict()))
    assert resumed.values() == {k: v for k, v in values.items() if not k.endswith("_per_second")}
