"""Practice is honest: no return mixes two lives, statistics keep practice apart, and a saved run goes on exactly."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces

from mario_rl import config as configuration
from mario_rl.environment.smb.vector import SmbVectorEnv
from mario_rl.environment.snapshot_wrapper import SnapshotMarioVectorEnv, create_snapshot_mario_vector_env
from mario_rl.learners.base import LaneSteps
from mario_rl.learners.ppo import PpoExperience, PpoLearner, generalised_advantages
from mario_rl.metrics.collectors import MarioCollector
from mario_rl.replay.buffer import ReplayBuffer
from mario_rl.snapshots.hotspots import DeathHotspotAggregate
from mario_rl.snapshots.practice import SnapshotStarts
from tests.snapshots.lives import Life, assert_same, live, steps_of, through_a_file, to_the_right

LANES, STEPS, GAMMA = 4, 300, 0.9
pytestmark = pytest.mark.usefixtures("smb_rom")


def environment(**settings: Any) -> SnapshotMarioVectorEnv:
    """Snapshots every ten steps, so that nearly every death is followed by practice."""
    chosen = {"lanes": LANES, "checkpoint_interval": 40, "fresh": 0.2, "seed": 3, "sticky": 0.1, "max_steps": 60}
    return create_snapshot_mario_vector_env(**chosen | settings)


def full_of_practice(lives: list[Life]) -> bool:
    """Fresh and practised lives that ended and that were cut, some of each."""
    kinds = Counter((life.practice, life.terminated) for life in lives if life.end)
    return len(kinds) == 4 and min(kinds.values()) >= 2


# --- returns ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_step", [1, 5])
def test_no_n_step_return_reaches_into_another_life(n_step: int) -> None:
    env = environment()
    space = env.single_observation_space
    assert isinstance(space, spaces.Box)
    buffer = ReplayBuffer(10_000, LANES, space, n_step, GAMMA, alpha=0.0, seed=0)
    lives = live(env, to_the_right(1, STEPS, LANES), listener=lambda steps, infos: buffer.add(steps))
    assert full_of_practice(lives)

    batch = buffer.sample(8000, beta=1.0)
    row_of = {int(index): row for row, index in enumerate(batch.indices)}
    checked = 0
    for life in lives:
        for step in range(len(life.rewards)):
            row = row_of.get((life.begins + step) * LANES + life.lane)
            if row is None:
                continue
            checked += 1
            rewards = life.rewards[step : step + n_step]
            assert batch.rewards[row] == pytest.approx(
                sum(reward * GAMMA**number for number, reward in enumerate(rewards)), abs=1e-4
            )
            assert batch.discounts[row] == pytest.approx(GAMMA ** len(rewards))
            np.testing.assert_array_equal(batch.states[row], life.observations[step])
            np.testing.assert_array_equal(batch.next_states[row], life.observations[step + len(rewards)])
            over = life.terminated and step + len(rewards) == len(life.rewards)
            assert batch.dones[row] == over
    assert checked == len(row_of) > 0.9 * STEPS * LANES


class Valuer(torch.nn.Module):
    """A value that is different for everything one can see."""

    def __init__(self, size: int):
        super().__init__()
        self.weights = torch.nn.Parameter(torch.linspace(-1, 1, size) / 30)

    def evaluate(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.zeros(len(x), 5), x @ self.weights


def test_no_advantage_reaches_into_another_life() -> None:
    env = environment()
    space = env.single_observation_space
    assert isinstance(space, spaces.Box)
    config = configuration.from_dict({"model": "ppo", "lanes": LANES, "collect_steps": STEPS, "gamma": GAMMA})
    model = Valuer(space.shape[0])
    experience = PpoExperience(config, PpoLearner(config, model), space, worker=0)  # type: ignore[arg-type]

    def listen(steps: LaneSteps, infos: dict[str, Any]) -> None:
        experience.act(steps.observations, 0.0, 0)
        experience.record(steps)

    lives = live(env, to_the_right(2, STEPS, LANES), listener=listen)
    assert full_of_practice(lives)
    advantages = generalised_advantages(
        experience.rewards,
        experience.values,
        experience.next_values,
        experience.terminated,
        experience.ended,
        GAMMA,
        lam=0.8,
    )
    for life in lives:
        seen = torch.from_numpy(np.stack(life.observations))
        values = model.evaluate(seen)[1].tolist()
        if life.terminated:
            values[-1] = 0.0
        wanted = 0.0
        for step in reversed(range(len(life.rewards))):
            wanted = life.rewards[step] + GAMMA * values[step + 1] - values[step] + GAMMA * 0.8 * wanted
            assert advantages[life.begins + step, life.lane] == pytest.approx(wanted, abs=1e-3)


# --- statistics ---------------------------------------------------------------------------------------------------


def test_statistics_keep_practice_apart() -> None:
    env = environment()
    collector = MarioCollector(LANES)
    lives = live(env, to_the_right(3, STEPS, LANES), listener=collector.on_steps)
    assert full_of_practice(lives)
    ended = [life for life in lives if life.end]
    fresh = [life for life in ended if not life.practice]
    practised = [life for life in ended if life.practice]
    values = collector.values()
    assert values["steps"] == STEPS * LANES
    assert values["episodes"] == len(fresh)
    assert values["practice_episodes"] == len(practised)
    assert values["reward_mean"] == pytest.approx(np.mean([sum(life.rewards) for life in fresh]), abs=1e-3)
    assert values["x_mean"] == pytest.approx(np.mean([life.end["x_pos_max"] for life in fresh]))
    assert values["episode_length"] == pytest.approx(np.mean([len(life.rewards) for life in fresh]))
    furthest = [life.end["x_pos_max"] for life in fresh] + env.lanes.episodes.best_x[~env.lanes.practice].tolist()
    assert values["best_x"] == max(furthest) < max(life.end["x_pos_max"] for life in practised)
    assert values["deaths"] == sum(bool(life.end["death"]) for life in ended)
    assert values["saves"] == env.total_saves > 0
    assert values["restores"] == env.total_restores == sum(life.practice for life in lives) > 0
    assert all(life.end["practice"] == life.practice for life in ended)


def test_a_flag_from_practice_is_no_flag_from_the_start() -> None:
    collector = MarioCollector(2)
    nothing = np.zeros((2, 1), np.float32)
    ended = np.array([True, True])
    steps = LaneSteps(nothing, np.zeros(2, np.int64), np.ones(2, np.float32), nothing, ended, ~ended)
    final = {
        "practice": np.array([True, False]),
        "flag_get": ended,
        "death": ~ended,
        "x_pos_max": np.array([3161, 3160]),
        "episode_length": np.array([10, 200]),
    }
    collector.on_steps(
        steps, {"practice": ~ended, "x_pos_max": np.array([40, 40]), "final_info": final, "_final_info": ended}
    )
    values = collector.values()
    assert (values["flags"], values["practice_flags"]) == (1, 1)
    assert (values["episodes"], values["practice_episodes"]) == (1, 1)
    assert values["best_x"] == 3160 and values["episode_length"] == 200


# --- going on exactly ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_saved_environment_goes_on_exactly(seed: int) -> None:
    settings: dict[str, Any] = {"level": "1-2" if seed == 2 else "1-1", "noop_max": 9, "seed": seed}
    original = environment(**settings)
    original.reset(seed=seed)
    list(steps_of(original, to_the_right(seed, 70 + 9 * seed, LANES)))
    assert original.total_saves > 0 and original.total_restores > 0
    state = through_a_file(original.state_dict())
    actions = to_the_right(seed + 100, 150, LANES)
    expected = list(steps_of(original, actions))
    assert sum(int(step[4]["snapshot_restored"].sum()) for step in expected) > 3
    knows = original.state_dict()

    elsewhere = environment(**settings | {"seed": 99})
    elsewhere.reset(seed=77)
    list(steps_of(elsewhere, to_the_right(5, 60, LANES)))
    for env in (environment(**settings), elsewhere):
        env.load_state_dict(state)
        for step, other in zip(expected, steps_of(env, actions), strict=True):
            assert_same(step, other)
        assert_same(knows, env.state_dict())


def test_a_state_of_another_curriculum_is_refused_and_changes_nothing() -> None:
    plain = SmbVectorEnv(LANES, sticky=0.1, max_steps=60)
    practising = environment()
    for one in (plain, practising):
        one.reset(seed=1)
    states = [plain.state_dict(), practising.state_dict()]
    with pytest.raises(ValueError, match="saved with curriculum SnapshotStarts, ours is None"):
        plain.load_state_dict(states[1])
    with pytest.raises(ValueError, match="saved with curriculum None, ours is SnapshotStarts"):
        practising.load_state_dict(states[0])
    assert_same(states, [plain.state_dict(), practising.state_dict()])


def test_a_state_of_before_there_were_curricula_still_loads() -> None:
    env = SmbVectorEnv(LANES)
    env.reset(seed=1)
    state = env.state_dict()
    del state["curriculum"], state["starts"]
    assert "practice" not in state["arrays"]
    env.load_state_dict(state)


# --- what lanes share and what they are told ----------------------------------------------------------------------


def test_lanes_are_left_alone_only_while_they_would_do_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same games with every handler asked in every step."""
    actions = to_the_right(6, STEPS, LANES)

    def told() -> list[Any]:
        env = environment(checkpoint_interval=120)
        env.reset(seed=0)
        return [step[4] for step in steps_of(env, actions)] + [env.state_dict()["starts"]]

    left_alone = told()
    stepped = SnapshotStarts.stepped

    def all_awake(self: SnapshotStarts, *args: Any) -> None:
        self._quiet[:] = 0
        stepped(self, *args)

    monkeypatch.setattr(SnapshotStarts, "stepped", all_awake)
    assert_same(left_alone, told())


