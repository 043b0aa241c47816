"""A disk that is full while a run saves: the old checkpoint stays whole, the run goes on, and its end is honest."""

from __future__ import annotations

import resource
import signal

from mario_rl.runs.checkpoint import load_checkpoint
from tests.faults.runs import DDQN, FOREVER, Command, Place

TOO_SMALL = 50_000  # bytes that a file may have; a checkpoint has more, logs have less


def test_a_disk_that_is_full_for_a_while_and_then_for_good(place: Place) -> None:
    checkpoint = place.run / "checkpoint.pt"
    run = place.train(*DDQN, "--workers", "1", "--steps", FOREVER)
    run.until(lambda: place.updates() > 5 and checkpoint.exists(), "it learns")
    assert checkpoint.stat().st_size > TOO_SMALL
    _limit(run, TOO_SMALL)
    run.until(lambda: run.errors.count("not saved: cannot save") >= 2, "it could not save twice")
    before = checkpoint.read_bytes()
    steps = load_checkpoint(checkpoint)["counters"]["steps"]
    assert place.steps() > steps, "the run goes on"
    assert list(place.run.glob(".*.tmp")) == []

    _limit(run, resource.RLIM_INFINITY)
    run.until(lambda: checkpoint.read_bytes() != before, "there is room again, and it saves")
    assert load_checkpoint(checkpoint)["counters"]["steps"] > steps

    _limit(run, TOO_SMALL)
    failures = run.errors.count("not saved: cannot save")
    run.until(lambda: run.errors.count("not saved: cannot save") > failures, "the disk is full again")
    before = checkpoint.read_bytes()
    run.signal_group(signal.SIGTERM)  # as `timeout` does
    assert run.wait() == 1
    assert "FAILED: coordinator died of RuntimeError: the last checkpoint could not be saved" in run.output
    assert f"mario-rl train --resume {place.run}" in run.output
    assert place.status()["state"] == "FAILED"
    assert checkpoint.read_bytes() == before
    load_checkpoint(checkpoint)


def _limit(run: Command, size: int) -> None:
    """Let no process of a run make a file longer than so many bytes."""
    for pid in [run.pid, *(child.pid for child in run.children())]:
        _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))
