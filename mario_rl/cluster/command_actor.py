"""A command of ours on a node of a cluster, as an actor: `mario-rl train`, `evaluate`, ... in a directory there.

The directory holds one run, below `checkpoints` as a user has it. Whoever made the actor asks for what is new in it.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from mario_rl.cluster.node import ROM, Whereabouts, scratch_directory, whereabouts
from mario_rl.cluster.shared_files import Files, Folder, SharedFiles
from mario_rl.emulators.rom import environment_variable

CHECKPOINTS = "checkpoints"
"""What commands on a node call the directory that holds the runs."""
LOOK_SECONDS = 1.0  # between two looks whether the command has ended
OUTPUT = "output"

# The kernel ends the command together with this actor, whose node may be told to end everything at once.
_WITH_ITS_PARENT = "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9); os.execv(sys.executable, [sys.executable, '-m', 'mario_rl', *sys.argv[1:]])"  # noqa: E501


class CommandActor:
    """Everything that can be asked of a command on a node."""

    def __init__(self) -> None:
        self._files = SharedFiles()
        self._folder: Folder | None = None
        self._output: Path | None = None
        self._said = b""
        self._process: subprocess.Popen[bytes] | None = None

    async def where(self) -> Whereabouts:
        """Which node this is, and what is installed there."""
        return whereabouts()

    async def carry_out(self, arguments: Sequence[str], name: str, files: Files, rom: bytes) -> int:
        """Run `mario-rl` with these arguments, beside the run of that name with these files; its exit code."""
        with scratch_directory() as directory:
            (directory / ROM).write_bytes(rom)
            (directory / CHECKPOINTS).mkdir()
            self._folder = Folder(directory / CHECKPOINTS / name)
            self._folder.write(files)
            self._output = directory / OUTPUT
            with self._output.open("wb") as output:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _WITH_ITS_PARENT, *arguments],
                    cwd=directory,
                    env=os.environ | {environment_variable("smb"): str(directory / ROM)},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
            while (code := self._process.poll()) is None:
                await asyncio.sleep(LOOK_SECONDS)
            self._look()
            self._folder = self._output = None
            return code

    async def stop(self) -> None:
        """As Ctrl-C: the command saves what it has, and ends."""
        if self._process is not None:
            self._process.terminate()

    async def news(self, stamp: int, said: int) -> tuple[int, Files, bytes]:
        """A stamp to ask with next, the run's files that are new, and what the command has said after so many bytes."""
        await asyncio.to_thread(self._look)
        return *self._files.since(stamp), self._said[said:]

    def _look(self) -> None:
        folder, output = self._folder, self._output
        if folder is not None and output is not None:
            self._files.put(folder.changed(names_in(folder.path)))
            self._said = output.read_bytes()


def names_in(run: Path) -> Iterator[str]:
    """The files of a run's directory, relative to it; none that is being written."""
    for file in sorted(run.rglob("*")):
        if file.is_file() and not file.name.startswith("."):
            yield file.relative_to(run).as_posix()
