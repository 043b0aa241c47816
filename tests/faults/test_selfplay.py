"""Runs of self-play that come to harm: Ctrl-C, kill -9, a full disk, a torn checkpoint, wrong words."""

from __future__ import annotations

import resource
import signal

import pytest

from mario_rl.cli import main
from mario_rl.runs.checkpoint import load_checkpoint
from tests.faults.runs import FOREVER, Command, Place

TINY = ["--envs", "16", "--rollout", "512", "--batch-size", "128", "--hidden", "8", "--value-hidden", "8"]
TINY += ["--level", "0", "--evaluate-every", "0", "--checkpoint-every", "1000", "--workers", "1"]


def train(place: Place, *settings: str) -> Command:
    where = ["--name", place.name, "--checkpoints", str(place.checkpoints)]
    return place.command("selfplay", "train", *TINY, *where, *settings)


def test_ctrl_c_saves_and_says_how_to_go_on_and_a_killed_run_can_be_gone_on_with(place: Place) -> None:
    checkpoint = place.run / "checkpoint.pt"
    run = train(place, "--steps", FOREVER)
    run.until(checkpoint.exists, "it has saved")
    run.signal_group(signal.SIGINT)  # as a terminal does
    assert run.wait() == 130
    assert f"mario-rl selfplay train --resume {place.run}" in run.output
    assert place.status()["state"] == "INTERRUPTED"
    stopped_at = place.saved_steps()

    again = place.command("selfplay", "train", "--resume", str(place.run))
    again.until(lambda: place.saved_steps() > stopped_at, "it goes on")
    again.signal(signal.SIGKILL)
    again.wait()
    # the worker notices by itself: `place` looks whether anybody is left

    killed_at = place.saved_steps()
    checkpoint.write_bytes(checkpoint.read_bytes()[:-100])  # torn
    enough = str(killed_at + 600)
    last = place.command("selfplay", "train", "--resume", str(place.run), "--steps", enough)
    assert last.wait() == 0, last.errors
    assert "skipped a checkpoint" in last.errors
    assert "SUCCESS: all decisions made" in last.output
    assert place.saved_steps() >= int(enough)


def test_a_disk_that_is_full_for_a_while(place: Place) -> None:
    checkpoint = place.run / "checkpoint.pt"
    run = train(place, "--steps", FOREVER)
    run.until(checkpoint.exists, "it has saved")
    _limit(run, 4_000)
    run.until(lambda: run.errors.count("not written: ") >= 2, "it could not save")
    before = checkpoint.read_bytes()
    load_checkpoint(checkpoint)
    _limit(run, resource.RLIM_INFINITY)
    run.until(lambda: checkpoint.read_bytes() != before, "there is room again, and it saves")
    run.signal(signal.SIGTERM)
    assert run.wait() == 130
    load_checkpoint(checkpoint)


BUTTONS = ["--env", "frames", "--imitation-rounds", "2", "--imitation-lanes", "8", "--envs", "4", "--n-steps", "32"]
BUTTONS += ["--solo-steps", "0", "--checkpoint-minutes", "0.001", "--evaluate-every", "0", "--width", "8"]


def test_the_agent_of_buttons_through_a_full_disk_and_kill_9(place: Place) -> None:
    checkpoint = place.run / "checkpoint.pt"

    def saved() -> int:
        return int(load_checkpoint(checkpoint)["steps"])

    where = ["--name", place.name, "--checkpoints", str(place.checkpoints)]
    run = place.command("selfplay", "train", *BUTTONS, *where, "--steps", FOREVER)
    run.until(lambda: checkpoint.exists() and saved() > 0, "it has saved in its second stage")
    _limit(run, 4_000)
    run.until(lambda: run.errors.count("not written: ") >= 2, "it could not save")
    before = saved()
    _limit(run, resource.RLIM_INFINITY)
    run.until(lambda: saved() > before, "there is room again, and it saves")
    run.signal(signal.SIGKILL)
    run.wait()

    killed_at = saved()
    again = place.command("selfplay", "train", "--resume", str(place.run))
    again.until(lambda: saved() > killed_at, "it goes on")
    again.signal_group(signal.SIGINT)
    assert again.wait() == 130
    assert f"mario-rl selfplay train --resume {place.run}" in again.output
    assert place.status()["state"] == "INTERRUPTED"


def _limit(run: Command, size: int) -> None:
    _, hard = resource.prlimit(run.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (size, hard))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--preset", "mainframe"], "unknown preset 'mainframe'; use one of laptop"),
        (["--level", "21"], "--level is 0 to 20"),
        (["--env", "pixels"], "--env is one of placement, frames"),
        (["--resume", "nowhere"], "no run 'nowhere'"),
        (["--teacher", "search"], "--teacher is for --env frames"),
        (["--env", "frames", "--pool-bots", "greedy"], "--pool-bots is not for --env frames"),
    ],
)
def test_wrong_words_are_one_line(
    words: list[str],
    message: str,
    place: Place,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["selfplay", "train", "--checkpoints", str(place.checkpoints), *words])
    assert end.value.code == 2
    error = capfd.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not place.checkpoints.exists() or list(place.checkpoints.iterdir()) == []
