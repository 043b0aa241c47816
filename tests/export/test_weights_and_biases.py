"""Weights & Biases: what TensorBoard gets is in its file, and no trouble of it is a run's."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mario_rl.metrics import weights_and_biases
from mario_rl.metrics.tensorboard import TensorBoardWriter
from mario_rl.metrics.weights_and_biases import WeightsAndBiasesWriter
from mario_rl.runs.directory import RunDirectory
from tests.export.conftest import shaken_run

TINY = ["--workers", "0", "--lanes", "4", "--collect-steps", "16", "--steps", "256", "--hidden", "8"]


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """W&B without a network, and all its files in a folder of ours."""
    import wandb

    folder = tmp_path / "weights-and-biases"
    folder.mkdir()
    monkeypatch.setenv("WANDB_MODE", "offline")
    for name in ("WANDB_DIR", "WANDB_DATA_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR"):
        monkeypatch.setenv(name, str(folder))
    wandb.teardown()  # a process reads the environment once
    yield folder
    wandb.teardown()


def records(folder: Path) -> Iterator[Any]:
    """What W&B would send, from the file in which it keeps it meanwhile."""
    import wandb
    from wandb.proto import wandb_internal_pb2
    from wandb.sdk.internal.datastore import DataStore

    wandb.teardown()  # its service has written everything once it has ended, as it does with our process
    (file,) = folder.glob("wandb/offline-run-*/*.wandb")
    store = DataStore()
    store.open_for_scan(str(file))
    while (data := store.scan_data()) is not None:
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        yield record


def history(folder: Path) -> list[dict[str, float]]:
    """All points, without what W&B adds."""
    points = []
    for record in records(folder):
        if record.WhichOneof("record_type") == "history":
            values = {
                "/".join(item.nested_key) or item.key: json.loads(item.value_json) for item in record.history.item
            }
            points.append({name: value for name, value in values.items() if not name.startswith("_")})
    return points


def writer(folder: Path, warnings: list[str], **options: Any) -> WeightsAndBiasesWriter:
    return WeightsAndBiasesWriter("mario", "mine", {"lr": 0.5}, folder, warnings.append, **options)


# --- the writer ---------------------------------------------------------------------------------------------------


def test_points_are_in_the_offline_file(offline: Path, tmp_path: Path) -> None:
    warnings: list[str] = []
    board = writer(tmp_path, warnings, seconds_between=0)
    board.add("worker_0", {"reward_mean": 12.5, "loss": math.nan}, 64)
    board.add("all", {"flag_rate": 0.25}, 64)
    board.add("worker_0", {"reward_mean": 25.0}, 128)
    board.close()
    board.close()
    assert warnings == []
    assert history(offline) == [
        {"worker_0/reward_mean": 12.5, "steps": 64},
        {"all/flag_rate": 0.25, "steps": 64},
        {"worker_0/reward_mean": 25.0, "steps": 128},
    ]
    (run,) = [record.run for record in records(offline) if record.WhichOneof("record_type") == "run"]
    assert (run.project, run.display_name, run.host) == ("mario", "mine", "")
    assert {update.key: update.value_json for update in run.config.update}["lr"] == "0.5"


def test_points_of_a_source_keep_their_distance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of TensorBoard do."""
    logged: list[dict[str, float]] = []
    sent = SimpleNamespace(log=logged.append, finish=lambda: None)
    monkeypatch.setattr(weights_and_biases, "open_run", lambda *arguments: sent)
    now = 0.0
    board = writer(tmp_path, [], seconds_between=2, clock=lambda: now)
    for tick in range(9):  # every half second
        now = tick / 2
        board.add("worker_0", {"x": tick}, tick)
    board.close()
    assert [point["steps"] for point in logged] == [0, 4, 8]


def test_a_resumed_run_goes_on_with_its_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "online")
    ids: list[Any] = []
    sent = SimpleNamespace(log=lambda point: None, finish=lambda: None)
    monkeypatch.setattr(weights_and_biases, "open_run", lambda *arguments: ids.append(arguments[-1]) or sent)
    for _ in range(2):
        board = writer(tmp_path, [])
        board.add("all", {"x": 1.0}, 1)
        board.close()
    assert ids[0] and ids[0] == ids[1]


