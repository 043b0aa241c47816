"""What `make` installs is what pyproject.toml asks for, and a skipped test does not hide in CI."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

SOURCE_TREE = Path(__file__).resolve().parents[1]


def test_constraints_pin_every_dependency() -> None:
    lines = (SOURCE_TREE / "constraints.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    pinned = {pin.name.lower().replace("_", "-"): str(pin.specifier) for pin in pins}
    assert all(specifier.startswith("==") for specifier in pinned.values())

    project = tomllib.loads((SOURCE_TREE / "pyproject.toml").read_text())["project"]
    extras = [line for extra in project["optional-dependencies"].values() for line in extra]
    for wanted in map(Requirement, project["dependencies"] + extras):
        if wanted.name == project["name"]:  # one extra includes another
            continue
        version = pinned[wanted.name.lower().replace("_", "-")].removeprefix("==")
        assert wanted.specifier.contains(version), f"{wanted} is pinned at {version}"


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
