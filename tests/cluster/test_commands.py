"""Whole runs on nodes, as benchmarks train them with `--cluster`: what they write arrives here, whatever is lost."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from benchmarks.nodes import Nodes, machine_of_nodes, nodes_of, side_by_side
from benchmarks.training import CommandFailed, evaluate, train
from mario_rl.cluster import commands
from mario_rl.metrics.logger import read_rows
from mario_rl.runs.checkpoint import load_checkpoint
from mario_rl.runs.directory import RunDirectory
from tests.cluster.machines import add_node, cluster, switch_off
from tests.cluster.ray_processes import actors
from tests.faults.runs import FOREVER, PPO, Place, wait_until

SETTINGS = [*PPO, "--workers", "0", "--evaluate-every", "0"]


@pytest.fixture
def running(place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr(commands, "NEWS_SECONDS", 0.5)
    place.checkpoints.mkdir()
    with cluster(nodes=1) as running:
        monkeypatch.setenv("RAY_ADDRESS", running.address)
        yield running


@pytest.fixture
def nodes(running: Any) -> Iterator[Nodes]:
    with nodes_of("auto", cores=1) as nodes:
        assert nodes is not None
        yield nodes


def test_a_run_goes_on_elsewhere_when_its_node_is_lost(
    running: Any, nodes: Nodes, place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = [*SETTINGS, "--steps", "40000"]
    with (tmp_path / "log").open("w") as log, ThreadPoolExecutor(1) as pool:
        training = pool.submit(train, place.name, settings, place.checkpoints, log, nodes)
        wait_until(lambda: place.saved_steps() >= place.first_steps() > 0, "a row and a checkpoint after it are here")
        first = place.first_steps()
        switch_off(running, next(iter(running.worker_nodes)))
        add_node(running)
        run = training.result()
        assert run.status().state == "SUCCESS"
        assert "it goes on elsewhere" in capsys.readouterr().err
        evaluate(run, 2, log, nodes)
    said = (tmp_path / "log").read_text()
    assert said.count("did its 40000 steps") == 1
    assert "0/2" in said or "1/2" in said or "2/2" in said, "the evaluation's table"
    assert run.evaluation_json.is_file() and run.weights_pt.is_file()
    assert load_checkpoint(run.checkpoint_pt)["counters"]["steps"] >= 40_000
    rows = [row["steps"] for row in read_rows(run.coordinator_csv) if "steps" in row]
    assert rows == sorted(rows) and rows[0] == first, "it was one run all the time"
    assert run.config().checkpoints == "checkpoints", "no node's paths"
    assert machine_of_nodes()["cpu"] == "a Ray cluster of 2 nodes"

    before = run.weights_pt.stat().st_mtime_ns
    assert train(place.name, settings, place.checkpoints, None, nodes).path == run.path, "it is there already"
    evaluate(run, 2, None, nodes)
    assert run.weights_pt.stat().st_mtime_ns == before


def test_a_command_that_fails_is_named_and_one_that_is_broken_off_has_saved(
    nodes: Nodes, place: Place, tmp_path: Path
) -> None:
    with (tmp_path / "log").open("w") as log, pytest.raises(CommandFailed, match="exit code 2"):
        train(place.name, ["--level", "9-9"], place.checkpoints, log, nodes)
    assert "unknown level '9-9'" in (tmp_path / "log").read_text()

    names = ["one", "other"]  # there is room for one of them, whichever it is

    def work(name: str) -> RunDirectory:
        with (tmp_path / name).open("w") as log:
            return train(name, [*SETTINGS, "--steps", FOREVER], place.checkpoints, log, nodes)

    def begun() -> list[str]:
        return [name for name in names if (place.checkpoints / name / "checkpoint.pt").is_file()]

    with ThreadPoolExecutor(1) as pool:
        everything = pool.submit(lambda: list(side_by_side(work, names, 2, nodes.stop)))
        try:
            wait_until(begun, "one of them trains")
        finally:
            nodes.stop()
        with pytest.raises(CommandFailed, match="ended with exit code"):
            everything.result()
    (name,) = begun()
    run = RunDirectory(place.checkpoints / name)
    assert run.status().state == "INTERRUPTED"
    assert run.status().steps == load_checkpoint(run.checkpoint_pt)["counters"]["steps"] > 0
    assert "mario-rl train --resume" in (tmp_path / name).read_text()
    wait_until(lambda: not actors(place, "CommandActor"), "nothing is left of it")
