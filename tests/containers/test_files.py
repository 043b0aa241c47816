"""What describes containers and services is sound: as linters see it, and beside the programs it starts."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from .dockerfile import DOCKER, SOURCE_TREE, context, is_ignored, steps_of

BIN = Path(sys.executable).parent
SCRIPTS = sorted([*DOCKER.glob("*.sh"), *(SOURCE_TREE / "scripts").glob("*.sh"), SOURCE_TREE / ".ci" / "run"])
UNITS = sorted((DOCKER / "systemd").glob("*.service"))
COMPOSE = yaml.safe_load((DOCKER / "compose.yaml").read_text())
CUDA = yaml.safe_load((DOCKER / "compose.cuda.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
INTERPOLATED = re.compile(r"\$\{(\w+)(?::[-?][^}]*)?\}")
LAST = {step.instruction: step for step in steps_of(DOCKER / "Dockerfile")}


def _passes(*command: str | Path, **settings: Any) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **settings)
    assert done.returncode == 0 and not done.stdout + done.stderr, done.stdout + done.stderr


def _read_by_the_trainer() -> set[str]:
    """The environment variables that train_or_resume.sh reads."""
    return set(re.findall(r"\$\{([A-Z_]+)\b", (DOCKER / "train_or_resume.sh").read_text()))


# --- the image --------------------------------------------------------------------------------------------------------


def test_hadolint_has_no_complaints() -> None:
    _passes(BIN / "hadolint", DOCKER / "Dockerfile")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_shellcheck_has_no_complaints(script: Path) -> None:
    # ls of files whose names are our own
    _passes(BIN / "shellcheck", "--exclude=SC2010,SC2012", script)
    assert script.stat().st_mode & 0o111, "it cannot be started"


def test_an_image_is_built_from_the_sources_alone() -> None:
    sent = context()
    for needed in ("constraints.txt", "pyproject.toml", "native/cpu.cpp", "mario_rl/roms/antidote.nes", "README.md"):
        assert needed in sent
    rules = (SOURCE_TREE / ".dockerignore").read_text()
    strange = [
        "docker/roms/smb.nes",
        "mario_rl/roms/smb.nes",
        "checkpoints/run/best.pt",
        ".git/config",
        ".venv/bin/python",
    ]
    strange += ["mario_rl/_native.so", "mario_rl/__pycache__/cli.pyc", "build/x.o", "tests/conftest.py", "server.env"]
    assert [file for file in strange if not is_ignored(file, rules)] == []


def test_a_trainers_settings_are_explained() -> None:
    script = (DOCKER / "train_or_resume.sh").read_text()
    header = script[: script.index("set -eu")]
    assert set(re.findall(r"\b([A-Z][A-Z_]+)  ", header)) == _read_by_the_trainer()


def test_the_extras_are_those_of_the_project() -> None:
    projects = (SOURCE_TREE / "pyproject.toml").read_text()
    lists = [re.search(r"\[(server,[a-z,]+)\]", file.read_text()) for file in _INSTALLING]
    assert lists[0] is not None and lists[1] is not None and lists[0][1] == lists[1][1]
    for extra in lists[0][1].split(","):
        assert re.search(rf"^{extra} = \[", projects, re.MULTILINE), extra


_INSTALLING = (DOCKER / "Dockerfile", SOURCE_TREE / "scripts" / "train_runpod.sh")


def test_the_rom_package_is_the_one_of_make() -> None:
    wanted = re.search(r"ROM_PACKAGE := (\S+)", (SOURCE_TREE / "Makefile").read_text())
    assert wanted is not None
    for file in _INSTALLING:
        assert wanted[1] in file.read_text()


# --- compose ----------------------------------------------------------------------------------------------------------


def test_compose_services_are_complete() -> None:
    assert {"server", "trainer", "tensorboard"} <= set(SERVICES)
    for name, service in SERVICES.items():
        built = service["build"]
        assert (DOCKER / built["context"]).resolve() == SOURCE_TREE, name
        assert (DOCKER / built["context"] / built["dockerfile"]).resolve() == DOCKER / "Dockerfile"
        assert set(built["args"]) <= {step.text.split("=")[0] for step in steps_of(DOCKER / "Dockerfile")}
        assert service["restart"] == "unless-stopped"
        assert "healthcheck" not in service  # the image's own knows the roles
    assert _seconds(SERVICES["trainer"]["stop_grace_period"]) > 60  # runs/training.py: SHUTDOWN_SECONDS
    assert _seconds(SERVICES["server"]["stop_grace_period"]) >= 20


def _seconds(text: str) -> int:
    return int(text.removesuffix("s"))


def test_compose_volumes_and_ports() -> None:
    places = set(LAST["VOLUME"].words)
    exposed = set(LAST["EXPOSE"].words)
    used = set()
    for name, service in SERVICES.items():
        for volume in service["volumes"]:
            source, target = volume.split(":")[:2]
            assert target in places, (name, volume)
            used |= set() if source.startswith("./") else {source}
        for port in service.get("ports", ()):
            address, _, inside = port.rpartition(":")
            assert address.startswith("127.0.0.1:") and inside in exposed, (name, port)
            assert inside in service["command"]
    assert used == set(COMPOSE["volumes"])


def test_compose_variables_are_those_that_are_read() -> None:
    environment = SERVICES["trainer"]["environment"]
    set_by_the_image = {"CHECKPOINTS", "MARIO_RL", "UI"}
    assert set(environment) == _read_by_the_trainer() - set_by_the_image
    for name, value in environment.items():
        assert value in (f"${{{name}:-}}", "wait"), name  # empty has its default
    assert SERVICES["server"]["environment"]["MARIO_RL_TOKEN"].startswith("${MARIO_RL_TOKEN:?")
    for service in ("ray-head", "ray-node"):
        closed = SERVICES[service]["environment"]
        assert closed["RAY_AUTH_MODE"] == "token" and closed["RAY_AUTH_TOKEN"].startswith("${MARIO_RL_TOKEN:?")
    text = (DOCKER / "compose.yaml").read_text()
    assert set(INTERPOLATED.findall(text)) == {*environment, "MARIO_RL_TOKEN", "VARIANT"} - {"WHEN_DONE"}
    assert set(CUDA["services"]) == {"trainer"}
    assert set(CUDA["services"]["trainer"]["environment"]) <= set(environment)


def test_compose_files_keep_to_the_specification() -> None:
    schema = ("--builtin-schema", "vendor.compose-spec")  # what `docker compose config` checks them against
    _passes(BIN / "check-jsonschema", "--quiet", *schema, DOCKER / "compose.yaml", DOCKER / "compose.cuda.yaml")


def test_docker_compose_understands_it() -> None:
    """Where there is one; the tests above are for everywhere else."""
    compose = ["docker", "compose"]
    if shutil.which("docker") is None or subprocess.run([*compose, "version"], capture_output=True).returncode:
        return
    files = ["-f", str(DOCKER / "compose.yaml"), "-f", str(DOCKER / "compose.cuda.yaml")]
    path = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent"}
    _passes(*compose, *files, "config", "--quiet", env=path | {"MARIO_RL_TOKEN": "x" * 16})
    without = subprocess.run([*compose, *files, "config", "--quiet"], env=path, capture_output=True, text=True)
    assert without.returncode != 0 and "MARIO_RL_TOKEN" in without.stderr


# --- systemd ----------------------------------------------------------------------------------------------------------


def _installed_unit(unit: Path, home: Path) -> Path:
    """As in a home directory with the repository in it; an instance has the name of a run."""
    (home / "mario-rl").symlink_to(SOURCE_TREE)
    installed = home / unit.name.replace("@.", "@mine.")
    installed.write_text(unit.read_text().replace("%h/mario-rl/.venv/bin", str(BIN)).replace("%h", str(home)))
    return installed


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units(unit: Path, tmp_path: Path) -> None:
    text = _installed_unit(unit, tmp_path).read_text()
    sections = re.findall(r"^\[(\w+)\]$", text, re.MULTILINE)
    assert sections == ["Unit", "Service", "Install"]
    (command,) = re.findall(r"^ExecStart=(\S+)", text, re.MULTILINE)
    assert Path(command).stat().st_mode & 0o111
    assert "KillMode=mixed" in text and "WantedBy=default.target" in text
    for line in text.splitlines():
        assert re.fullmatch(r"|#.*|\[\w+\]|[A-Z]\w+=.+", line), line
    for setting in re.findall(r"^Environment=(.*)$", text, re.MULTILINE):
        assert {pair.split("=")[0] for pair in setting.split()} <= _read_by_the_trainer()


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_understands_the_units(unit: Path, tmp_path: Path) -> None:
    """Where there is one; the test above is for everywhere else."""
    if shutil.which("systemd-analyze") is None:
        return
    command = ["systemd-analyze", "--user", "--man=no", "verify", str(_installed_unit(unit, tmp_path))]
    runtime = {"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, capture_output=True, text=True, env=runtime, check=False)
    ours = [line for line in (done.stdout + done.stderr).splitlines() if "mario-rl" in line]
    assert done.returncode == 0 and not ours, done
