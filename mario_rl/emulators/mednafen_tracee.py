"""A process under ptrace (x86-64 Linux): its memory, break points with names, and calls of its functions from outside.

All of it, from the start on, must happen in one thread: that is what the kernel takes for the tracer.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import struct
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mario_rl.emulators.mednafen_build import MednafenError
from mario_rl.emulators.mednafen_process import Log
from mario_rl.emulators.mednafen_stepper import ConsoleLost

_CONT, _GETREGS, _SETREGS, _SEIZE = 7, 12, 13, 0x4206
_TRACE_CLONE, _TRACE_EXEC, _EXIT_KILL = 0x08, 0x10, 0x100000
_EVENT_EXEC = 4
_WALL, _WNOTHREAD = 0x40000000, 0x20000000  # threads, too; but only what this thread traces
_PROT_READ_WRITE, _MAP_SHARED_FIXED = 3, 0x11

BREAK_POINT = b"\xcc"
# mov $9, %eax (mmap); syscall. The kernel is still within exec when it stops there, and sets %rax when it returns.
MMAP_CODE = b"\xb8\x09\0\0\0\x0f\x05" + BREAK_POINT
TRAPS = ("emulate", "set_input", "returned", "stream_read", "stream_write", "stream_other")

# It waits until it is traced; if we are gone by then, it ends.
_WAIT_AND_BECOME = ["/bin/sh", "-c", 'read go && exec "$@" </dev/null', "sh"]


class Registers(ctypes.Structure):
    """user_regs_struct."""

    _fields_ = [
        (name, ctypes.c_ulonglong)
        for name in (
            *("r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi", "rdi"),
            *("orig_rax", "rip", "cs", "eflags", "rsp", "ss", "fs_base", "gs_base", "ds", "es", "fs", "gs"),
        )
    ]
    rax: int
    rdx: int
    rsi: int
    rdi: int
    orig_rax: int
    rip: int
    rsp: int

    def copy(self) -> Registers:
        """Another one with the same values."""
        return Registers.from_buffer_copy(self)


_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def _ptrace(request: int, thread: int, data: int = 0) -> None:
    if _libc.ptrace(request, thread, None, data) == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


class Tracee:
    """A program that is traced from its first instruction on, where this leaves it stopped."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], fds: Sequence[int], log: Log, spare_code: int
    ):
        self._process = subprocess.Popen(
            [*_WAIT_AND_BECOME, *command],
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=log.fd,
            stderr=log.fd,
            pass_fds=fds,
            start_new_session=True,
        )
        self.pid = self._thread = self._process.pid
        self._pidfd = os.pidfd_open(self.pid)
        self._memory = -1
        self._spare_code = spare_code
        assert self._process.stdin is not None
        try:
            _ptrace(_SEIZE, self.pid, _TRACE_CLONE | _TRACE_EXEC | _EXIT_KILL)
        except OSError as problem:
            self._process.stdin.close()
            self._process.wait()
            os.close(self._pidfd)
            raise MednafenError(
                f"this system does not let us trace Mednafen ({problem.strerror}): build the shim"
            ) from problem
        self._process.stdin.write(b"go\n")
        self._process.stdin.close()
        self._until_it_is(Path(command[0]))
        self._memory = os.open(f"/proc/{self.pid}/mem", os.O_RDWR)
        self.write(spare_code, BREAK_POINT * len(TRAPS) + MMAP_CODE)

    # --- its life -----------------------------------------------------------------------------------------------------

    @property
    def alive(self) -> bool:
        """Whether it has not been seen to end."""
        return self._process.returncode is None

    def kill(self) -> None:
        """End it; from any thread."""
        if self.alive:
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def look(self) -> None:
        """See whether it has ended while one of its threads is held; the others go on."""
        while (stop := self._next_stop(os.WNOHANG)) is not None and stop[0] != 0:
            self._pass_on(*stop)

    def bury(self) -> None:
        """Wait for the end of one that was killed."""
        while (stop := self._next_stop()) is not None:
            self._pass_on(*stop)

    def close(self) -> None:
        """Let go of one that has ended."""
        os.close(self._memory)
        os.close(self._pidfd)

    def how_it_ended(self) -> str:
        """In words."""
        code = self._process.returncode
        if code is None:
            return "still runs"
        return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    # --- its memory ---------------------------------------------------------------------------------------------------

    def read(self, address: int, size: int) -> bytes:
        """Bytes of its memory."""
        data = os.pread(self._memory, size, address) if size else b""
        if len(data) != size:
            raise self._lost()
        return data

    def write(self, address: int, data: bytes) -> None:
        """Change its memory."""
        try:
            os.pwrite(self._memory, data, address)
        except OSError as problem:
            raise self._lost() from problem

    def read_word(self, address: int) -> int:
        """A pointer."""
        return int.from_bytes(self.read(address, 8), "little")

    def write_word(self, address: int, value: int) -> None:
        """A pointer."""
        self.write(address, struct.pack("<Q", value))

    def map_file(self, address: int, size: int, fd: int) -> None:
        """Map a file that it has open over its memory, while it is at its first instruction."""
        before = self._registers()
        registers = before.copy()
        registers.rdi, registers.rsi, registers.rdx = address, size, _PROT_READ_WRITE
        registers.r10, registers.r8, registers.r9 = _MAP_SHARED_FIXED, fd, 0
        registers.rip = self._spare_code + len(TRAPS)
        self.resume_with(registers)
        self._until_stop()
        if self._registers().rax != address:
            raise MednafenError("cannot share the console's RAM with Mednafen")
        self._set_registers(before)

    # --- running ------------------------------------------------------------------------------------------------------

    def trap(self, name: str) -> int:
        """The address of a break point."""
        return self._spare_code + TRAPS.index(name)

    def resume(self) -> None:
        """Let it run."""
        self._resume(self._thread)

    def resume_with(self, registers: Registers) -> None:
        """Let it run with these registers."""
        self._set_registers(registers)
        self._resume(self._thread)

    def until_trap(self) -> tuple[str, Registers]:
        """Wait until it is at a break point: its name, and the registers as they were before it."""
        self._until_stop()
        registers = self._registers()
        registers.rip -= len(BREAK_POINT)
        place = registers.rip - self._spare_code
        if not 0 <= place < len(TRAPS):
            raise self._lost()  # a SIGTRAP that is none of ours: it has gone astray
        return TRAPS[place], registers

    def return_from(self, registers: Registers) -> None:
        """Let a function that is at its first instruction return at once."""
        back = registers.copy()
        back.rip = self.read_word(back.rsp)
        back.rsp += 8
        self.resume_with(back)

    def call(
        self,
        held: Registers,
        function: int,
        arguments: Sequence[int],
        served: Mapping[str, Callable[[Registers], int]],
    ) -> None:
        """Call a function in the thread that is held with these registers, and hold it there again.

        When the function gets to a break point in `served`, that is called, and its result is returned there.
        """
        registers = held.copy()
        registers.rsp = ((held.rsp - 0x1000) & ~0xF) - 8  # aligned, as at the start of any function
        self.write_word(registers.rsp, self.trap("returned"))
        for name, value in zip(("rdi", "rsi", "rdx", "rcx", "r8", "r9"), arguments, strict=False):
            setattr(registers, name, value)
        registers.rip, registers.rax = function, 0
        self.resume_with(registers)
        while True:
            trap, at = self.until_trap()
            if trap == "returned":
                self._set_registers(held)
                return
            if trap not in served:
                raise self._lost()
            at.rax = served[trap](at)
            self.return_from(at)

    # --- the kernel's side -------------------------------------------------------------------------------------------

    def _until_it_is(self, program: Path) -> None:
        while (stop := self._next_stop()) is not None:
            # The shell itself may have been about to become one.
            if stop[1] >> 16 == _EVENT_EXEC and program.samefile(f"/proc/{self.pid}/exe"):
                return
            self._pass_on(*stop)
        raise self._lost()

    def _until_stop(self) -> None:
        """Wait for a SIGTRAP of its own; let threads be born and signals arrive meanwhile."""
        while (stop := self._next_stop()) is not None:
            thread, status = stop
            if os.WSTOPSIG(status) == signal.SIGTRAP and status >> 16 == 0:
                self._thread = thread
                return
            self._pass_on(thread, status)
        raise self._lost()

    def _next_stop(self, options: int = 0) -> tuple[int, int] | None:
        """The next stop of one of its threads, (thread, status); None if it has ended. (0, 0): none yet (WNOHANG)."""
        while self.alive:
            thread, status = os.waitpid(-1, options | _WALL | _WNOTHREAD)
            if thread == 0 or os.WIFSTOPPED(status):
                return thread, status
            if thread == self.pid:
                self._process.returncode = os.waitstatus_to_exitcode(status)
        return None

    def _pass_on(self, thread: int, status: int) -> None:
        """Let a thread go on with the signal it got; events of tracing are none."""
        self._resume(thread, 0 if status >> 16 else os.WSTOPSIG(status))

    def _resume(self, thread: int, number: int = 0) -> None:
        with contextlib.suppress(ProcessLookupError):  # it was killed; the next wait says so
            _ptrace(_CONT, thread, number)

    def _registers(self) -> Registers:
        registers = Registers()
        try:
            _ptrace(_GETREGS, self._thread, ctypes.addressof(registers))
        except ProcessLookupError as problem:
            raise self._lost() from problem
        return registers

    def _set_registers(self, registers: Registers) -> None:
        try:
            _ptrace(_SETREGS, self._thread, ctypes.addressof(registers))
        except ProcessLookupError as problem:
            raise self._lost() from problem

    def _lost(self) -> ConsoleLost:
        self.kill()
        self.bury()
        return ConsoleLost(f"Mednafen (process {self.pid}) {self.how_it_ended()}")
