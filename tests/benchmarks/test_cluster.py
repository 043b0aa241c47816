"""The benchmark of clusters: what it measures is real, what it writes says it, and nothing is left behind."""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import psutil
import pytest

from benchmarks import cluster
from benchmarks.cluster_models import vector
from benchmarks.cluster_report import cluster_section, crowd_table, limit_table
from benchmarks.cluster_runs import BYTES, GROUPS, LOADS, QUICK_GROUPS, QUICK_LOADS, Load, Setup, loads, setups
from benchmarks.measurement import System
from benchmarks.worker import WorkerFailed
from mario_rl.cluster.wire import pack

TINY = {"lanes": 2, "collect_steps": 4, "hidden": 16, "batch_size": 8, "buffer_size": 500, "learning_starts": 50}


@pytest.fixture
def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No process and no file outlives a test; in a directory with a short name, which Ray's sockets need."""
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0123456789abcdef0123456789abcdef")
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
        monkeypatch.setenv("TMPDIR", temporary)
        monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "torch"))  # which torch never removes
        monkeypatch.setattr(tempfile, "tempdir", temporary)
        yield
        assert list(Path(temporary).iterdir()) == []
    assert [child.name() for child in psutil.Process().children() if "ray" in child.name()] == []


def test_a_run_of_actors_and_a_loaded_coordinator_are_measured_and_leave_nothing(
    smb_rom: Path, tmp_path: Path, nothing_left: None
) -> None:
    from benchmarks.cluster_capacity import Capacity
    from benchmarks.cluster_training import NEVER, ActorTraining, local_cluster
    from benchmarks.gradient_training import endless_config

    load, together = Load("ddqn", "float16", 1), Load("ppo", "float32", 2)
    with local_cluster(cpus=4):
        config = endless_config(str(smb_rom), 1, None, **TINY, **NEVER)
        with closing(ActorTraining(config, tmp_path / "runs", warm_up_gradients=3)) as run:
            answer = run.measure(seconds=0.5)
            assert answer["units"] > 0
            assert answer["coordinator_cpu_s"] > 0
            assert 0.4 < answer["wall_s"] < 60
        with closing(Capacity(str(smb_rom), [load, together])) as capacity:
            answer = capacity.measure(load, seconds=0.5)
            for _ in range(2):  # senders of ppo wait for each other, and not for those that have ended
                both = capacity.measure(together, seconds=0.5)
                assert both["units"] > 0 and abs(both["units"] - 2 * both["updates"]) <= 4
    figures = cluster.load_figures(load, [answer], gradient=225_670)
    assert figures["gradients_per_s"] > 0
    assert 0 < figures["updates_per_s"] < figures["gradients_per_s"] * 1.5
    assert figures["raylet_cpu_share"] >= 0


def test_bytes_are_those_that_travel() -> None:
    for precision, size in BYTES.items():
        assert pack(np.ones(1000, np.float32), precision).nbytes == 1000 * size
    answer = {"units": 30, "updates": 15, "wall_s": 3.0, "coordinator_cpu_s": 1.5, "raylet_cpu_s": 0.3}
    assert cluster.load_figures(Load("ddqn", "float16", 2), [answer], gradient=1_000_000) == {
        "model": "ddqn", "precision": "float16", "senders": 2, "gradients_per_s": 10.0, "updates_per_s": 5.0,
        "in_mb_per_s": 20.0, "out_mb_per_s": 10.0, "coordinator_cpu_share": 0.5, "raylet_cpu_share": 0.1,
        "gradients_per_cpu_s": 20.0,
    }  # fmt: skip


def test_a_worker_fetches_what_it_goes_on_with() -> None:
    ddqn, laptop, ppo = vector("ddqn", None), vector("ddqn", "laptop"), vector("ppo", None)
    assert ddqn["weights"] == 2 * ddqn["gradient"], "a target network"
    assert ddqn["fetched"] == ddqn["weights"], "one gradient a round"
    assert laptop["fetched"] == round(laptop["gradient"] * 1.25), "four gradients a round"
    assert ppo["fetched"] == ppo["weights"] == ppo["gradient"]


def test_the_pace_of_a_worker_becomes_bytes_on_a_network() -> None:
    answers = [{"units": rate, "wall_s": 1.0} for rate in (9.0, 10.0, 90.0)]
    processes = System("processes", "python", "x", [], answers={"ppo_laptop1": answers})
    sizes = {"model": "ppo", "preset": "laptop", "gradient": 100_000, "fetched": 150_000}
    found = cluster.pace(sizes, processes)
    assert found == {"gradients_per_s": 10.0, "mb_per_s": {"float32": 10.0, "float16": 5.0}}
    nothing = {"gradients_per_s": None, "mb_per_s": {"float32": None, "float16": None}}
    assert cluster.pace(sizes | {"preset": None}, processes) == nothing


