"""`--cluster local`: a real Ray on this machine, the command as users start it, and what goes wrong with it."""

from __future__ import annotations

import resource
import signal
import sys

import pytest

from mario_rl.cli import main
from mario_rl.cluster.connection import CLIENT_TRIES, Connection, _init_at
from mario_rl.config import ConfigError
from mario_rl.metrics.logger import read_rows
from mario_rl.runs.checkpoint import load_checkpoint
from tests.cluster.machines import cluster
from tests.cluster.ray_processes import actors
from tests.faults.runs import DDQN, FOREVER, PPO, Place, wait_until
from tests.faults.test_full_disk import TOO_SMALL
from tests.mistakes import assert_one_clear_line

LOCAL = ["--cluster", "local"]


def test_a_run_is_as_everywhere_else_on_disk_and_goes_on_without_the_cluster(place: Place) -> None:
    run = place.train(*PPO, *LOCAL, "--precision", "float16", "--curriculum", "snapshots", "--steps", "3000")
    assert run.wait() == 0, run.errors
    assert "SUCCESS: did its 3000 steps" in run.output
    names = {file.name for file in place.run.iterdir()}
    assert names >= {
        "checkpoint.pt", "weights.pt", "config.yaml", "status.json", "coordinator.csv", "worker_0.csv",
        "worker_1.csv", "training.log", "tensorboard", "death_hotspots.json", "deaths.csv", "snapshots",
    }  # fmt: skip
    saved = load_checkpoint(place.run / "checkpoint.pt")
    assert saved["counters"]["steps"] == place.status()["steps"] >= 3000
    assert saved["config"]["rom"] is None, "a node's paths stay on the node"
    workers = [read_rows(place.run / f"worker_{index}.csv")[-1]["steps"] for index in range(2)]
    assert sum(workers) >= saved["counters"]["steps"], "everything that was done is written down"
    assert len(list((place.run / "snapshots").glob("worker_*.json"))) == 2, "what workers share is the run's"

    further = place.resume("--cluster", "off", "--steps", "3500")
    assert further.wait() == 0, further.errors
    assert load_checkpoint(place.run / "checkpoint.pt")["counters"]["updates"] > saved["counters"]["updates"]


def test_killed_actors_have_successors_and_ctrl_c_saves(place: Place) -> None:
    run = place.train(*DDQN, *LOCAL, "--steps", FOREVER)
    run.until(lambda: place.updates() > 20 and (place.run / "checkpoint.pt").exists(), "it learns")
    (worker, *_), (coordinator,) = actors(place, "WorkerActor"), actors(place, "CoordinatorActor")

    worker.kill()
    run.until(lambda: "died of the loss of its process" in run.errors, "the death is told")
    run.until(lambda: len(actors(place, "WorkerActor")) == 2, "it has a successor")

    coordinator.kill()
    run.until(lambda: "coordinator died of the loss of its process" in run.errors, "the death is told")
    run.until(lambda: run.errors.count("the coordinator is on node") == 2, "it has a successor")
    steps = place.steps()  # of the last checkpoint: what came after it is no more
    run.until(lambda: place.steps() > steps + 200, "which goes on from there")

    of_the_run = [*actors(place, "WorkerActor"), *actors(place, "CoordinatorActor")]
    assert len(of_the_run) == 3
    run.signal_group(signal.SIGINT)  # as a terminal does at Ctrl-C
    assert run.wait() == 130
    wait_until(lambda: not any(process.is_running() for process in of_the_run), "no actor is left")
    assert f"mario-rl train --resume {place.run}" in run.output
    assert "Traceback" not in run.errors + run.output + place.log()
    assert place.status()["steps"] == place.saved_steps() > steps


def test_a_disk_that_is_full_here_is_told_and_the_end_is_honest(place: Place) -> None:
    run = place.train(*DDQN, "--cluster", "local", "--workers", "1", "--steps", FOREVER)
    run.until(lambda: place.saved_steps() > 0, "it has saved")
    _, hard = resource.prlimit(run.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (TOO_SMALL, hard))
    run.until(lambda: run.errors.count("not saved: cannot save") >= 2, "it could not save twice")
    saved = place.saved_steps()
    run.until(lambda: place.steps() > saved, "the run goes on")
    run.signal(signal.SIGINT)
    assert run.wait() == 1, run.errors
    assert "FAILED: the last checkpoint could not be saved: cannot save" in run.output
    assert f"mario-rl train --resume {place.run}" in run.output
    assert place.saved_steps() == saved, "the one before it is whole"
    assert "Traceback" not in run.errors + run.output


