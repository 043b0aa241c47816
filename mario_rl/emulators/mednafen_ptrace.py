"""Mednafen in lock-step by ptrace, with nothing compiled: slower than the shim, and for where there is no shim.

It does what the shim does, from outside: the NES module's `Emulate` is made to point at a break point, and everything
else is a call made in the name of the thread that waits there (mednafen_tracee.py). The kernel lets only the thread
that traces a process touch it, so each console has a thread that does whatever the others ask for.
"""

from __future__ import annotations

import queue
import struct
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

import numpy as np

from mario_rl.emulators.base import SCREEN_HEIGHT, SCREEN_WIDTH
from mario_rl.emulators.mednafen_build import Build, MednafenError
from mario_rl.emulators.mednafen_memory import ConsoleMemory
from mario_rl.emulators.mednafen_process import END_SECONDS, LAUNCH_SECONDS, Log, home_directory
from mario_rl.emulators.mednafen_stepper import ConsoleLost, Launch, patience
from mario_rl.emulators.mednafen_tracee import Registers, Tracee

Result = TypeVar("Result")

LOOK_EVERY = 0.01  # seconds: how soon the end of an idle Mednafen is noticed

# Offsets in Mednafen's structures, as in native/mednafen_shim.c.
MODULE_EMULATE, MODULE_SET_INPUT = 0xA8, 0xB8
REQUEST_FORMAT_CHANGED, REQUEST_SKIP, REQUEST_SOUND_CHANGED = 0x08, 0x38, 0x3C
SURFACE_PIXELS, SURFACE_PITCH, SURFACE_SHIFTS = 0x10, 0x2C, 0x3A
STREAM_SLOTS, STREAM_READ, STREAM_WRITE = 16, 7, 8


class PtraceStepper:
    """See `Stepper`."""

    def __init__(self, build: Build, memory: ConsoleMemory, launch: Launch, on_end: Callable[[], None]):
        self._jobs: queue.SimpleQueue[tuple[Callable[[_Console], Any], Future[Any]] | None] = queue.SimpleQueue()
        self._ended = threading.Event()
        ready: Future[Tracee] = Future()
        arguments = (build, memory, launch, on_end, ready)
        threading.Thread(target=self._live, args=arguments, name="tracer of Mednafen", daemon=True).start()
        self._tracee = ready.result()

    @property
    def pid(self) -> int:
        """Of Mednafen."""
        return self._tracee.pid

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return not self._ended.is_set()

    def step(self, pads: tuple[int, int], frames: int, draw: bool) -> None:
        """Run frames; pads as Mednafen has them."""
        self._do(lambda console: console.step(pads, frames, draw), patience(frames))

    def save(self) -> bytes:
        """Mednafen's own state."""
        return self._do(lambda console: console.save())

    def load(self, content: bytes) -> None:
        """Restore one that was checked."""
        self._do(lambda console: console.load(content))

    def bus(self, address: int, length: int) -> bytes:
        """What the CPU would read there."""
        return self._do(lambda console: console.bus(address, length))

    def kill(self) -> None:
        """End Mednafen at once; from any thread."""
        self._tracee.kill()

    def close(self) -> None:
        """End Mednafen. Once only."""
        self._tracee.kill()
        self._jobs.put(None)
        self._ended.wait(END_SECONDS)

    def _do(self, job: Callable[[_Console], Result], seconds: float = patience(0)) -> Result:
        future: Future[Result] = Future()
        self._jobs.put((job, future))
        if self._ended.is_set():  # nobody may come for it any more
            raise ConsoleLost(f"Mednafen (process {self.pid}) {self._tracee.how_it_ended()}")
        try:
            return future.result(seconds)
        except TimeoutError as problem:
            self._tracee.kill()
            raise ConsoleLost(f"Mednafen did not answer for {seconds:.0f} s and was ended") from problem

    def _live(
        self, build: Build, memory: ConsoleMemory, launch: Launch, on_end: Callable[[], None], ready: Future[Tracee]
    ) -> None:
        log = Log()
        try:
            console = _Console(build, memory, launch, log)
        except BaseException as problem:  # it belongs to the one who waits
            ready.set_exception(problem)
            return
        finally:
            log.close()
        ready.set_result(console.tracee)
        job: tuple[Callable[[_Console], Any], Future[Any]] | None = None
        while console.tracee.alive:
            try:
                job = self._jobs.get(timeout=LOOK_EVERY)
            except queue.Empty:
                console.tracee.look()
                continue
            if job is None:
                console.tracee.bury()
                continue
            work, future = job
            try:
                future.set_result(work(console))
            except BaseException as problem:
                future.set_exception(problem)
        console.tracee.close()
        self._ended.set()
        while not self._jobs.empty():
            late = self._jobs.get()
            if late is not None:
                late[1].set_exception(ConsoleLost(f"Mednafen (process {self.pid}) {console.tracee.how_it_ended()}"))
        on_end()


