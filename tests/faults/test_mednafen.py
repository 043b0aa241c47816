"""Consoles in Mednafen that come to harm: killed, stopped, orphaned. They come back, or leave nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from mario_rl.emulators import mednafen_shim
from mario_rl.emulators.base import EmulatorReset
from mario_rl.emulators.mednafen import ConsoleLost, MednafenEmulator, MednafenError, MednafenManager
from mario_rl.emulators.mednafen_build import Build
from mario_rl.emulators.mednafen_console import KEEP_EVERY
from mario_rl.emulators.mednafen_process import HOME_PREFIX, home_directory
from mario_rl.roms import antidote
from tests.contracts.demo_cartridge import NROM
from tests.emulators.mednafen_here import PATIENCE, mednafen_or_skip

STEPPERS = ("shim", "ptrace")
LONG = 1_000_000  # frames: minutes
MARK = "MARIO_RL_MEDNAFEN_TEST"


@pytest.fixture(autouse=True, scope="module")
def build() -> Build:
    return mednafen_or_skip()


@pytest.fixture(params=STEPPERS)
def manager(request: pytest.FixtureRequest) -> Iterator[MednafenManager]:
    manager = MednafenManager(antidote(), stepper=request.param)
    assert manager.launch()["success"]
    yield manager
    manager.shutdown()


def wait_until(happened: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.002)


def recovered(manager: MednafenManager, restarts: int) -> Callable[[], bool]:
    return lambda: manager.restarts == restarts and manager.state == "running"


# --- a child that is killed -----------------------------------------------------------------------------------------


def test_a_console_killed_while_idle_comes_back_by_itself(manager: MednafenManager) -> None:
    console = manager.get_mcp()
    ram = console.ram
    console.step(frames=100)
    console.save()
    kept = ram.copy()
    console.step(frames=30)
    assert not np.array_equal(ram, kept)
    for restarts in (1, 2):
        os.kill(manager.pid or 0, signal.SIGKILL)
        wait_until(recovered(manager, restarts), "it is there again")
        assert np.array_equal(ram, kept), "at the state that was saved, in the same array"
        with pytest.raises(EmulatorReset) as reset:
            console.step()
        assert reset.value.restarts == restarts
        assert np.array_equal(ram, kept), "the call that told of it did nothing"
    console.step(frames=5)
    assert not np.array_equal(ram, kept), "and then it plays"


def test_a_console_killed_in_the_middle_of_a_step(manager: MednafenManager) -> None:
    console = manager.get_mcp()
    kept = console.ram.copy()  # where the launch ended
    for restarts in (1, 2):
        doomed = manager.pid or 0
        killer = threading.Timer(0.1, os.kill, (doomed, signal.SIGKILL))
        killer.start()
        with pytest.raises(EmulatorReset):
            console.step(frames=LONG)
        assert np.array_equal(console.ram, kept)
        assert manager.restarts == restarts and manager.state == "running"
        assert manager.pid not in (None, doomed)
        console.step()
        console.load(console.save())
        kept = console.ram.copy()


def test_it_is_kept_every_now_and_then(manager: MednafenManager) -> None:
    console = manager.get_mcp()
    seen = []
    for _ in range(200):
        console.step()
        seen.append(console.ram.tobytes())
    os.kill(manager.pid or 0, signal.SIGKILL)
    wait_until(recovered(manager, 1), "it is there again")
    assert console.ram.tobytes() in seen[-KEEP_EVERY:], "it goes on from a moment of the last second"


def test_killed_again_and_again_from_all_sides(manager: MednafenManager) -> None:
    """Whatever call the loss meets: it has done its work, or it says reset. Never a hang, never another error."""
    console = manager.get_mcp()
    state = console.save()
    stop = threading.Event()

    def kill() -> None:
        while not stop.wait(0.15):
            pid = manager.pid
            # Not while it is being started again: after some attempts it would be given up, as it should be.
            if pid is not None and manager.state == "running":
                os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    resets = 0
    calls = [console.save, lambda: console.load(state), lambda: console.peek(0x8000, 64), console.power]
    calls += [lambda: console.step(frames=7), lambda: console.step(render=True)]
    deadline = time.monotonic() + PATIENCE
    while resets < 8:
        assert time.monotonic() < deadline
        for call in calls:
            try:
                call()
            except EmulatorReset:
                resets += 1
    stop.set()
    killer.join()
    assert manager.restarts >= resets


@pytest.mark.parametrize("stepper", STEPPERS)
def test_a_console_without_a_manager_says_that_it_is_lost(stepper: str) -> None:
    console = MednafenEmulator(NROM, stepper=stepper)  # type: ignore[arg-type]
    os.kill(console.pid or 0, signal.SIGKILL)
    wait_until(lambda: not console.alive, "that is noticed")
    for call in (console.step, console.save, console.power):
        with pytest.raises(ConsoleLost, match="was ended by SIGKILL"):
            call()
    console.relaunch()
    console.step()
    console.close()


def test_a_console_that_hangs_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mednafen_shim, "patience", lambda frames: 0.5)
    manager = MednafenManager(antidote(), stepper="shim")
    manager.launch()
    stopped = manager.pid or 0
    os.kill(stopped, signal.SIGSTOP)
    wait_until(lambda: psutil.Process(stopped).status() == psutil.STATUS_STOPPED, "it stands still")
    with pytest.raises(EmulatorReset):
        manager.get_mcp().step()
    assert manager.pid != stopped and not psutil.pid_exists(stopped)
    manager.get_mcp().step()
    manager.shutdown()


def test_when_it_cannot_be_started_again(build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "mednafen"
    shutil.copy(build.path, program)
    monkeypatch.setenv("MARIO_RL_MEDNAFEN", str(program))
    manager = MednafenManager(antidote())
    manager.launch()
    console = manager.get_mcp()
    program.unlink()
    os.kill(manager.pid or 0, signal.SIGKILL)
    wait_until(lambda: manager.state == "failed", "it is given up")
    assert not manager.is_alive() and manager.pid is None
    for _ in range(2):
        with pytest.raises(MednafenError, match="No such file or directory; launch it again"):
            console.step()
    assert not manager.launch()["success"]
    shutil.copy(build.path, program)
    assert manager.launch()["success"] and manager.state == "running"
    manager.shutdown()


def test_shutting_down_in_the_middle_of_a_step(manager: MednafenManager) -> None:
    console = manager.get_mcp()
    outcome: list[BaseException] = []

    def play() -> None:
        try:
            console.step(frames=LONG)
        except BaseException as problem:
            outcome.append(problem)

    player = threading.Thread(target=play)
    player.start()
    time.sleep(0.1)
    manager.shutdown()
    player.join(PATIENCE)
    assert isinstance(outcome[0], MednafenError) and "shut down" in str(outcome[0])
    assert manager.state == "stopped" and manager.restarts == 0


def test_a_new_console_has_nothing_of_the_old_one(manager: MednafenManager) -> None:
    """The shared pages hold other variables of Mednafen beside the RAM."""
    console = manager.get_mcp()._emulator
    fresh = MednafenEmulator(antidote())
    console.kill()
    wait_until(lambda: not console.alive, "it is gone")
    os.pwrite(console._memory.fd, b"\xaa" * console._memory.ram_pages[1], 0)
    console.relaunch()
    assert b"\xaa" * 16 not in os.pread(console._memory.fd, console._memory.ram_pages[1], 0)
    for one in (console, fresh):
        one.step(frames=50)
    assert console.save() == fresh.save()
    fresh.close()


# --- a parent that is killed ----------------------------------------------------------------------------------------


class Orphanage:
    """Processes of scripts that are killed, known by their environment, and a temporary directory for them."""

    def __init__(self, temporary: Path):
        self.temporary = temporary
        self._mark = uuid.uuid4().hex
        self._environment = os.environ | {MARK: self._mark, "TMPDIR": str(temporary)}
        self._environment.pop("DISPLAY", None)
        self._parents: list[subprocess.Popen[str]] = []

    def parent(self, text: str) -> subprocess.Popen[str]:
        """A Python process that runs the text."""
        begin = "from mario_rl.emulators.mednafen import *\nfrom mario_rl.roms import antidote\n"
        self._parents.append(
            subprocess.Popen(
                [sys.executable, "-c", begin + text],
                env=self._environment,
                stdout=subprocess.PIPE,
                text=True,
                cwd=Path(__file__).parents[2],
            )
        )
        return self._parents[-1]

    def children(self) -> list[str]:
        """Living descendants; Mednafen's environment is ours to set, so it is known by its home."""
        found = []
        for process in psutil.process_iter():
            try:
                environment = process.environ()
                ours = environment.get(MARK) == self._mark or str(self.temporary) in environment.get("HOME", "")
                if ours and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(f"{process.pid} {process.name()}")
            except psutil.Error:
                continue
        return found

    def left(self) -> list[str]:
        return [file.name for file in self.temporary.iterdir()]

    def close(self) -> None:
        for parent in self._parents:
            parent.kill()
            parent.communicate()


