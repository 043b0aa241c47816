"""Where the commands of the pages are run: a copy of the source tree, with the runs and files they speak of."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mario_rl.emulators.rom import find_rom
from mario_rl.roms import antidote
from mario_rl.snapshots.routes import packaged_route
from tests.docs.accounts import TINY_SELFPLAY, TRAIN, Account
from tests.docs.commands import PAGES, SOURCE_TREE

COPIED = ("Makefile", "README.md", "pyproject.toml", "benchmarks", "cartridge", "docker", "docs", "scripts", "tests")
TEXTS = [page.read_text() for page in PAGES]
PATIENCE = 300.0  # seconds until a command counts as hung
MADE = (
    f"mario-rl train --preset laptop --model ppo --workers 0 --name tried {TRAIN}",
    "mario-rl export tried --hub-folder agent --episodes 2 --no-video",
    f"mario-rl train --preset laptop --model dreamer --workers 0 --name dreamt {TRAIN} --steps 320",
    f"mario-rl selfplay train --workers 0 --name selfplayed {TINY_SELFPLAY}",
    "mario-rl burn small -o mine.nes",
)


class Failed(Exception):
    """A command that did not do what the page promises."""


class Workshop:
    """A folder to run commands in."""

    def __init__(self, folder: Path):
        self.folder = folder

    @classmethod
    def build(cls, folder: Path) -> Workshop:
        """Everything that a page takes for granted."""
        folder.mkdir()
        for name in COPIED:
            source, unwanted = SOURCE_TREE / name, shutil.ignore_patterns("__pycache__", "*.mp4")
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=unwanted)
            else:
                shutil.copy(source, folder / name)
        (folder / "mario_rl" / "roms").mkdir(parents=True)  # where `make cartridge` puts its own
        (folder / ".venv").symlink_to(SOURCE_TREE / ".venv")
        (folder / "known_routes").mkdir()
        packaged_route("1-2").save(folder / "known_routes" / "1-2.json")
        shutil.copy(find_rom("smb"), folder / "game.nes")
        shutil.copy(antidote(), folder / "my-dump.nes")  # the original is the reader's own
        for name in ("mine.json", "p.json"):
            shutil.copy(folder / "docs" / "little_tree.json", folder / name)
        workshop = cls(folder)
        for command in MADE:
            workshop._end(command, 0)
        for name in ("vs.nes", "small.nes"):
            shutil.copy(folder / "mine.nes", folder / name)
        for name in re.findall(r"checkpoints/results\S+\.pt", " ".join(TEXTS)):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / "checkpoints" / "selfplayed" / "player.pt", folder / name)
        shutil.copytree(folder / "checkpoints" / "tried", folder / "checkpoints" / "ppo-1-1")
        return workshop

    def copy(self, folder: Path) -> Workshop:
        """The same for others to change."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Workshop(folder)

    def run(self, account: Account) -> None:
        """Run a command; `Failed` if it does not end as it should."""
        try:
            if account.how == "terminal":
                self._end(account.run, account.code, terminal=True)
            elif account.how == "server":
                with self.server(account.run):
                    pass
            elif account.how == "window":
                self._end_window(account.run)
            elif account.how == "ends":
                self._end(account.run, account.code)
        except Failed as problem:
            raise Failed(
                f"{account.command.where}: {account.command.text}\n  run as: {account.run}\n{problem}"
            ) from None

    @contextmanager
    def server(self, command: str = "mario-rl serve --port 0") -> Iterator[str]:
        """The address of a server that runs meanwhile; it ends in good order."""
        with self._process(command) as process:
            shown = _read_until(process, r"http://\S+:\d+")
            address = re.search(r"http://(\S+:\d+)", shown)
            if address is None:
                raise Failed(f"it does not say where it serves:\n{shown}")
            yield address[1]
            process.send_signal(signal.SIGTERM)
            shown += process.communicate(timeout=PATIENCE)[0]
            _judge(process.returncode, 0, shown)

    def _end(self, command: str, code: int, terminal: bool = False) -> None:
        with self._process(command, terminal) as process:
            shown = _read_until(process, None)
            _judge(process.wait(), code, shown)

    def _end_window(self, command: str) -> None:
        """A window says nothing when it is there: it gets a moment, and then Ctrl-C."""
        with self._process(command, SDL_VIDEODRIVER="dummy") as process:
            shown = _read_until(process, None, seconds=5)
            process.send_signal(signal.SIGINT)
            _judge(process.wait(PATIENCE), 130, shown)

    @contextmanager
    def _process(self, command: str, terminal: bool = False, **environment: str) -> Iterator[subprocess.Popen[str]]:
        variables = os.environ | {
            "PATH": f"{SOURCE_TREE / '.venv' / 'bin'}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "MARIO_RL_DATA_DIR": str(self.folder / "data"),  # `rom import` writes there
            "TERM": "xterm-256color",
            **environment,
        }
        mine, theirs = pty.openpty() if terminal else os.pipe()
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command}" if command.startswith("mario-rl") else command],
            cwd=self.folder,
            env=variables,
            stdin=theirs if terminal else subprocess.DEVNULL,
            stdout=theirs if terminal else subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        os.close(theirs)
        if terminal:
            process.stdout = os.fdopen(mine, errors="replace")
        else:
            os.close(mine)
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            assert process.stdout is not None
            process.stdout.close()


def _read_until(process: subprocess.Popen[str], wanted: str | None, seconds: float = PATIENCE) -> str:
    """What a process says until it says something that matches, or ends, or the time is over."""
    assert process.stdout is not None
    shown, deadline = "", time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not select.select([process.stdout], [], [], 0.5)[0]:
            if process.poll() is not None:
                break
            continue
        try:
            piece = os.read(process.stdout.fileno(), 65536).decode(errors="replace")
        except OSError:  # a terminal whose other side is closed
            break
        shown += piece
        if not piece or (wanted is not None and re.search(wanted, shown)):
            break
    return shown


def _judge(code: int, wanted: int, shown: str) -> None:
    tail = "\n".join(f"  | {line}" for line in shown.splitlines()[-25:])
    if code != wanted:
        raise Failed(f"exit code {code} instead of {wanted}:\n{tail}")
    if "Traceback (most recent call last)" in shown:
        raise Failed(f"a traceback:\n{tail}")