class _Console:
    """What the shim does, in the tracing thread."""

    def __init__(self, build: Build, memory: ConsoleMemory, launch: Launch, log: Log):
        self._build, self._memory, self._has_window = build, memory, launch.has_window
        self._ports = [0, 0]
        self._pads = (0, 0)
        with home_directory() as home:
            fds = [memory.fd, launch.rom_fd]
            self.tracee = tracee = Tracee(
                launch.command(build.path), launch.environment(home), fds, log, build.spare_code
            )
            kill = threading.Timer(LAUNCH_SECONDS, tracee.kill)
            kill.start()
            try:
                memory.begin_with(tracee.read(*memory.ram_pages))
                tracee.map_file(*memory.ram_pages, memory.fd)
                module = build.module
                self._emulate, self._set_input = (
                    tracee.read_word(module + MODULE_EMULATE),
                    tracee.read_word(module + MODULE_SET_INPUT),
                )
                tracee.write_word(module + MODULE_EMULATE, tracee.trap("emulate"))
                tracee.write_word(module + MODULE_SET_INPUT, tracee.trap("set_input"))
                tracee.resume()
                self._hold()
            except ConsoleLost as lost:
                raise MednafenError(f"Mednafen does not start: {log.last_line()}") from lost
            finally:
                kill.cancel()

    def _hold(self) -> None:
        """Run until a frame is asked for; note on the way where the pads are."""
        while True:
            trap, registers = self.tracee.until_trap()
            if trap == "emulate":
                self._held = registers
                return
            assert trap == "set_input"
            if registers.rdi < len(self._ports):
                self._ports[registers.rdi] = registers.rdx
            registers.rip = self._set_input
            self.tracee.resume_with(registers)

    def step(self, pads: tuple[int, int], frames: int, draw: bool) -> None:
        tracee = self.tracee
        for number in range(frames):
            request = self._held.rdi
            last = number == frames - 1
            self._press(pads)
            skip = not self._has_window and not (draw and last)
            tracee.write(request + REQUEST_SKIP, struct.pack("<i", skip))
            self._call(self._emulate, request)
            tracee.write(request + REQUEST_FORMAT_CHANGED, b"\0")
            tracee.write(request + REQUEST_SOUND_CHANGED, b"\0")
            if draw and last:
                self._copy_picture(tracee.read_word(request))
            if self._has_window:  # it shows the frame when `Emulate` returns
                self.tracee.return_from(self._held)
                self._hold()

    def save(self) -> bytes:
        self._press(self._pads)
        content = bytearray()

        def write(registers: Registers) -> int:
            content.extend(self.tracee.read(registers.rsi, registers.rdx))
            return 0

        self._call(self._build.functions.save_state, self._stream(), 1, 0, 0, 0, stream_write=write)
        return bytes(content)

    def load(self, content: bytes) -> None:
        at = 0

        def read(registers: Registers) -> int:
            nonlocal at
            self.tracee.write(registers.rsi, content[at : at + registers.rdx])
            at += registers.rdx
            return int(registers.rdx)

        self._call(self._build.functions.load_state, self._stream(), 1, 0, stream_read=read)
        self._pads = (self.tracee.read(self._ports[0], 1)[0], self.tracee.read(self._ports[1], 1)[0])

    def bus(self, address: int, length: int) -> bytes:
        name = self._scratch()
        self.tracee.write(name, b"cpu\0")
        self._call(self._build.functions.read_address_space, name, address, length, name + 8)
        return self.tracee.read(name + 8, length)

    def _press(self, pads: tuple[int, int]) -> None:
        """A driver with a window puts its own keyboard there after each frame; states have the pads in them, too."""
        self._pads = pads
        for port, pad in zip(self._ports, pads, strict=True):
            self.tracee.write(port, bytes([pad]))

    def _scratch(self) -> int:
        """Room for 128 KiB, far below the stack of the waiting thread."""
        return int(self._held.rsp - 0x40000) & ~0xFF

    def _stream(self) -> int:
        """A C++ Stream, all of whose functions are break points."""
        slots = ["stream_other"] * STREAM_SLOTS
        slots[STREAM_READ], slots[STREAM_WRITE] = "stream_read", "stream_write"
        stream = self._scratch()
        table = stream + 8
        self.tracee.write(stream, struct.pack(f"<{1 + STREAM_SLOTS}Q", table, *map(self.tracee.trap, slots)))
        return stream

    def _call(self, function: int, *arguments: int, **served: Callable[[Registers], int]) -> None:
        self.tracee.call(self._held, function, arguments, served)

    def _copy_picture(self, surface: int) -> None:
        read = self.tracee.read
        pitch = struct.unpack("<i", read(surface + SURFACE_PITCH, 4))[0]
        pixels = read(self.tracee.read_word(surface + SURFACE_PIXELS), 4 * pitch * SCREEN_HEIGHT)
        rows = np.frombuffer(pixels, np.uint32).reshape(SCREEN_HEIGHT, pitch)[:, :SCREEN_WIDTH]
        for colour, shift in enumerate(read(surface + SURFACE_SHIFTS, 3)):
            self._memory.picture[:, :, colour] = rows >> shift