@pytest.fixture
def orphanage(tmp_path: Path) -> Iterator[Orphanage]:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    orphanage = Orphanage(temporary)
    yield orphanage
    orphanage.close()


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("doing", ["input()", f"console.step(frames={LONG})"], ids=["idle", "in a step"])
def test_nothing_outlives_a_killed_parent(orphanage: Orphanage, stepper: str, doing: str) -> None:
    parent = orphanage.parent(
        f"console = MednafenEmulator(antidote(), stepper={stepper!r})\nprint(console.pid, flush=True)\n{doing}\n"
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert psutil.pid_exists(child)
    assert orphanage.left() == [], "the home is gone as soon as it runs"
    parent.kill()
    wait_until(lambda: not _runs(child), "the child is gone, too")
    assert orphanage.left() == []


def test_a_window_and_its_screen_do_not_outlive_a_killed_parent(orphanage: Orphanage) -> None:
    parent = orphanage.parent(
        "console = MednafenEmulator(antidote(), headless=False)\n"
        "print(console.pid, console._screen._server.pid, console._screen.name[1:], flush=True)\ninput()\n"
    )
    assert parent.stdout is not None
    child, screen, number = map(int, parent.stdout.readline().split())
    socket = Path(f"/tmp/.X11-unix/X{number}")
    assert socket.exists()
    parent.kill()
    wait_until(lambda: not _runs(child) and not _runs(screen), "both are gone")
    wait_until(lambda: not socket.exists() or _somebody_elses(number), "its socket is gone")


def test_a_parent_that_ends_without_closing_leaves_nothing(orphanage: Orphanage) -> None:
    for ending in ("", "raise SystemExit(3)", "import os; os._exit(0)"):
        for stepper in STEPPERS:
            parent = orphanage.parent(
                f"console = MednafenEmulator(antidote(), stepper={stepper!r})\nprint(console.pid)\n{ending}\n"
            )
            said, _ = parent.communicate(timeout=PATIENCE)
            if said:
                wait_until(lambda pid=int(said): not _runs(pid), "the child is gone")
    assert orphanage.left() == [] and orphanage.children() == []


def test_a_parent_killed_while_it_launches_leaves_no_home(orphanage: Orphanage) -> None:
    """The child gets as far as its first frame, removes its home, and ends."""
    for delay in (0.0, 0.005, 0.01, 0.02, 0.03, 0.05):
        parent = orphanage.parent(
            "from mario_rl.emulators import mednafen_shim\n"
            "class Child(mednafen_shim.Child):\n"
            "    def __init__(self, *arguments):\n"
            "        super().__init__(*arguments)\n"
            "        print('started', flush=True)\n"
            "mednafen_shim.Child = Child\n"
            "MednafenEmulator(antidote(), stepper='shim')\ninput()\n"
        )
        assert parent.stdout is not None
        assert parent.stdout.readline() == "started\n"
        time.sleep(delay)
        parent.kill()
        parent.wait()
        wait_until(lambda: orphanage.children() == [], f"all are gone; there are {orphanage.children()}")
        assert orphanage.left() == []


def test_homes_that_nobody_holds_are_removed_and_others_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    abandoned = tmp_path / f"{HOME_PREFIX}abandoned"
    (abandoned / "sav").mkdir(parents=True)
    unrelated = tmp_path / "something else"
    unrelated.mkdir()
    with home_directory() as held:
        assert not abandoned.exists()
        with home_directory() as second:
            assert held.exists() and second.exists() and held != second
        assert held.exists() and not second.exists()
    assert list(tmp_path.iterdir()) == [unrelated]


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _somebody_elses(number: int) -> bool:
    """Another X server may have taken the number meanwhile."""
    return any(process.name() == "Xvfb" for process in psutil.process_iter()) and Path(f"/tmp/.X{number}-lock").exists()
