"""kill -9 of a worker, the coordinator, the parent: the run goes on, or can be gone on with."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from mario_rl.cli import main
from mario_rl.runs.checkpoint import load_checkpoint
from mario_rl.runs.directory import RunDirectory
from tests.faults.runs import DDQN, FOREVER, PPO, Place, wait_until


def test_killed_children_are_replaced_and_nobody_needs_the_parent_to_listen(
    place: Place, capfd: pytest.CaptureFixture[str]
) -> None:
    run = place.train(*PPO, "--steps", FOREVER)
    run.until(lambda: place.updates() > 20, "it learns")
    coordinator, worker, other = run.children()

    worker.kill()
    run.until(lambda: "worker 0 was killed by SIGKILL; it starts again" in run.errors, "the death is told")
    reports = (place.run / "worker_0.csv").read_bytes()
    run.until(lambda: len((place.run / "worker_0.csv").read_bytes()) > len(reports), "its successor works")

    steps = place.steps()
    coordinator.kill()
    run.until(lambda: "coordinator was killed by SIGKILL; it starts again" in run.errors, "the death is told")
    run.until(lambda: place.steps() > steps, "its successor goes on from the last checkpoint")
    assert other.is_running(), "those who did well are left alone"

    run.signal(signal.SIGSTOP)
    stopped, steps = time.monotonic(), place.steps()
    run.until(lambda: time.monotonic() - stopped > 2 and place.steps() > steps, "all go on though nobody listens")
    run.signal(signal.SIGCONT)

    settings = (place.run / "config.yaml").read_bytes()
    for arguments, words in (
        (["--resume", str(place.run), "--lr", "0.5"], f"is running already, as process {run.pid}"),
        (["--name", place.name, "--checkpoints", str(place.checkpoints)], "exists already; choose another --name"),
    ):
        with pytest.raises(SystemExit) as end:
            main(["train", "--no-ui", *arguments])
        assert end.value.code == 2
        assert words in capfd.readouterr().err
    assert (place.run / "config.yaml").read_bytes() == settings, "who is refused changes nothing"

    run.signal_group(signal.SIGINT)  # as a terminal does at Ctrl-C
    assert run.wait() == 130
    assert "INTERRUPTED: stopped by the user" in run.output
    assert f"mario-rl train --resume {place.run}" in run.output
    assert "Traceback" not in run.errors + run.output + place.log()
    assert place.status()["state"] == "INTERRUPTED"
    saved = load_checkpoint(place.run / "checkpoint.pt")["counters"]
    assert saved["steps"] == place.status()["steps"] > steps

    with pytest.raises(SystemExit) as end:  # in this process, which is quicker to start
        main(["train", "--no-ui", "--resume", str(place.run), "--workers", "0", "--steps", str(saved["steps"] + 200)])
    assert end.value.code == 0
    assert "SUCCESS: did its" in capfd.readouterr().out
    assert place.status()["state"] == "SUCCESS"
    finished = load_checkpoint(place.run / "checkpoint.pt")["counters"]
    assert finished["steps"] >= saved["steps"] + 200
    assert finished["updates"] > saved["updates"]


def test_a_killed_parent_takes_its_children_along_and_the_run_goes_on_from_the_last_whole_checkpoint(
    place: Place, capfd: pytest.CaptureFixture[str]
) -> None:
    directory = RunDirectory(place.run)
    run = place.train(*DDQN, "--steps", FOREVER)
    run.until(lambda: len(directory.numbered_checkpoints()) >= 2, "it has saved some checkpoints")
    memory, children = place.shared_memory(), run.children()
    sockets = list(place.temporary.glob("mario-rl-events-*"))
    assert len(memory) == 5
    assert len(sockets) == 1
    run.signal(signal.SIGKILL)
    assert run.wait() == -signal.SIGKILL
    wait_until(lambda: not any(child.is_running() for child in children), "the children have died")
    assert place.status()["state"] == "RUNNING", "the dead cannot tell"
    assert directory.status().state == "INTERRUPTED", "but everybody knows"

    newest, good = directory.numbered_checkpoints()[:2]
    with directory.checkpoint_pt.open("r+b") as file:
        file.truncate(directory.checkpoint_pt.stat().st_size // 2)
    _flip_a_bit(newest)
    counters = load_checkpoint(good)["counters"]
    resumed = place.resume("--steps", str(counters["steps"] + 200))
    assert resumed.wait() == 0, resumed.errors
    assert f"skipped a checkpoint: {directory.checkpoint_pt} is damaged" in resumed.errors
    assert f"skipped a checkpoint: {newest} is damaged: its content does not match its checksum" in resumed.errors
    assert f"going on from {good.name}" in resumed.errors
    assert "Traceback" not in resumed.errors
    assert not set(memory) & set(place.shared_memory())
    assert not sockets[0].exists()
    assert place.status()["state"] == "SUCCESS"
    finished = load_checkpoint(directory.checkpoint_pt)["counters"]
    assert counters["steps"] + 200 <= finished["steps"]
    assert finished["updates"] > counters["updates"]

    files = [directory.checkpoint_pt, *directory.numbered_checkpoints()]
    for file in files:
        _flip_a_bit(file)
    before = {file: file.read_bytes() for file in files}
    capfd.readouterr()
    with pytest.raises(SystemExit) as end:
        main(["train", "--no-ui", "--resume", str(place.run)])
    assert end.value.code == 2
    errors = capfd.readouterr().err
    assert errors.startswith(f"mario-rl: no checkpoint of {place.run} can be read")
    assert errors.count("\n") == 1
    assert {file: file.read_bytes() for file in files} == before, "they are left for whoever can repair them"


def test_a_parent_that_is_killed_while_its_children_start(place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    run = place.train(*PPO, "--steps", FOREVER)
    run.until(lambda: "0/2 workers" in run.errors, "all processes have been started")
    children = run.children()
    assert len(children) == 3
    run.signal(signal.SIGKILL)
    run.wait()
    wait_until(lambda: not any(child.is_running() for child in children), "the children have noticed")
    assert "Traceback" not in run.errors
    with pytest.raises(SystemExit) as end:
        main(["doctor", "--clean"])
    assert end.value.code == 0
    assert place.shared_memory() == []
    assert list(place.temporary.iterdir()) == []
    capfd.readouterr()

    with pytest.raises(SystemExit) as end:
        main(["train", "--no-ui", "--resume", str(place.run), "--workers", "0", "--steps", "64"])
    assert end.value.code == 0
    assert "nothing had been saved yet: starting from the beginning" in capfd.readouterr().err
    assert place.status()["state"] == "SUCCESS"


def _flip_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) * 2 // 3] ^= 1
    file.write_bytes(content)
