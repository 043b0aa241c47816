"""What `make` installs is what pyproject.toml asks for, and a skipped test does not hide in CI."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

SOURCE_TREE = Path(__file__).resolve().parents[1]
SCRIPT = SOURCE_TREE / "scripts" / "install_debian_packages.sh"


def required() -> list[Requirement]:
    """Everything that pyproject.toml asks for: to build, always, and for any extra."""
    content = tomllib.loads((SOURCE_TREE / "pyproject.toml").read_text())
    project = content["project"]
    extras = [line for extra in project["optional-dependencies"].values() for line in extra]
    wanted = map(Requirement, content["build-system"]["requires"] + project["dependencies"] + extras)
    return [requirement for requirement in wanted if requirement.name != project["name"]]  # an extra includes another


def test_constraints_pin_every_dependency() -> None:
    lines = (SOURCE_TREE / "constraints.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    pinned = {pin.name.lower().replace("_", "-"): str(pin.specifier) for pin in pins}
    assert all(specifier.startswith("==") for specifier in pinned.values())
    for wanted in required():
        version = pinned[wanted.name.lower().replace("_", "-")].removeprefix("==")
        assert wanted.specifier.contains(version), f"{wanted} is pinned at {version}"


def test_every_dependency_is_explained() -> None:
    """docs/design.md has a row for each, and no row for what is not there."""
    section = (SOURCE_TREE / "docs" / "design.md").read_text().split("\n## Dependencies\n")[1].split("\n## ")[0]
    heads = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    explained = [name for head in heads for name in re.findall(r"`([^`]+)`", head)]
    debian = re.findall(r'missing="\$missing ([^"]+)"', SCRIPT.read_text())
    image = re.findall(r"no-install-recommends (.+?) \\", (SOURCE_TREE / "docker" / "Dockerfile").read_text())
    others = {"gym-super-mario-bros", *" ".join([*debian, *image]).split()}
    assert sorted(explained) == sorted({requirement.name for requirement in required()} | others)


def test_the_wheel_holds_the_package_and_nothing_else(tmp_path: Path) -> None:
    """All of it but what is compiled: types are for users (`py.typed`), and commands need their data files."""
    options = ("--no-build-isolation", "--no-deps", "--config-settings=wheel.cmake=false", "--wheel-dir", str(tmp_path))
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", *options, str(SOURCE_TREE)]
    subprocess.run(command, capture_output=True, text=True, check=True)
    (wheel,) = tmp_path.glob("mario_rl-*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    there = {path.relative_to(SOURCE_TREE) for path in (SOURCE_TREE / "mario_rl").rglob("*") if path.is_file()}
    assert packed == {path.as_posix() for path in there if "__pycache__" not in path.parts}
    assert "mario_rl/py.typed" in packed


@pytest.mark.parametrize("ci", ["", "true"])
@pytest.mark.parametrize(
    "skipping_module",
    ["def test_it():\n    pytest.skip('no tool')\n", "pytest.skip('no tool', allow_module_level=True)\n"],
    ids=["in a test", "at import"],
)
def test_a_skip_is_a_failure_in_ci(tmp_path: Path, ci: str, skipping_module: str) -> None:
    shutil.copy(SOURCE_TREE / "tests" / "conftest.py", tmp_path / "conftest.py")
    (tmp_path / "test_tool.py").write_text(f"import pytest\n\n{skipping_module}")
    (tmp_path / "test_that_passes.py").write_text("def test_it():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", str(tmp_path)]
    result = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "CI": ci}, capture_output=True, text=True, check=False
    )
    assert (result.returncode != 0) == bool(ci), result.stdout
    assert "no tool" in result.stdout
