"""Mednafen in lock-step by the library that is preloaded into it (native/mednafen_shim.c): fast, and the usual way."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path

from mario_rl import _native
from mario_rl.emulators.mednafen_build import Build, MednafenError
from mario_rl.emulators.mednafen_memory import EXCHANGE_SIZE, ConsoleMemory
from mario_rl.emulators.mednafen_process import LAUNCH_SECONDS, Child, Log, home_directory
from mario_rl.emulators.mednafen_stepper import ConsoleLost, Launch, patience

_COMMAND = struct.Struct("<cBBBIII")
_REPLY = struct.Struct("<III")
_NO_PADS = (0, 0)


def shim_library() -> Path | None:
    """The library, if it was built; it lies beside the native core."""
    file = Path(_native.__file__).with_name("mednafen_shim.so")
    return file if file.is_file() else None


class ShimStepper:
    """See `Stepper`."""

    def __init__(self, build: Build, memory: ConsoleMemory, launch: Launch, on_end: Callable[[], None]):
        library = shim_library()
        if library is None:
            raise MednafenError("the shim for Mednafen is not built: run `pip install -e .`, or use stepper='ptrace'")
        self._memory = memory
        self._commands = 0
        self._socket, theirs = socket.socketpair()
        functions = build.functions
        addresses = (build.ram, build.module, functions.save_state, functions.load_state, functions.read_address_space)
        numbers = (theirs.fileno(), memory.fd, os.getpid(), int(launch.has_window))
        orders = " ".join([*map(str, numbers), *(f"{address:x}" for address in addresses), build.build_id])
        try:
            with contextlib.closing(Log()) as log, home_directory() as home:
                environment = launch.environment(home) | {"LD_PRELOAD": str(library), "MARIO_RL_SHIM": orders}
                fds = [theirs.fileno(), memory.fd, launch.rom_fd]
                with theirs:
                    self._child = Child(launch.command(build.path), environment, fds, log, on_end)
                try:
                    self._receive(LAUNCH_SECONDS)  # the first frame is about to begin
                except BaseException as problem:
                    self._child.end()
                    if isinstance(problem, ConsoleLost):
                        raise MednafenError(f"Mednafen does not start: {log.last_line()}") from problem
                    raise
        except BaseException:
            self._socket.close()
            raise

    @property
    def pid(self) -> int:
        """Of Mednafen."""
        return self._child.pid

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._child.alive

    def step(self, pads: tuple[int, int], frames: int, draw: bool) -> None:
        """Run frames; pads as Mednafen has them."""
        self._ask(b"F", pads, draw, frames, seconds=patience(frames))

    def save(self) -> bytes:
        """Mednafen's own state."""
        return self._memory.exchanged(self._ask(b"S"))

    def load(self, content: bytes) -> None:
        """Restore one that was checked."""
        self._memory.exchange(content)
        self._ask(b"L", count=len(content))

    def bus(self, address: int, length: int) -> bytes:
        """What the CPU would read there."""
        assert length <= EXCHANGE_SIZE
        self._ask(b"B", count=length, address=address)
        return self._memory.exchanged(length)

    def kill(self) -> None:
        """End Mednafen at once; from any thread."""
        self._child.kill()

    def close(self) -> None:
        """End Mednafen. It ignores SIGTERM while we hold it. Once only."""
        self._child.end(self._quit)
        self._socket.close()

    def _quit(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.sendall(_COMMAND.pack(b"Q", 0, 0, 0, 0, 0, 0))

    def _ask(
        self,
        op: bytes,
        pads: tuple[int, int] = _NO_PADS,
        draw: bool = False,
        count: int = 0,
        address: int = 0,
        seconds: float = patience(0),
    ) -> int:
        self._commands = self._commands + 1 & 0xFFFFFFFF
        command = _COMMAND.pack(op, pads[0], pads[1], draw, count, address, self._commands)
        try:
            self._socket.sendall(command)
        except OSError as problem:
            raise self._lost() from problem
        return self._receive(seconds)

    def _receive(self, seconds: float) -> int:
        self._socket.settimeout(seconds)
        number = -1
        try:
            while number != self._commands:  # the reply to a call that was interrupted (Ctrl-C) may come before it
                reply = self._socket.recv(_REPLY.size)
                if len(reply) != _REPLY.size:
                    raise self._lost()
                number, failed, count = _REPLY.unpack(reply)
        except TimeoutError as problem:
            self._child.kill()
            raise ConsoleLost(f"Mednafen did not answer for {seconds:.0f} s and was ended") from problem
        except OSError as problem:
            raise self._lost() from problem
        if failed:
            raise MednafenError("Mednafen refused a command: the shim is of another version; build it again")
        return int(count)

    def _lost(self) -> ConsoleLost:
        self._child.kill()  # its socket is closed: it is as good as gone
        return ConsoleLost(f"Mednafen (process {self.pid}) {self._child.how_it_ended()}")
