"""Ctrl-C, a termination, a closed terminal, at any moment: a clean end that says how to go on."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from mario_rl.cli import main
from mario_rl.runs.checkpoint import load_checkpoint
from tests.faults.runs import FOREVER, PPO, Command, Place


def test_ctrl_c_while_modules_are_imported(place: Place) -> None:
    run = place.train(*PPO, "--steps", FOREVER)
    run.until(lambda: _has_mapped(run, "libtorch"), "torch is being imported")
    run.signal_group(signal.SIGINT)
    assert run.wait() == 130
    assert run.errors == "mario-rl: interrupted\n"
    assert run.output == ""
    assert not place.run.exists()


def _has_mapped(run: Command, library: str) -> bool:
    try:
        return library in Path(f"/proc/{run.pid}/maps").read_text()
    except OSError:
        return False


def test_a_terminal_that_closes_while_children_start(place: Place) -> None:
    """The whole group gets SIGHUP, the children even before they can say that they do not want it."""
    run = place.train(*PPO, "--steps", FOREVER)
    run.until(lambda: len(run.children()) == 3, "the processes are started")
    run.signal_group(signal.SIGHUP)
    assert run.wait() == 130, run.errors
    assert "INTERRUPTED: stopped by the user" in run.output
    assert "SIGHUP" not in run.errors, "no child died of it"
    assert "Traceback" not in run.errors + run.output + place.log()
    assert place.status()["state"] == "INTERRUPTED"
    load_checkpoint(place.run / "checkpoint.pt")


def test_ctrl_c_twice_ends_at_once(place: Place) -> None:
    run = place.train(*PPO, "--steps", FOREVER)
    run.until(lambda: len(run.children()) == 3, "the processes are started")
    run.signal_group(signal.SIGINT)
    run.until(lambda: "stopping: the run is being saved" in run.errors, "it has heard")
    run.signal_group(signal.SIGINT)
    assert run.wait() == 130, run.errors
    assert "Traceback" not in run.errors + run.output
    assert place.status()["state"] == "INTERRUPTED"


def test_a_termination_of_a_run_in_one_process_which_then_goes_on(place: Place) -> None:
    run = place.train(*PPO, "--workers", "0", "--steps", FOREVER)
    run.until(lambda: place.updates() > 5, "it learns")
    run.signal(signal.SIGTERM)
    assert run.wait() == 130, run.errors
    assert "INTERRUPTED: stopped by the user" in run.output
    assert "Traceback" not in run.errors
    saved = place.saved_steps()
    assert saved == place.status()["steps"] > 0
    with pytest.raises(SystemExit) as end:
        main(["train", "--no-ui", "--resume", str(place.run), "--steps", str(saved + 200)])
    assert end.value.code == 0
    assert place.status()["state"] == "SUCCESS"
    assert place.status()["steps"] >= saved + 200
