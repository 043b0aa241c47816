"""What users may rely on: names are where the documentation has them, documented and typed, and importing is cheap."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

SOURCE_TREE = Path(__file__).resolve().parents[1]
PAGES = [SOURCE_TREE / "README.md", *sorted((SOURCE_TREE / "docs").glob("*.md"))]
FILES = {
    ".".join(file.relative_to(SOURCE_TREE).with_suffix("").parts).removesuffix(".__init__"): file
    for file in sorted((SOURCE_TREE / "mario_rl").rglob("*.py"))
    if file.name != "__main__.py"
}
"""By the name of the module."""

PROMISED = {
    "mario_rl.metrics": ("DeathHotspotAggregate", "MetricAggregator", "MetricCollector", "MetricLogger"),
    "mario_rl.environment.snapshot_wrapper": ("create_snapshot_mario_env",),
    "mario_rl.environment.drmario.env": ("DrMarioEnv",),
    "mario_rl.models.base": ("Model",),
    "mario_rl.learners.base": ("Learner",),
    "mario_rl.distributed": (
        *("SharedGradientPool", "SharedHeartbeat", "TrainingWorker", "TrainingCoordinator"),
        *("EventPublisher", "EventSubscriber"),
    ),
    "mario_rl.snapshots": ("SnapshotHandler", "SnapshotStateMachine"),
    "mario_rl.snapshots.hotspots": ("DeathHotspotAggregate",),
    "mario_rl.dashboard.terminal": ("TrainingUI",),
    "mario_rl.emulators.base": ("Emulator", "EmulatorBatch"),
    "mario_rl.emulators.mednafen": ("MednafenManager",),
}
"""Names that were promised before there was any code, and where."""

NEEDED_AT_ONCE = {"mario-rl", "gymnasium", "numpy", "cloudpickle", "farama-notifications", "typing-extensions"}
"""All that `import mario_rl` may import: Gymnasium is told the ids, and the others are what that needs."""


def in_the_documentation() -> Iterator[tuple[str, str]]:
    """(module, name) of all that examples import from us."""
    for page in PAGES:
        for block in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
            for node in ast.walk(ast.parse(block)):
                if isinstance(node, ast.ImportFrom) and node.module in FILES:
                    yield from ((node.module, alias.name) for alias in node.names)


def has_all(file: Path) -> bool:
    return re.search(r"^__all__ = ", file.read_text(encoding="utf-8"), re.MULTILINE) is not None


def test_every_module_can_be_imported() -> None:
    assert len(FILES) > 300
    for name in FILES:
        importlib.import_module(name)


@pytest.mark.parametrize("module", PROMISED)
def test_what_was_promised_is_there(module: str) -> None:
    found = importlib.import_module(module)
    assert {*PROMISED[module]} <= {*found.__all__}
    assert all(hasattr(found, name) for name in PROMISED[module])


def test_what_examples_import_is_public() -> None:
    used = {*in_the_documentation()}
    assert len(used) > 30
    for module, name in used:
        if f"{module}.{name}" not in FILES:
            found = importlib.import_module(module)
            assert name in getattr(found, "__all__", dir(found)), f"{module}.{name}"


@pytest.mark.parametrize("module", [name for name, file in FILES.items() if has_all(file)])
def test_public_names_are_documented_and_typed(module: str) -> None:
    found = importlib.import_module(module)
    assert len({*found.__all__}) == len(found.__all__) > 0
    faults = [fault for name in found.__all__ for fault in faults_of(getattr(found, name), name)]
    assert not faults, "; ".join(faults)


def faults_of(thing: Any, name: str) -> Iterator[str]:
    """What a function or class lacks. Other values speak for themselves; what is compiled has its docs in a stub."""
    if inspect.isfunction(thing):
        if not thing.__doc__:
            yield f"{name} has no docstring"
        yield from missing_types(thing, name)
    elif inspect.isclass(thing) and thing.__module__ in FILES:
        made_up = f"{thing.__name__}("  # by `dataclass` and `NamedTuple`
        if (vars(thing).get("__doc__") or made_up).startswith(made_up):
            yield f"{name} has no docstring of its own"
        for part, member in vars(thing).items():
            for function in functions_in(member):
                if not part.startswith("_") or part in ("__init__", "__call__"):
                    yield from missing_types(function, f"{name}.{part}")


def functions_in(member: Any) -> list[Callable[..., Any]]:
    """The function of a method, the functions of a property, if they are ours."""
    parts = [member.fget, member.fset] if isinstance(member, property) else [getattr(member, "__func__", member)]
    return [part for part in parts if inspect.isfunction(part) and part.__module__ in FILES]


def missing_types(function: Callable[..., Any], name: str) -> Iterator[str]:
    signature = inspect.signature(function)
    for parameter in signature.parameters.values():
        if parameter.annotation is parameter.empty and parameter.name not in ("self", "cls"):
            yield f"{name}: {parameter.name} has no type"
    if signature.return_annotation is signature.empty and function.__name__ != "__init__":
        yield f"{name}: what it returns has no type"


def test_importing_the_package_imports_little() -> None:
    script = "import sys; before = {*sys.modules}; import mario_rl; print(*({*sys.modules} - before))"
    command = [sys.executable, "-c", script]
    modules = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    packages = packages_distributions()
    imported = {package.lower().replace("_", "-") for name in modules for package in packages.get(name, ())}
    assert "gymnasium" in imported
    assert imported <= NEEDED_AT_ONCE
