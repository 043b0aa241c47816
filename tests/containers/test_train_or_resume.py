"""docker/train_or_resume.sh: what it starts, for what there is. A program that says its arguments stands for ours."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from .dockerfile import DOCKER

SCRIPT = DOCKER / "train_or_resume.sh"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    file = tmp_path / "mario-rl"
    file.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\nexit 130\n')
    file.chmod(0o755)
    return file


def _run(program: Path, *options: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "MARIO_RL": str(program), "CHECKPOINTS": str(program.parent / "runs")}
    return subprocess.run(
        [str(SCRIPT), *options], env=environment | settings, capture_output=True, text=True, timeout=60, check=False
    )


def _arguments(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Those of mario-rl; its exit code is passed on."""
    assert done.returncode == 130 and done.stderr == "", done
    return done.stdout.splitlines()[1:]


def _given(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    arguments = [word for word in _arguments(done) if word != "--no-ui"]
    assert arguments[0] == "train"
    return dict(zip(arguments[1::2], arguments[2::2], strict=True))


def _make_run(program: Path, name: str, state: str, steps: int = 1000) -> Path:
    run = program.parent / "runs" / name
    run.mkdir(parents=True)
    (run / "status.json").write_text(json.dumps({"state": state, "why": "", "steps": steps}, indent=2) + "\n")
    (run / "config.yaml").write_text(f"lr_steps: 7\nsteps: {steps}\ncollect_steps: 9\n")
    return run


def test_it_begins(program: Path) -> None:
    runs = str(program.parent / "runs")
    begun = {"--model": "ppo", "--level": "1-1", "--seed": "0", "--name": "ppo-1-1", "--preset": "laptop"}
    assert _given(_run(program)) == begun | {"--checkpoints": runs}
    empty = dict.fromkeys(("NAME", "MODEL", "LEVEL", "PRESET", "WORKERS", "STEPS", "SEED", "DEVICE", "UI"), "")
    assert _given(_run(program, **empty)) == begun | {"--checkpoints": runs}

    settings = {"MODEL": "ddqn", "LEVEL": "1-2", "PRESET": "none", "WORKERS": "0", "STEPS": "5", "SEED": "3"}
    given = _given(_run(program, "--lanes", "8", **settings, NAME="mine", DEVICE="cuda"))
    assert given == {
        "--model": "ddqn", "--level": "1-2", "--seed": "3", "--name": "mine", "--workers": "0", "--steps": "5",
        "--device": "cuda", "--lanes": "8", "--checkpoints": runs,
    }  # fmt: skip


def test_the_dashboard_is_for_those_who_want_it(program: Path) -> None:
    assert "--no-ui" in _arguments(_run(program))
    assert "--no-ui" not in _arguments(_run(program, UI="1"))


@pytest.mark.parametrize("state", ["RUNNING", "INTERRUPTED", "FAILED", "damaged"])
def test_it_goes_on(program: Path, state: str) -> None:
    run = _make_run(program, "mine", state)
    if state == "damaged":
        (run / "status.json").write_text("{")
    given = _given(_run(program, NAME="mine", WORKERS="2", PRESET="robust", SEED="4"))
    assert given == {"--resume": str(run), "--workers": "2", "--checkpoints": str(run.parent)}
    given = _given(_run(program, NAME="mine", MODEL="ddqn", LEVEL="1-3"))
    assert (given["--model"], given["--level"]) == ("ddqn", "1-3")  # mario-rl says whether that fits


def test_a_finished_run_is_left_alone_unless_it_is_to_go_further(program: Path) -> None:
    run = _make_run(program, "mine", "SUCCESS", steps=1000)
    for settings in ({}, {"STEPS": "1000"}, {"STEPS": "999"}):
        done = _run(program, NAME="mine", **settings)
        assert (done.returncode, done.stderr) == (0, "") and "finished" in done.stdout
        assert done.stdout.count("\n") == 1
    assert _given(_run(program, NAME="mine", STEPS="1001"))["--resume"] == str(run)


def test_a_container_waits_when_its_run_is_finished(program: Path) -> None:
    _make_run(program, "mine", "SUCCESS")
    environment = {"PATH": os.environ["PATH"], "CHECKPOINTS": str(program.parent / "runs"), "NAME": "mine"}
    with subprocess.Popen([str(SCRIPT)], env=environment | {"WHEN_DONE": "wait"}, stdout=subprocess.PIPE) as waiting:
        assert waiting.stdout is not None and b"finished" in waiting.stdout.readline()
        assert waiting.poll() is None
        waiting.terminate()


@pytest.mark.parametrize(
    ("options", "settings", "word"),
    [
        ([], {"WORKERS": "two"}, "WORKERS"),
        ([], {"WORKERS": "-1"}, "WORKERS"),
        ([], {"STEPS": "1e6"}, "STEPS"),
        ([], {"STEPS": "0"}, "STEPS"),
        ([], {"SEED": "x"}, "SEED"),
        ([], {"NAME": "../elsewhere"}, "NAME"),
        ([], {"NAME": ".hidden"}, "NAME"),
        ([], {"WHEN_DONE": "sleep"}, "WHEN_DONE"),
        ([], {"UI": "yes"}, "UI"),
        (["--name", "x"], {}, "NAME"),
        (["--resume=x"], {}, "NAME"),
        (["--checkpoints", "x"], {}, "CHECKPOINTS"),
    ],
)
def test_mistakes_are_one_line(program: Path, options: list[str], settings: dict[str, str], word: str) -> None:
    for only in ([], ["--check"]):
        done = _run(program, *only, *options, **settings)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1) and word in done.stderr, done


def test_check_says_where_the_run_is(program: Path) -> None:
    done = _run(program, "--check", NAME="mine")
    assert (done.returncode, done.stdout) == (0, f"{program.parent}/runs/mine\n")
    assert not (program.parent / "runs").exists()