def test_a_lane_goes_back_to_what_another_has_saved() -> None:
    env = environment(lanes=2, fresh=0.0, checkpoint_interval=40, sticky=0.0, noop_max=0, level="1-1")
    env.reset(seed=0)
    stands = np.array([3, 0])
    while not env.total_saves:
        env.step(stands)
    assert env.snapshots.handlers[1].total_saves == 0
    for _ in range(80):
        _, _, _, _, infos = env.step(np.array([0, 3]))
        if infos["snapshot_restored"][1]:
            return
    pytest.fail("lane 1 died and did not go back")


def test_deaths_are_counted_once_and_fade() -> None:
    hotspots = DeathHotspotAggregate(half_life=500)
    env = SmbVectorEnv(LANES, starts=SnapshotStarts(LANES, hotspots, fresh=1.0), noop_max=0)
    ended = [life for life in live(env, np.full((60, LANES), 3)) if life.end]
    assert len(ended) == 2 * LANES  # the same goomba twice
    area = int(ended[0].end["area"])
    assert hotspots.get_hotspots("1-1") == [(300, 2 * LANES)] == hotspots.get_hotspots("1-1", area=area)
    for _ in range(1000 // LANES):
        env.step(np.zeros(LANES, np.int64))
    assert hotspots.steps >= 1000
    assert hotspots.deaths("1-1")[300] <= 2 * LANES / 4


@pytest.mark.parametrize("fresh", [-0.1, 1.1, float("nan")])
def test_the_share_of_fresh_starts_is_a_share(fresh: float) -> None:
    with pytest.raises(ValueError, match="share of fresh starts is between 0 and 1"):
        SnapshotStarts(1, DeathHotspotAggregate(), fresh=fresh)


@pytest.mark.parametrize(("fresh", "practice"), [(0.0, True), (1.0, False)])
def test_the_share_of_fresh_starts(fresh: float, practice: bool) -> None:
    lives = live(environment(fresh=fresh, max_steps=None), to_the_right(8, 150, LANES))
    later = [life.practice for life in lives if life.begins > 40]
    assert len(later) > 3 and set(later) == {practice}


def test_a_snapshot_of_another_cartridge_is_refused_in_one_sentence(smb_rom: Path, tmp_path: Path) -> None:
    """When somebody gives the store what does not belong there, no game is harmed."""
    changed = bytearray(smb_rom.read_bytes())
    changed[0x7000] ^= 1
    (tmp_path / "other.nes").write_bytes(changed)
    stranger = SmbVectorEnv(1, rom=str(tmp_path / "other.nes"))
    stranger.reset(seed=0)
    env = environment(fresh=0.0, noop_max=0, sticky=0.0)
    env.reset(seed=0)
    while not len(env.snapshots.store):
        env.step(np.full(LANES, 3))
    for snapshot in env.snapshots.store:
        snapshot.state = stranger.lanes.console.save(0)
    with pytest.raises(ValueError, match="the save state belongs to another ROM"):
        for _ in range(40):
            env.step(np.full(LANES, 3))
