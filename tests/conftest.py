"""What every test gets: the ROM of this machine, directories of its own, and no silent skips in CI."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from mario_rl.emulators.rom import RomNotFound, environment_variable, find_rom

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

WHOLE_RUNS = ("cluster", "containers", "faults")
"""Folders of tests that take long, and wait for most of that time."""

_directories = tempfile.TemporaryDirectory(prefix="mario-rl-tests-")


def pytest_configure(config: pytest.Config) -> None:
    """Find the ROM as a user would; then give the tests directories of their own for imports and caches."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # As in a shell's background job: our children would ignore Ctrl-C, too.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ["OMP_NUM_THREADS"] = "1"  # small networks: torch's threads would only wait for each other
    try:
        os.environ[environment_variable("smb")] = str(find_rom("smb"))
    except RomNotFound:
        os.environ.pop(environment_variable("smb"), None)
    os.environ["MARIO_RL_DATA_DIR"] = str(Path(_directories.name) / "data")
    os.environ["MARIO_RL_CACHE_DIR"] = str(Path(_directories.name) / "cache")


def pytest_unconfigure(config: pytest.Config) -> None:
    _directories.cleanup()


def pytest_xdist_auto_num_workers() -> int:
    """For `-n auto`: so many tests wait that one process more keeps the cores busy."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(trylast=True)  # after others have left out what does not run
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the longest: one at the end would keep a single process busy, and the others idle."""
    processes = getattr(config, "workerinput", {"workercount": 1})["workercount"]
    items[:] = _longest_first(items, processes)


def _longest_first(items: Sequence[pytest.Item], processes: int) -> list[pytest.Item]:
    """In each of the equal parts that xdist's worksteal gives to the processes first."""
    here = Path(__file__).parent
    long = [item for item in items if item.path.relative_to(here).parts[0] in WHOLE_RUNS]
    short = [item for item in items if item not in set(long)]
    ordered: list[pytest.Item] = []
    for index in range(processes):
        size = (len(items) - len(ordered)) // (processes - index)
        begin = long[index::processes]
        ordered += begin + short[: size - len(begin)]
        del short[: max(size - len(begin), 0)]
    return ordered + short


@pytest.fixture(scope="session")
def smb_rom() -> Path:
    """The Super Mario Bros. ROM file."""
    try:
        return find_rom("smb")
    except RomNotFound as missing:
        pytest.skip(str(missing))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _fail_skip_in_ci((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return _fail_skip_in_ci((yield))


def _fail_skip_in_ci(report: Report) -> Report:
    """A missing tool or ROM skips its tests on a developer's machine; in CI that would hide them, so it fails."""
    if os.environ.get("CI") and report.outcome == "skipped" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which is a failure when CI is set: {report.longrepr}"
    return report