def test_a_broken_service_costs_one_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any) -> Any:
        raise OSError("no\nroute to host")

    monkeypatch.setattr(weights_and_biases, "open_run", broken)
    warnings: list[str] = []
    board = writer(tmp_path, warnings, seconds_between=0)
    for steps in range(100):
        board.add("all", {"x": 1.0}, steps)
        time.sleep(0.001)
    board.close()
    assert warnings == ["Weights & Biases: no route to host; the run goes on without it"]


def test_a_slow_service_does_not_slow_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = SimpleNamespace(log=lambda point: time.sleep(30), finish=lambda: None)
    monkeypatch.setattr(weights_and_biases, "open_run", lambda *arguments: sent)
    monkeypatch.setattr(weights_and_biases, "MOST_WAITING", 10)
    monkeypatch.setattr(weights_and_biases, "CLOSE_SECONDS", 0.1)
    warnings: list[str] = []
    board = writer(tmp_path, warnings, seconds_between=0)
    begin = time.monotonic()
    for steps in range(1000):
        board.add("all", {"x": 1.0}, steps)
    board.close()
    assert time.monotonic() - begin < 2
    assert warnings == ["Weights & Biases: it does not keep up; the run goes on without it"]


# --- the commands -------------------------------------------------------------------------------------------------


def test_train_logs_what_tensorboard_gets(
    offline: Path, smb_rom: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mario_rl: Callable[..., int]
) -> None:
    from tests.metrics.test_tensorboard import scalars

    monkeypatch.chdir(tmp_path)
    assert mario_rl("train", "--model", "ppo", *TINY, "--name", "mine", "--wandb", "mario", "--no-ui") == 0
    run = RunDirectory(Path("checkpoints/mine"))
    assert run.config().wandb == "mario"
    points = history(offline)
    tags = {name for point in points for name in point} - {"steps"}
    assert tags == set(scalars(run.tensorboard))
    assert any(name.startswith("worker_0/") for name in tags)
    for tag, values in scalars(run.tensorboard).items():
        ours = [(point["steps"], point[tag]) for point in points if tag in point]
        assert ours == [(step, pytest.approx(value)) for step, value in values]


def test_export_sends_the_curves_and_files_of_a_run_that_has_ended(
    offline: Path,
    smb_rom: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mario_rl: Callable[..., int],
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    run = shaken_run(Path("checkpoints"), "mine", "ddqn")
    board = TensorBoardWriter(run.tensorboard, seconds_between=0)
    for steps in (64, 128):
        board.add("all", {"flag_rate": steps / 256}, steps)
        board.add("worker_0", {"x_mean": steps}, steps)
    board.close()
    assert mario_rl("export", "mine", "--wandb", "mario") == 0
    assert "W&B: 4 points and 3 files: " in capfd.readouterr().out
    assert history(offline) == [
        {"all/flag_rate": 0.25, "worker_0/x_mean": 64, "steps": 64},
        {"all/flag_rate": 0.5, "worker_0/x_mean": 128, "steps": 128},
    ]
    (artifact,) = [record.artifact for record in records(offline) if record.WhichOneof("record_type") == "artifact"]
    assert {entry.path for entry in artifact.manifest.contents} == {"config.yaml", "status.json", "weights.pt"}


@pytest.mark.parametrize("command", [["train", "--wandb", "mario", *TINY], ["export", "mine", "--wandb", "mario"]])
def test_without_the_package_there_is_one_line_and_no_run(
    command: list[str],
    smb_rom: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mario_rl: Callable[..., int],
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    shaken_run(Path("checkpoints"), "mine", "ddqn")
    before = sorted(tmp_path.rglob("*"))
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "wandb" else found(name, *rest)
    )
    monkeypatch.setitem(sys.modules, "wandb", None)
    assert mario_rl(*command) == 2
    assert capfd.readouterr().err == "mario-rl: wandb is not installed: pip install 'mario-rl[wandb]'\n"
    assert sorted(tmp_path.rglob("*")) == before
