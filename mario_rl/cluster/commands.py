"""Commands of ours on the nodes of a cluster, with their runs in directories here.

What a run's directory holds goes to the node and comes back while the command works, so a node that is lost loses half
a minute: the run goes on elsewhere from its last checkpoint that arrived.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError

from mario_rl.atomic_file import write_atomically
from mario_rl.cluster.command_actor import CHECKPOINTS, CommandActor, names_in
from mario_rl.cluster.connection import Connection, NodeLost
from mario_rl.cluster.node import check_version, whereabouts
from mario_rl.emulators.rom import find_rom

NAP = 0.5  # seconds between two looks
NEWS_SECONDS = 10.0  # between two questions for files
STOP_SECONDS = 90.0  # for a command that is to save and end


class ClusterCommands:
    """Runs any number of commands at the same time, from any threads; each waits for a node with room."""

    def __init__(self, connection: Connection):
        self._connection = connection
        self._installed = whereabouts().version
        self._rom = find_rom("smb").read_bytes()
        self._stopped = threading.Event()

    def stop(self) -> None:
        """All commands that run save what they have, and end."""
        self._stopped.set()

    def carry_out(self, run: Path, arguments: Sequence[str], cores: int, output: IO[Any]) -> int:
        """Run `mario-rl` with these arguments where so many cores are free; its exit code.

        Arguments that name `run`, or the directory that it is in, mean those on the node. A NodeLost if the node was
        lost: the run's directory has what arrived before.
        """
        there = [argument.replace(str(run.parent), CHECKPOINTS) for argument in arguments]
        actor: Any = ray.remote(CommandActor).options(num_cpus=cores, max_restarts=0, max_concurrency=8).remote()
        try:
            where = actor.where.remote()
            if not self._await(where):
                return -1
            check_version(ray.get(where), self._installed)
            return self._follow(_Command(actor, there, run, self._rom, output))
        except RayTaskError:  # an exception of ours
            raise
        except RayError as problem:
            raise NodeLost(f"a node was lost: {str(problem).splitlines()[0]}") from problem
        finally:
            if not self._connection.silent:
                with contextlib.suppress(RayError, ConnectionError):
                    ray.kill(actor)

    def _follow(self, command: _Command) -> int:
        asked = time.monotonic()
        while not (self._stopped.is_set() or command.ended()):
            self._nap()
            if time.monotonic() - asked > NEWS_SECONDS and not self._connection.silent:
                command.take_news()
                asked = time.monotonic()
        if not command.ended():
            return command.stop()
        command.take_news()
        return command.exit_code()

    def _await(self, call: Any) -> bool:
        """Whether the call was answered before everything was stopped."""
        while not self._stopped.is_set():
            if ray.wait([call], timeout=0)[0]:
                return True
            self._nap()
        return False

    def _nap(self) -> None:
        """A while, and longer while the head is silent; a ClusterLost if it stays so."""
        self._stopped.wait(NAP)
        while self._connection.silent:
            self._connection.check()
            self._stopped.wait(NAP)


class _Command:
    """One that runs on a node."""

    def __init__(self, actor: Any, arguments: list[str], run: Path, rom: bytes, output: IO[Any]):
        self._actor, self._run, self._output = actor, run, output
        self._stamp = self._said = 0
        files = {name: (run / name).read_bytes() for name in names_in(run)}
        self._body = actor.carry_out.remote(arguments, run.name, files, rom)

    def ended(self) -> bool:
        """Whether it has."""
        return bool(ray.wait([self._body], timeout=0)[0])

    def exit_code(self) -> int:
        """Of one that has ended."""
        code: int = ray.get(self._body)
        return code

    def stop(self) -> int:
        """Ctrl-C for it; what it saved then is taken."""
        self._actor.stop.remote()
        with contextlib.suppress(GetTimeoutError):
            code: int = ray.get(self._body, timeout=STOP_SECONDS)
            self.take_news()
            return code
        return -1

    def take_news(self) -> None:
        """Its files and words since the last time."""
        self._stamp, files, said = ray.get(self._actor.news.remote(self._stamp, self._said))
        for name, content in files.items():
            file = self._run / name
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, content)
        self._said += len(said)
        self._output.write(said.decode(errors="replace"))
        self._output.flush()