def test_a_killed_parent_takes_the_cluster_along(place: Place) -> None:
    run = place.train(*DDQN, *LOCAL, "--steps", FOREVER)
    run.until(lambda: (place.run / "checkpoint.pt").exists() and place.updates() > 5, "it has saved")
    run.signal(signal.SIGKILL)
    run.process.wait()
    steps = place.saved_steps()
    again = place.resume("--steps", str(steps + 300))  # which also removes what Ray had on disk
    assert again.wait() == 0, again.errors
    assert place.status()["steps"] >= steps + 300


def test_a_worker_that_cannot_begin_says_why(place: Place) -> None:
    """The parent has the ROM, and so have the nodes; what only fails there is told here."""
    run = place.train(*DDQN, *LOCAL, "--curriculum", "archive", "--explore-frames", "1", "--steps", "100")
    assert run.wait() == 2
    assert "no way through 1-1 was found" in run.errors


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--cluster", "nowhere"], "--cluster is off, local, auto or ray://host:port, not 'nowhere'"),
        (["--cluster", "ray://host"], "--cluster is off, local, auto or ray://host:port, not 'ray://host'"),
        (["--cluster", "local", "--workers", "0"], "--workers is at least 1 with --cluster, not 0"),
        (["--cluster", "local", "--save-replay"], "replays stay on their nodes"),
        (["--precision", "float8"], "--precision is one of float32, float16, not 'float8'"),
        (["--gpu-share", "0"], "--gpu-share is above 0 and at most 1, not 0"),
    ],
)
def test_mistakes(arguments: list[str], words: str, place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    place.checkpoints.mkdir()
    with pytest.raises(SystemExit) as end:
        main(["train", "--no-ui", "--checkpoints", str(place.checkpoints), *arguments])
    assert end.value.code == 2
    assert_one_clear_line(capfd, [words], place.checkpoints)


def test_no_cluster_to_join_is_one_line(place: Place) -> None:
    """Whatever else runs on this machine: other clusters of the tests do."""
    place.environment["RAY_TMPDIR"] = str(place.temporary)  # where `ray start` makes a note
    run = place.train(*DDQN, "--cluster", "auto", "--steps", "100")
    assert run.wait() == 2
    (line,) = run.errors.splitlines()
    assert "--cluster auto: this machine belongs to no Ray cluster: run ray start --head first" in line

    for where, address, words in (
        ("auto", "127.0.0.1:1", "--cluster auto: nobody answers at 127.0.0.1:1: start the head, or set RAY_ADDRESS"),
        ("auto", "nonsense", "--cluster auto: nobody answers at nonsense"),
        ("ray://127.0.0.1:1", "", "--cluster ray://127.0.0.1:1 cannot be reached: is its head running"),
    ):
        place.environment["RAY_ADDRESS"] = address
        run = place.train(*DDQN, "--cluster", where, "--steps", "100")
        assert run.wait() == 2
        (line,) = run.errors.splitlines()
        assert words in line
    assert not place.run.exists()


@pytest.mark.parametrize("wrong", ["soon", "5", "nan", "600"])
def test_a_patience_that_cannot_be_is_one_line(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARIO_RL_HEAD_SECONDS", wrong)
    with pytest.raises(ConfigError, match=f"MARIO_RL_HEAD_SECONDS is '{wrong}': give more than 5 s, and at most 50"):
        Connection("local", cpus=1)


def test_a_wrong_token_is_one_line(place: Place) -> None:
    with cluster(nodes=0) as running:
        place.environment |= {"RAY_ADDRESS": running.address, "RAY_AUTH_TOKEN": "f" * 32}
        run = place.train(*DDQN, "--cluster", "auto", "--steps", "100")
        assert run.wait() == 2
    (line,) = run.errors.splitlines()
    assert "--cluster auto: the head does not let us in: is the token in ~/.ray/auth_token its own?" in line
    assert not place.run.exists()


def test_a_head_whose_process_for_clients_hangs_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def init(address: str, **settings: object) -> None:
        asked.append(address)
        if len(asked) < CLIENT_TRIES:
            raise ConnectionAbortedError("Initialization failure from server:\nStarting Ray client server failed. See")

    monkeypatch.setattr("ray.init", init)
    _init_at("ray://head:10001", {})
    assert len(asked) == CLIENT_TRIES
    monkeypatch.setattr("ray.init", lambda address: (_ for _ in ()).throw(ConnectionError("no")))
    with pytest.raises(ConnectionError, match="no"):
        _init_at("ray://head:10001", {})


def test_without_ray_the_user_is_told_what_to_install(
    place: Place, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    place.checkpoints.mkdir()
    with pytest.raises(SystemExit) as end:
        main(["train", "--no-ui", "--cluster", "local", "--checkpoints", str(place.checkpoints)])
    assert end.value.code == 2
    assert_one_clear_line(capfd, ["pip install 'mario-rl[cluster]'"], place.checkpoints)
