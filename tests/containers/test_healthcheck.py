"""docker/healthcheck.py: a container that is well, and one that is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from .dockerfile import DOCKER


def _health(folder: Path, *role: str, **environment: str) -> tuple[int, str]:
    (folder / "role").write_text("".join(f"{word}\n" for word in role))
    done = subprocess.run(
        [sys.executable, str(DOCKER / "healthcheck.py")],
        env={"ROLE_FILE": str(folder / "role"), "PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == "" and done.stdout.count("\n") == 1, done
    return done.returncode, done.stdout


def test_a_run(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert _health(tmp_path, "train", str(run))[0] == 1  # not there yet
    run.mkdir()
    status = run / "status.json"
    status.write_text("{")
    assert _health(tmp_path, "train", str(run))[0] == 1
    status.write_text(json.dumps({"state": "RUNNING"}))
    assert _health(tmp_path, "train", str(run))[0] == 0

    hours_ago = time.time() - 4 * 3600
    os.utime(status, (hours_ago, hours_ago))
    code, said = _health(tmp_path, "train", str(run))
    assert code == 1 and "silent" in said
    assert _health(tmp_path, "train", str(run), HEALTH_QUIET_SECONDS="86400")[0] == 0
    (run / "worker_0.csv").write_text("")
    assert _health(tmp_path, "train", str(run))[0] == 0

    status.write_text(json.dumps({"state": "SUCCESS"}))
    for file in run.iterdir():
        os.utime(file, (hours_ago, hours_ago))
    assert _health(tmp_path, "train", str(run)) == (0, f"{run} is finished\n")


def test_what_does_not_answer(tmp_path: Path) -> None:
    for role in ("serve", "tensorboard"):
        code, said = _health(tmp_path, role, "--host", "0.0.0.0", "--port=1")
        assert code == 1 and "http://127.0.0.1:1/" in said


def test_whatever_else(tmp_path: Path) -> None:
    assert _health(tmp_path, "evaluate", "run")[0] == 0
    assert _health(tmp_path, "ray", "start")[0] == 0
    assert _health(tmp_path)[0] == 0
