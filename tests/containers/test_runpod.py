"""scripts/train_runpod.sh, in a folder that stands for /workspace, with the environment that runs the tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.server.running_server import until

from .dockerfile import SOURCE_TREE

SCRIPT = SOURCE_TREE / "scripts" / "train_runpod.sh"
PATIENCE = 600.0  # s; against hangs only
LAUNCHERS = ["nohup", "tmux"] if shutil.which("tmux") else ["nohup"]


class Pod:
    """A workspace, and the script in it."""

    def __init__(self, workspace: Path, **environment: str):
        workspace.mkdir()
        self.workspace = workspace
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("TMUX")},
            "WORKSPACE": str(workspace),
            "VENV": sys.prefix,
            "TENSORBOARD_PORT": "0",
            "TMUX_TMPDIR": str(workspace),  # a tmux of our own
            "NAME": "mine",
            **environment,
        }

    def __call__(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        command = [str(SCRIPT), *arguments]
        settings: dict[str, Any] = {"env": self._environment | environment, "timeout": PATIENCE, "cwd": self.workspace}
        return subprocess.run(command, capture_output=True, text=True, check=False, **settings)

    def status(self) -> dict[str, Any]:
        return json.loads((self.workspace / "checkpoints" / "mine" / "status.json").read_text())

    def end_tmux(self) -> None:
        if shutil.which("tmux"):
            subprocess.run(["tmux", "kill-server"], env=self._environment, capture_output=True, check=False)


@pytest.fixture(params=LAUNCHERS)
def pod(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pod]:
    pod = Pod(tmp_path / "w", LAUNCHER=request.param, WORKERS="1")
    yield pod
    pod("stop")
    pod.end_tmux()


def test_a_run_on_a_pod(pod: Pod, smb_rom: Path) -> None:
    begun = pod("start", "--lanes", "8", STEPS="100000000")
    assert begun.returncode == 0 and "mine is training" in begun.stdout, begun
    for word in ("watch", "stop", "fetch", "ssh -N -L"):
        assert word in begun.stdout
    training = until(lambda: (status := pod.status())["state"] == "RUNNING" and status, PATIENCE)
    log = (pod.workspace / "mario-rl-logs" / "tensorboard.log").read_text()
    address = next(word for word in log.split() if word.startswith("http://127.0.0.1:"))
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    assert opener.open(address, timeout=PATIENCE).status == 200

    again = pod(STEPS="100000000")
    assert again.returncode == 0 and "left it alone" in again.stdout, again
    assert pod.status()["pid"] == training["pid"]

    stopped = pod("stop")
    assert stopped.returncode == 0 and "INTERRUPTED" in stopped.stdout, stopped
    assert pod.status()["state"] == "INTERRUPTED"
    # Where nobody buries the dead of others, as in a container without an init, it stays as a zombie.
    assert not psutil.pid_exists(training["pid"]) or psutil.Process(training["pid"]).status() == psutil.STATUS_ZOMBIE

    steps = pod.status()["steps"] + 1000
    resumed = pod(STEPS=str(steps), TENSORBOARD="off")
    assert resumed.returncode == 0 and "ssh -N" not in resumed.stdout, resumed
    assert pod("status").returncode == 0


def test_a_run_that_cannot_be(pod: Pod, smb_rom: Path) -> None:
    done = pod(MODEL="nothing")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1) and "nothing" in done.stderr, done
    assert not (pod.workspace / "checkpoints" / "mine").exists()


@pytest.mark.parametrize(
    ("arguments", "environment", "word"),
    [
        (["begin"], {}, "begin"),
        (["stop", "now"], {}, "now"),
        ([], {"WORKSPACE": "/nonexistent/folder"}, "/nonexistent/folder"),
        ([], {"TENSORBOARD": "yes"}, "TENSORBOARD"),
        ([], {"TENSORBOARD_PORT": "http"}, "TENSORBOARD_PORT"),
        ([], {"TENSORBOARD_PORT": "70000"}, "TENSORBOARD_PORT"),
        ([], {"VARIANT": "rocm"}, "VARIANT"),
        ([], {"LAUNCHER": "screen"}, "LAUNCHER"),
        ([], {"PYTHON": "/nonexistent/python"}, "PYTHON"),
        ([], {"WORKERS": "many"}, "WORKERS"),
        ([], {"STEPS": "0"}, "STEPS"),
        ([], {"NAME": "a/b"}, "NAME"),
        (["start", "--name", "x"], {}, "NAME"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], environment: dict[str, str], word: str, tmp_path: Path) -> None:
    done = Pod(tmp_path / "w")(*arguments, **environment)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1) and word in done.stderr, done
    assert not list((tmp_path / "w").iterdir()), "a mistake leaves nothing behind"


def test_help(tmp_path: Path) -> None:
    done = Pod(tmp_path / "w")("--help")
    assert (done.returncode, done.stderr) == (0, "") and "WORKSPACE" in done.stdout