def test_every_name_stands_for_one_thing() -> None:
    for known, find in (
        ({setup for group in (*GROUPS, *QUICK_GROUPS) for setup in (*group.processes, *group.actors)}, setups),
        ({*LOADS, *QUICK_LOADS}, loads),
    ):
        assert {find([one.name])[0] for one in known} == known
    for group in GROUPS:
        names = {setup.name for setup in group.processes}
        assert {setup.name.removesuffix("_float16") for setup in group.actors} <= names, "it has something to be beside"
    assert Setup("ddqn", "laptop", 2, "float16").name == "ddqn_laptop2_float16"


class MadeUp(cluster.Started):
    """Answers at once what could have been measured."""

    def start(self, rom_file: str) -> None:
        self.worker, self.version = MadeUpWorker(), "1.2.3"  # type: ignore[assignment]


class MadeUpWorker:
    closed: ClassVar[list[MadeUpWorker]] = []
    turn = itertools.count(1)

    def ask(self, measurement: str, seconds: float) -> dict[str, float]:
        return {"units": 100.0 + next(self.turn), "updates": 50.0, "wall_s": seconds} | dict.fromkeys(
            ("coordinator_cpu_s", "raylet_cpu_s"), seconds / 4
        )

    def close(self) -> None:
        self.closed.append(self)


@pytest.mark.parametrize("quick", [False, True])
def test_figures_become_a_section(quick: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "Started", MadeUp)
    sizes = {"gradient": 225_670, "weights": 451_340, "fetched": 451_340}
    models = ("ddqn", "dreamer", "ppo")
    known = [{"model": model, "preset": preset} | sizes for model in models for preset in (None, "laptop")]
    monkeypatch.setattr(cluster, "vectors_of_models", lambda rom_file: known)
    MadeUpWorker.closed.clear()
    report = json.loads(json.dumps(cluster.figures("smb.nes", quick)))
    assert len(MadeUpWorker.closed) == 2 * len(QUICK_GROUPS if quick else GROUPS) + 1
    assert all(ratio > 0 for ratio in report["ratios"].values())

    section = cluster_section(report)
    assert ("`--quick`" in section) is quick
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| ")]
    trained = [row for row in rows if row[0] == "| ddqn, `--preset laptop`" and row[1] == "2"]
    assert len(trained) == 1
    assert trained[0][-2] != "-", "float16 at two workers"
    assert len([row for row in rows if row[0] == "| ddqn: 225,670 numbers"]) == (4 if quick else 8)
    assert len([row for row in rows if row[1] == "225,670"]) == 6, "every model"
    assert "0.90 / 0.45" in section, "megabytes of a gradient"
    assert "None" not in section


def test_a_full_coordinator_asks_for_larger_gradients() -> None:
    load = {"model": "ddqn", "precision": "float32", "gradients_per_cpu_s": 200.0}
    smaller, halved = (
        load | {"gradients_per_cpu_s": 90.0},
        load | {"precision": "float16", "gradients_per_cpu_s": 999.0},
    )
    model = {"model": "ddqn", "preset": None, "gradient": 1_000_000, "fetched": 2_000_000, "gradients_per_s": 5.0}
    unknown = model | {"model": "ppo"}
    report = {"loads": [smaller, load, halved], "models": [model, model | {"gradients_per_s": 250.0}, unknown]}
    assert limit_table(report).splitlines()[2:] == [
        "| ddqn, defaults | 5.0 | 200 | **40.0** | 800 | 1,600 |",
        "| ddqn, defaults | 250.0 | 200 | **0.8** | 800 | 1,600 |",
    ]
    assert crowd_table(report).splitlines()[2:5] == [
        "| ddqn, defaults | 10 | 50 | 200 | 400 | 0.25 | 1 |",
        "| ddqn, defaults | 100 | 500 | 2,000 | 4,000 | 2.50 | 3 |",
        "| ddqn, defaults | 1,000 | 5,000 | 20,000 | 40,000 | 25.00 | 25 |",
    ]


def test_a_part_that_fails_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fails(MadeUp):
        def start(self, rom_file: str) -> None:
            raise WorkerFailed("cluster_actors ended with exit code 2; its own words are above")

    MadeUpWorker.closed.clear()
    with pytest.raises(WorkerFailed):
        cluster.take_turns([MadeUp("a", "python", "x", []), Fails("b", "python", "x", [])], "smb.nes", 1, 0.1)
    assert len(MadeUpWorker.closed) == 1


@pytest.mark.parametrize(
    ("without", "words"),
    [(True, "needs Ray, which is not installed: pip install 'mario-rl[cluster]'"), (False, "its own words are above")],
)
def test_what_cannot_be_is_one_line(
    without: bool, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*arguments: Any) -> None:
        raise WorkerFailed("cluster_actors ended with exit code 2; its own words are above")

    monkeypatch.setattr(cluster, "figures", fail)
    monkeypatch.setattr(sys, "argv", ["cluster", "--rom", "smb.nes"])
    if without:
        monkeypatch.setitem(sys.modules, "ray", None)
    assert cluster.main() == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line
