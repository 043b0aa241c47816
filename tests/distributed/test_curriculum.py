"""Curricula in a run: exact resume, steps that exploring took, cloning, and what is left to those who come later."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mario_rl import config as configuration
from mario_rl.config import ConfigError, TrainingConfig
from mario_rl.distributed.coordinator import Totals, TrainingCoordinator
from mario_rl.distributed.curriculum import warm_start, worker_curriculum
from mario_rl.distributed.events import LocalEvents
from mario_rl.distributed.worker import TrainingWorker
from mario_rl.metrics import DeathHotspotAggregate
from mario_rl.runs import training
from mario_rl.runs.directory import RunDirectory
from mario_rl.snapshots.curricula import BackwardStarts
from mario_rl.snapshots.preparation import KnownWay, PreparationBrokenOff
from mario_rl.snapshots.routes import RouteError, packaged_route
from tests.distributed.test_in_process import DDQN, DREAMER, PPO, flattened, run_through

pytestmark = pytest.mark.usefixtures("smb_rom")


@pytest.fixture
def routes(tmp_path: Path) -> Path:
    """A directory with a route through 1-1 that cost nothing."""
    directory = tmp_path / "given"
    directory.mkdir()
    dataclasses.replace(packaged_route("1-1"), found={}).save(directory / "1-1.json")
    return directory


def new_run(settings: dict[str, Any]) -> tuple[RunDirectory, TrainingConfig, Totals]:
    config = configuration.from_dict(settings)
    run, before = training.begin(config)
    return run, config, training.prepare(run, before, lambda text: True)


@pytest.mark.parametrize(
    "settings",
    [
        PPO | {"curriculum": "snapshots", "half_life": 500},
        DREAMER | {"curriculum": "snapshots", "half_life": 500},
        PPO | {"curriculum": "archive", "actions": "complex"},
        PPO | {"curriculum": "demo", "actions": "complex", "clone_steps": 20},
        DDQN | {"curriculum": "demo", "actions": "complex", "clone_steps": 20},
    ],
    ids=["snapshots", "snapshots with dreamer", "archive", "demo", "demo with ddqn"],
)
def test_a_run_that_was_interrupted_ends_as_one_that_was_not(
    settings: dict[str, Any], tmp_path: Path, routes: Path
) -> None:
    steps = 1500 if settings["curriculum"] == "snapshots" else 500  # long enough for some to die and be restored
    common = settings | {"checkpoints": str(tmp_path / "runs"), "routes": str(routes), "lr_steps": steps}
    run, config, before = new_run(common | {"steps": steps, "name": "whole"})
    expected = run_through(run, config, before)
    metrics = expected["workers"][0]["collector"]["MarioCollector"]["metrics"]
    assert metrics["practice_episodes"][0] > 0

    run, config, before = new_run(common | {"steps": steps // 3, "name": "half"})
    half = run_through(run, config, before)
    assert 0 < half["counters"]["steps"] < steps
    resumed_config = configuration.from_dict(common | {"steps": steps, "name": "half"})
    before, _ = training.resume(run, resumed_config)
    before = training.prepare(run, before, lambda text: pytest.fail("it is prepared already"))
    resumed = run_through(run, resumed_config, before)
    assert flattened(resumed) == flattened(expected)


def test_steps_that_were_explored_count_as_steps_of_the_run(tmp_path: Path) -> None:
    settings = PPO | {"curriculum": "archive", "level": "1-4", "checkpoints": str(tmp_path), "name": "explorer"}
    told: list[str] = []
    config = configuration.from_dict(settings)
    run, before = training.begin(config)
    before = training.prepare(run, before, lambda text: told.append(text) is None)
    explored = KnownWay(run.path, config).route("1-4").found["frames"]
    assert before.steps == explored // 4 > 0
    assert told and all("1-4" in text for text in told)
    run_through(run, dataclasses.replace(config, steps=before.steps + 100), before)
    assert run.status().steps >= before.steps + 100
    states = list(KnownWay(run.path, config).archive())
    assert len(states) > 20 and {snapshot.level for snapshot in states} == {"1-4"}


def test_what_was_found_before_the_user_had_enough_is_kept(tmp_path: Path, routes: Path) -> None:
    settings = PPO | {"curriculum": "demo", "level": "1-1,8-4", "actions": "complex", "checkpoints": str(tmp_path)}
    config = configuration.from_dict(settings)
    run, before = training.begin(config)
    (run.path / "routes").mkdir()
    packaged_route("1-1").save(run.path / "routes" / "1-1.json")
    with pytest.raises(PreparationBrokenOff):
        training.prepare(run, before, lambda text: False)
    assert sorted(file.name for file in (run.path / "routes").iterdir()) == ["1-1.json"]


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"explore_frames": 5000}, ConfigError, "no way through 1-1 was found in .* frames with --actions right_only"),
        ({"frame_skip": 2}, ConfigError, "--curriculum demo needs --frame-skip 4, not 2"),
        ({"routes": "nowhere"}, RouteError, "cannot read nowhere/1-1.json: No such file"),
    ],
)
def test_a_way_that_cannot_be_known(
    settings: dict[str, Any], error: type[Exception], words: str, tmp_path: Path
) -> None:
    config = configuration.from_dict(PPO | {"curriculum": "demo", "checkpoints": str(tmp_path)} | settings)
    run, before = training.begin(config)
    with pytest.raises(error, match=words):
        training.prepare(run, before, lambda text: True)


def test_a_route_of_other_buttons_is_refused(tmp_path: Path, routes: Path) -> None:
    pads = set(packaged_route("1-1").level_pads())
    assert pads - {0x00, 0x80, 0x81, 0xC0, 0xC1}, "else this shows nothing"
    config = configuration.from_dict(PPO | {"curriculum": "demo", "routes": str(routes), "checkpoints": str(tmp_path)})
    run, before = training.begin(config)
    with pytest.raises(RouteError, match="presses buttons that --actions does not have"):
        training.prepare(run, before, lambda text: True)


@pytest.mark.parametrize("model", [PPO, DDQN, DREAMER], ids=["ppo", "ddqn", "dreamer"])
def test_a_warm_start_does_what_was_demonstrated(model: dict[str, Any], tmp_path: Path, routes: Path) -> None:
    settings = model | {"curriculum": "demo", "actions": "complex", "routes": str(routes), "hidden": 64}
    run, config, _ = new_run(settings | {"checkpoints": str(tmp_path), "clone_steps": 250})
    coordinator = TrainingCoordinator(config)
    shown = KnownWay(run.path, config).demonstrations()[0]

    def agreement() -> float:
        chosen = coordinator.flat.model.select_action(torch.from_numpy(shown.observations))
        return float((chosen.numpy() == shown.actions).mean())

    before = agreement()
    warm_start(coordinator, run.path)
    assert before < 0.5 < 0.8 < agreement()
    if model is DDQN:
        weights = dict(coordinator.flat.model.named_parameters())
        target = {name: value for name, value in weights.items() if name.startswith("target")}
        assert target
        for name, value in target.items():
            assert torch.equal(value, weights[name.replace("target", "online", 1)])


def test_imitation_fades_over_the_run_and_moves_the_gradient(tmp_path: Path, routes: Path) -> None:
    settings = PPO | {"curriculum": "demo", "actions": "complex", "routes": str(routes), "checkpoints": str(tmp_path)}
    run, config, _ = new_run(settings | {"imitation": 0.2, "imitation_until": 0.5, "steps": 1000})
    curriculum = worker_curriculum(run.path, config, 0, warn=pytest.fail)
    learner = TrainingWorker(config, 0, LocalEvents("worker_0", lambda event: None), curriculum).learner
    weights = [curriculum._demonstrations.weight(progress) for progress in (0.0, 0.25, 0.5, 1.0)]  # type: ignore[union-attr]
    assert weights == pytest.approx([0.2, 0.1, 0.0, 0.0])
    assert curriculum.imitation_loss(learner, 0.25).item() > 0  # type: ignore[union-attr]
    assert curriculum.imitation_loss(learner, 0.5) is None


def test_a_worker_that_died_goes_on_about_where_it_was(tmp_path: Path, routes: Path) -> None:
    settings = PPO | {"curriculum": "demo", "actions": "complex", "routes": str(routes), "checkpoints": str(tmp_path)}
    run, config, _ = new_run(settings)
    first, second = (worker_curriculum(run.path, config, 0, warn=pytest.fail).starts for _ in range(2))
    assert isinstance(first, BackwardStarts) and isinstance(second, BackwardStarts)
    first.point["1-1"] //= 3
    second.continue_from({"curriculum_progress": float(first.info()["curriculum_progress"][0])})
    assert second.point == first.point
    second.continue_from({})
    assert second.progress == 0


def test_workers_learn_from_each_others_snapshots_and_from_the_runs_deaths(tmp_path: Path) -> None:
    config = configuration.from_dict(PPO | {"workers": 2, "curriculum": "snapshots", "checkpoints": str(tmp_path)})
    run, _ = training.begin(config)
    said: list[str] = []
    workers = []
    for index in range(2):
        curriculum = worker_curriculum(run.path, config, index, warn=said.append)
        workers.append(TrainingWorker(config, index, LocalEvents(f"worker_{index}", lambda event: None), curriculum))
    for _ in range(20):
        workers[0].collect(0)
        list(workers[0].gradients(0))
    stores = [worker.curriculum.starts.store for worker in workers]  # type: ignore[union-attr]
    assert len(stores[0]) > 0 == len(stores[1])
    hotspots = DeathHotspotAggregate.load_or_create(run.death_hotspots_json)
    hotspots.record_deaths_batch("1-1", [1210] * 5, area=7)
    hotspots.save()
    for worker in workers:
        worker.curriculum.close()
    assert {snapshot.state for snapshot in stores[1]} >= {snapshot.state for snapshot in stores[0]}
    assert workers[1].curriculum.starts.hotspots.get_hotspots("1-1", area=7) == [(1200, 5)]  # type: ignore[union-attr]
    assert not said

    late = worker_curriculum(run.path, config, 1, warn=said.append)
    assert len(late.starts.store) == len(stores[1])  # type: ignore[union-attr]

    (run.path / "snapshots" / "worker_0.json").write_bytes(b'{"version": 1, "snapshots": [{"level"')
    run.death_hotspots_json.write_text("[1, 2")
    worker_curriculum(run.path, config, 1, warn=said.append)
    assert len(said) == 2 and "does not hold hotspots" in said[0] and "does not hold snapshots" in said[1]


def test_a_run_keeps_its_deaths_as_hotspots(tmp_path: Path) -> None:
    settings = PPO | {"steps": 3000, "checkpoints": str(tmp_path), "half_life": 10**9}
    config = configuration.from_dict(settings)
    run, before = training.begin(config)
    run_through(run, config, before)
    rows = [line.split(",") for line in run.deaths_csv.read_text().splitlines()[1:]]
    assert rows
    kept = DeathHotspotAggregate.load_or_create(run.death_hotspots_json)
    counted: dict[int, int] = {}
    for _, _, _, x in rows:
        counted[int(x) // 25 * 25] = counted.get(int(x) // 25 * 25, 0) + 1
    assert {x: round(count) for x, count in kept.deaths("1-1").items()} == counted
    assert np.isclose(kept.steps, 3000, atol=200)
