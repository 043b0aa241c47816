"""What is kept: the best weights by evaluation, checkpoints when due, and what a full disk does to them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from mario_rl import config as configuration
from mario_rl.distributed import keeper as keeping
from mario_rl.distributed.coordinator import Totals, TrainingCoordinator
from mario_rl.distributed.events import Event, LocalEvents
from mario_rl.distributed.keeper import RunKeeper
from mario_rl.metrics.logger import read_rows
from mario_rl.runs.checkpoint import load_checkpoint
from mario_rl.runs.directory import RunDirectory
from mario_rl.runs.evaluate import Episode, Outcome


class Evaluations:
    """Plays nothing: the next rate of a list is the outcome, and the number of episodes is written down."""

    def __init__(self, *rates: float):
        self.rates = list(rates)
        self.episodes: list[int] = []
        self.seeds: list[int] = []

    def __call__(self, model, config, episodes, protocol, seed, threads, progress) -> Outcome:  # type: ignore[no-untyped-def]
        progress(0, episodes)
        self.episodes.append(episodes)
        self.seeds.append(seed)
        flags = round(self.rates.pop(0) * episodes)
        return Outcome(tuple(Episode("1-1", number < flags, 100 + number, 50) for number in range(episodes)))


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def keeper(tmp_path: Path, events: list[Event]) -> RunKeeper:
    settings = {"hidden": 8, "steps": 10_000, "evaluate_every": 1000, "stop_at": 0.9, "evaluate_episodes": 20}
    config = configuration.from_dict(settings | {"checkpoints": str(tmp_path), "name": "run"})
    run = RunDirectory.create(config.checkpoints, config.name, config)
    run.begin()
    return RunKeeper(run, TrainingCoordinator(config), LocalEvents("coordinator", events.append))


def play(keeper: RunKeeper, monkeypatch: pytest.MonkeyPatch, steps: int, *rates: float) -> list[int]:
    """Let `steps` be reached, with these outcomes of evaluations; how many episodes each of them had."""
    evaluations = Evaluations(*rates)
    monkeypatch.setattr(keeping, "evaluate", evaluations)
    keeper.count(Totals(steps=steps, episodes=10, flags=1))
    keeper.tick()
    assert not evaluations.rates
    return evaluations.episodes


def best_steps(keeper: RunKeeper) -> int:
    return load_checkpoint(keeper.run.best_pt)["counters"]["best_steps"]


def test_nothing_is_evaluated_before_the_first_flag(keeper: RunKeeper, events: list[Event]) -> None:
    keeper.count(Totals(steps=5000, episodes=10, flags=0))
    keeper.tick()
    assert not keeper.run.best_pt.exists()
    keeper.count(Totals(steps=5100, episodes=11, flags=1))
    assert keeper.coordinator.counters.first_flag_steps == 5100
    assert any("first flag" in event.get("text", "") for event in events)


def test_a_new_best_is_one_by_two_hundred_other_episodes(keeper: RunKeeper, monkeypatch: pytest.MonkeyPatch) -> None:
    assert play(keeper, monkeypatch, 1000, 0.3) == [20]  # too bad to spend more episodes on
    assert best_steps(keeper) == 1000
    assert play(keeper, monkeypatch, 1500) == []  # not due yet
    assert play(keeper, monkeypatch, 2000, 0.2) == [20]  # not better
    assert play(keeper, monkeypatch, 3000, 0.8, 0.25) == [20, 200]  # luck
    assert best_steps(keeper) == 1000
    assert play(keeper, monkeypatch, 4000, 0.7, 0.6) == [20, 200]
    assert best_steps(keeper) == 4000
    assert play(keeper, monkeypatch, 5000, 0.4) == [20]  # 0.4 +- 0.11 of 20 episodes is worse
    assert play(keeper, monkeypatch, 6000, 0.55, 0.8) == [20, 200]  # 0.55 +- 0.11 may be better than 0.6, and is
    assert best_steps(keeper) == 6000
    assert keeper.coordinator.counters.best_rate == 0.8 and not keeper.coordinator.finished()


def test_no_evaluation_plays_the_episodes_of_another(keeper: RunKeeper, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluations = Evaluations(0.7, 0.7, 0.95, 0.95, 0.95)
    monkeypatch.setattr(keeping, "evaluate", evaluations)
    for steps in (1000, 2000):
        keeper.count(Totals(steps=steps, episodes=10, flags=1))
        keeper.tick()
    assert len(set(evaluations.seeds)) == 5


def test_the_goal_counts_when_it_is_confirmed(keeper: RunKeeper, monkeypatch: pytest.MonkeyPatch) -> None:
    assert play(keeper, monkeypatch, 1000, 0.95, 0.85) == [20, 200]
    assert not keeper.coordinator.finished()
    assert play(keeper, monkeypatch, 2000, 0.95, 0.92, 0.88) == [20, 200, 400]  # 89 % of all 600
    assert not keeper.coordinator.finished() and best_steps(keeper) == 2000
    assert play(keeper, monkeypatch, 3000, 0.95, 0.9, 0.91) == [20, 200, 400]
    assert keeper.coordinator.finished() and best_steps(keeper) == 3000


def test_the_weights_a_run_ends_with_are_evaluated(keeper: RunKeeper, monkeypatch: pytest.MonkeyPatch) -> None:
    play(keeper, monkeypatch, 9500, 0.3)
    evaluations = Evaluations(0.7, 0.7)
    monkeypatch.setattr(keeping, "evaluate", evaluations)
    keeper.count(Totals(steps=10_000, episodes=10, flags=1))
    assert keeper.close() and evaluations.episodes == [20, 200] and best_steps(keeper) == 10_000
    assert read_rows(keeper.run.coordinator_csv)[-1]["evaluation_rate"] == 0.7


def test_weights_are_not_evaluated_twice(keeper: RunKeeper, monkeypatch: pytest.MonkeyPatch) -> None:
    play(keeper, monkeypatch, 10_000, 0.3)
    assert keeper.coordinator.finished() and keeper.close()  # with no evaluation left to be made


def test_a_goal_that_was_confirmed_before_a_resume_stays_confirmed(
    keeper: RunKeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper.coordinator.counters.confirmed = True
    monkeypatch.setattr(keeping, "evaluate", Evaluations())  # none is left to be made
    keeper.count(Totals(steps=500, episodes=10, flags=1))
    assert keeper.close() and keeper.coordinator.counters.confirmed


def test_saving_is_asked_for_or_due(tmp_path: Path, keeper: RunKeeper, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper.count(Totals(steps=10, episodes=1))
    keeper.tick()
    assert not keeper.run.checkpoint_pt.exists()
    monkeypatch.setattr(keeper, "_save_wanted", lambda: True)
    keeper.tick()
    assert load_checkpoint(keeper.run.checkpoint_pt)["counters"]["steps"] == 10
    assert keeper.run.status().steps == 10
    monkeypatch.setattr(keeper, "_save_wanted", lambda: False)
    keeper.count(Totals(steps=20, episodes=1))
    monkeypatch.setattr(keeper, "_saved", time.monotonic() - 61)
    keeper.tick()
    assert load_checkpoint(keeper.run.checkpoint_pt)["counters"]["steps"] == 20
    assert keeper.run.numbered_checkpoint(10).exists()
