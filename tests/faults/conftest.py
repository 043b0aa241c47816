"""A place for runs that come to harm, which is looked at afterwards: nothing may be left of them."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.faults.runs import PATIENCE, Place, wait_until


@pytest.fixture
def place(tmp_path: Path, smb_rom: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """Runs of this test; when it ends: no process, no shared memory, no socket and no half file of theirs is left."""
    # not in tmp_path: the name of a socket may have about a hundred characters
    with tempfile.TemporaryDirectory(prefix="faults-") as temporary:
        place = Place(tmp_path / "checkpoints", Path(temporary))
        for name, value in place.environment.items():  # for sessions that a test drives itself, in this process
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(tempfile, "tempdir", temporary)
        try:
            yield place
            _assert_nothing_is_left(place)
        finally:
            for process in place.processes():
                if "resource_tracker" not in " ".join(process.cmdline()):
                    process.kill()
            for command in place.started:
                command.process.wait(PATIENCE)
            for name in place.shared_memory():
                (Path("/dev/shm") / name).unlink(missing_ok=True)


def _assert_nothing_is_left(place: Place) -> None:
    def ours() -> dict[str, list[str]]:
        left = place.left_behind()
        if _tracker_of_this_process() is not None:  # it stays as long as we do, and may be marked as ours
            left["processes"] = [line for line in left["processes"] if "resource_tracker" not in line]
        return left

    nothing = {kind: [] for kind in ours()}
    wait_until(lambda: ours()["processes"] == [], f"the last process has ended; there are {ours()['processes']}")
    assert ours() == nothing


def _tracker_of_this_process() -> int | None:
    return next(
        (child.pid for child in psutil.Process().children() if "resource_tracker" in " ".join(child.cmdline())), None
    )


@pytest.fixture(autouse=True)
def _signals_as_they_are() -> Iterator[None]:
    """Commands that run in this process must put signal handlers back."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    assert [signal.getsignal(number) for number in numbers] == before
