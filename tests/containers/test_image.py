"""The image's exact steps, in a folder: it builds, trains, goes on, is stopped, serves, and knows how it is."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from .dockerfile import DOCKER, ImageInAFolder

PATIENCE = 600.0  # s; against hangs only
TOKEN = "correct-horse-battery-staple"


def _until(true: Any, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert process.poll() is None, f"it ended with code {process.returncode}"
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.05)


class Container:
    """What runs from an image, with volumes of its own."""

    def __init__(self, image: ImageInAFolder):
        self._image = image

    def _run(self, command: list[str], environment: dict[str, str]) -> dict[str, Any]:
        clean = self._image.environment | {"OMP_NUM_THREADS": "1"} | environment
        return {"args": command, "env": clean, "cwd": self._image.root, "text": True, "stdin": subprocess.DEVNULL}

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Until it ends."""
        settings = self._run(self._image.command(*arguments), environment)
        return subprocess.run(**settings, capture_output=True, timeout=PATIENCE, check=False)

    @contextmanager
    def running(self, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
        """For the time of a block; it is stopped as `docker stop` does, and must end within a while."""
        said = self._image.root / "tmp" / "said"
        with said.open("w") as output:
            settings = self._run(self._image.command(*arguments), environment)
            process = subprocess.Popen(**settings, stdout=output, stderr=subprocess.STDOUT)
            try:
                yield process
                process.send_signal(getattr(signal, self._image.last["STOPSIGNAL"].text))
                process.wait(PATIENCE)
            except BaseException:
                print(said.read_text())
                raise
            finally:
                process.kill()
                process.wait()

    def health(self, **environment: str) -> tuple[int, str]:
        """What HEALTHCHECK says."""
        settings = self._run(self._image.health_command(), environment)
        done = subprocess.run(**settings, capture_output=True, timeout=PATIENCE, check=False)
        assert done.stderr == "" and done.stdout.count("\n") == 1, done
        return done.returncode, done.stdout

    def status(self, run: str) -> dict[str, Any]:
        """Of a run in the volume."""
        return json.loads((self._image.root / "checkpoints" / run / "status.json").read_text())


def test_the_image() -> None:
    """One test, because the steps build on one another. `ImageInAFolder` says how this differs from the image."""
    with tempfile.TemporaryDirectory(prefix="mario-rl-image-") as folder:  # 2 GB: not to be kept as tmp_path is
        image = ImageInAFolder(Path(folder).resolve())
        try:
            image.build()
        except subprocess.CalledProcessError as problem:
            pytest.fail(f"{problem.cmd[-1]}\n{problem.stdout[-3000:]}\n{problem.stderr[-3000:]}")
        assert [text.split()[0] for text in image.left_out] == ["apt-get", "apt-get", "useradd"]
        assert image.last["USER"].text == "1000:1000"
        container = Container(image)
        _it_holds_what_it_needs(image, container)
        _it_trains(container)
        _it_is_stopped_and_goes_on(container)
        _it_serves(container)


def _it_holds_what_it_needs(image: ImageInAFolder, container: Container) -> None:
    assert not (image.root / "source").exists() and not (image.root / "opt" / "build-tools").exists()
    assert container.health()[0] == 1  # nothing has begun
    listed = container.run("rom", "list")
    assert "gym-super-mario-bros 7.4.0" in listed.stdout, listed
    assert "version 2.60" in container.run("ray", "--version").stdout
    needed = "cma, fastapi, onnx, onnxruntime, onnxscript, sb3_contrib, sklearn, tensorboard, torch, mario_rl"
    imports = f"import {needed}; print(mario_rl.__file__)"
    command = [image.here("/opt/mario-rl/bin/python"), "-c", imports]
    done = subprocess.run(command, cwd=image.root, env=image.environment, capture_output=True, text=True, check=False)
    assert done.stdout.startswith(image.here("/opt/mario-rl/lib/")), done


def _it_trains(container: Container) -> None:
    run = {"NAME": "first", "WORKERS": "1", "STEPS": "2000"}
    for steps, said in (("2000", "beginning"), ("2000", "is finished"), ("4000", "going on")):
        done = container.run(**run | {"STEPS": steps})
        assert done.returncode == 0 and said in done.stdout, done
        status = container.status("first")
        assert status["state"] == "SUCCESS" and status["steps"] >= int(steps)
    code, said = container.health()
    assert code == 0 and "first is finished" in said
    wrong = container.run(**run | {"WORKERS": "two"})
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1), wrong


def _it_is_stopped_and_goes_on(container: Container) -> None:
    run = {"NAME": "long", "WORKERS": "1", "STEPS": "100000000"}
    with container.running("train", **run) as training:
        _until(lambda: container.health()[0] == 0 and container.status("long")["state"] == "RUNNING", training)
    assert training.returncode == 130
    status = container.status("long")
    assert status["state"] == "INTERRUPTED"
    done = container.run("train", **run | {"STEPS": str(status["steps"] + 1000)})
    assert done.returncode == 0 and "going on" in done.stdout, done
    assert container.status("long")["steps"] > status["steps"]


def _it_serves(container: Container) -> None:
    services = yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]
    for service in ("server", "tensorboard"):
        command = services[service]["command"]
        port = command[command.index("--port") + 1]
        with socket.create_server(("127.0.0.1", 0)) as free:
            command = [str(free.getsockname()[1]) if word == port else word for word in command]
        with container.running(*command, MARIO_RL_TOKEN=TOKEN) as serving:
            _until(lambda: container.health(MARIO_RL_TOKEN=TOKEN)[0] == 0, serving)
            if service == "server":
                code, said = container.health(MARIO_RL_TOKEN="another-token-altogether")
                assert code == 1 and "401" in said
        assert serving.returncode == 0
        assert container.health(MARIO_RL_TOKEN=TOKEN)[0] == 1
