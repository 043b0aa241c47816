"""A console that comes back: when its Mednafen ends, another one is started, at the last state that was kept."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from mario_rl.emulators.base import EmulatorReset
from mario_rl.emulators.mednafen_build import MednafenError
from mario_rl.emulators.mednafen_stepper import ConsoleLost

if TYPE_CHECKING:
    from mario_rl.emulators.mednafen import MednafenEmulator

KEEP_EVERY = 60  # frames, a second of play; keeping costs a fraction of a frame
ATTEMPTS = 5  # to start again, before it is given up
_CLOSED = "this console was shut down: launch it again"


class ManagedConsole:
    """Keeps the `Emulator` contract over changing processes. One call at a time: others wait.

    A loss is noticed when it happens, also while nobody calls. The first call after it, or the one it interrupts,
    raises EmulatorReset when the console runs again; `ram` is the same array throughout and never raises.
    """

    def __init__(self, open_emulator: Callable[[Callable[[], None]], MednafenEmulator]):
        self._lock = threading.RLock()
        self._closed = False
        self._problem: MednafenError | None = None
        self._unannounced = False  # a restart that no caller has been told of
        self.restarts = 0
        self.state: Literal["running", "recovering", "failed"] = "running"
        with self._lock:  # a loss from here on waits until this is made
            self._emulator = open_emulator(self._on_end)
            self._kept = self._emulator.save()
            self._frames_since_kept = 0

    @property
    def ram(self) -> NDArray[np.uint8]:
        """The console's RAM; writing it pokes the console."""
        return self._emulator.ram

    def step(self, pads: tuple[int, int] = (0, 0), frames: int = 1, render: bool = False) -> None:
        """Run `frames` frames with both pads held; draw the last one if `render`."""
        with self._call() as emulator:
            emulator.step(pads, frames, render)
            self._frames_since_kept += frames
            if self._frames_since_kept >= KEEP_EVERY:
                self._keep(emulator.save())

    def frame(self) -> NDArray[np.uint8]:
        """The last drawn frame, uint8[240, 256, 3] RGB."""
        with self._call() as emulator:
            return emulator.frame()

    def peek(self, address: int, length: int = 1) -> bytes:
        """The CPU bus without side effects; registers read as 0."""
        with self._call() as emulator:
            return emulator.peek(address, length)

    def save(self) -> bytes:
        """The whole state; it is kept, too."""
        with self._call() as emulator:
            return self._keep(emulator.save())

    def load(self, state: bytes) -> None:
        """Restore a saved state, which is kept, too; StateError if it is not one, and then nothing changed."""
        with self._call() as emulator:
            emulator.load(state)
            self._keep(state)

    def power(self) -> None:
        """Switch off and on again."""
        with self._call() as emulator:
            emulator.power()
            self._keep(emulator.save())

    def keep(self) -> None:
        """Let this be where it begins after a loss."""
        self.save()

    def close(self) -> None:
        """End Mednafen, also in the middle of another thread's call. Idempotent."""
        self._closed = True
        self._emulator.kill()
        with self._lock:
            self._emulator.close()

    @property
    def alive(self) -> bool:
        """Whether Mednafen runs at this moment."""
        return self._emulator.alive

    @property
    def pid(self) -> int | None:
        """The process id of Mednafen."""
        return self._emulator.pid

    @property
    def nes_ram_base(self) -> int:
        """The address of the console's RAM in that process."""
        return self._emulator.nes_ram_base

    def _keep(self, state: bytes) -> bytes:
        self._kept = state
        self._frames_since_kept = 0
        return state

    @contextlib.contextmanager
    def _call(self) -> Iterator[MednafenEmulator]:
        with self._lock:
            if self._closed:
                raise MednafenError(_CLOSED)
            if self._problem is not None:
                raise MednafenError(f"{self._problem}; launch it again")
            if self._unannounced:
                self._unannounced = False
                raise EmulatorReset(self.restarts)
            try:
                yield self._emulator
            except ConsoleLost as lost:
                if self._closed:
                    raise MednafenError(_CLOSED) from lost
                self._recover()
                self._unannounced = False
                raise EmulatorReset(self.restarts) from None

    def _on_end(self) -> None:
        """Called by the thread that has just seen Mednafen end."""
        self.state = "recovering"
        with self._lock:
            # A caller may have come first: then another one runs already, or cannot be started.
            if not self._closed and not self._emulator.alive and self._problem is None:
                with contextlib.suppress(MednafenError):  # the next caller gets to know
                    self._recover()
            else:
                self.state = "running" if self._problem is None else "failed"

    def _recover(self) -> None:
        self.state = "recovering"
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._emulator.relaunch()
                self._emulator.load(self._kept)
                break
            except MednafenError as problem:
                if attempt == ATTEMPTS:
                    self._problem = problem
                    self.state = "failed"
                    raise
        self._frames_since_kept = 0
        self.restarts += 1
        self._unannounced = True
        self.state = "running"
