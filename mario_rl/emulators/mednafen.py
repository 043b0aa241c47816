"""NES games in Mednafen, the real emulator, behind the `Emulator` contract, and a manager that keeps one running.

docs/mednafen.md says how; the parts are in mednafen_*.py.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from mario_rl.emulators.base import EmulatorReset
from mario_rl.emulators.embedded import load_rom
from mario_rl.emulators.mednafen_build import MednafenError, installed_build
from mario_rl.emulators.mednafen_console import ATTEMPTS, ManagedConsole
from mario_rl.emulators.mednafen_memory import ConsoleMemory
from mario_rl.emulators.mednafen_ptrace import PtraceStepper
from mario_rl.emulators.mednafen_screen import VirtualScreen
from mario_rl.emulators.mednafen_shim import ShimStepper, shim_library
from mario_rl.emulators.mednafen_state import StateFormat
from mario_rl.emulators.mednafen_stepper import ConsoleLost, Launch, Stepper
from mario_rl.emulators.navigation import UNKNOWN_MODE, Game, game_of

__all__ = ["ConsoleLost", "EmulatorReset", "LaunchReport", "MednafenEmulator", "MednafenError", "MednafenManager"]

StepperName = Literal["auto", "shim", "ptrace"]

BUS_SIZE = 0x10000
RAM_END, CARTRIDGE = 0x2000, 0x6000  # of the CPU's bus; registers are in between

# Mednafen has the buttons of a pad in the opposite order: A is bit 0.
_REVERSED = bytes(int(f"{pad:08b}"[::-1], 2) for pad in range(256))


class MednafenEmulator:
    """One console (see `Emulator`) in a Mednafen of its own, which ends with it, or with this process.

    `headless=False` shows a window on `display`, or on $DISPLAY, or on an X server of its own that nobody sees.
    `stepper`: "shim" is fast, "ptrace" needs nothing compiled; "auto" takes the first that can be used.
    `on_end` is called, by another thread, when Mednafen ends for any other reason than `close` or `relaunch`.
    """

    def __init__(
        self,
        rom: bytes | str | Path,
        *,
        headless: bool = True,
        display: str | None = None,
        stepper: StepperName = "auto",
        on_end: Callable[[], None] = lambda: None,
    ):
        self._rom = rom if isinstance(rom, bytes) else Path(rom).read_bytes()
        load_rom(self._rom)  # a RomError says what is wrong with it; Mednafen would only end
        if stepper not in ("auto", "shim", "ptrace"):
            raise ValueError(f"unknown stepper {stepper!r}; use auto, shim or ptrace")
        self._build = installed_build()
        self._headless, self._display, self._on_end = headless, display, on_end
        self._stepper_kind = stepper if stepper != "auto" else "shim" if shim_library() else "ptrace"
        self._stepper: Stepper | None = None
        self._watched: object | None = None
        self._screen: VirtualScreen | None = None
        self._drawn = False
        self._memory = ConsoleMemory(self._build.ram)
        self.ram: NDArray[np.uint8] = self._memory.ram
        try:
            self._start()
        except BaseException:
            self._memory.close()
            raise
        self._states = StateFormat(self._rom, self._build.build_id, len(self._power_on))

    def step(self, pads: tuple[int, int] = (0, 0), frames: int = 1, render: bool = False) -> None:
        """Run `frames` frames with both pads held; draw the last one if `render`."""
        first, second = pads
        if not (0 <= first <= 0xFF and 0 <= second <= 0xFF):
            raise ValueError(f"a pad is a byte, 0 to 255: {pads!r} is not two of them")
        if frames < 0:
            raise ValueError("frames must not be negative")
        self._running.step((_REVERSED[first], _REVERSED[second]), frames, render)
        self._drawn |= render and frames > 0

    def frame(self) -> NDArray[np.uint8]:
        """The last drawn frame, uint8[240, 256, 3] RGB, in Mednafen's colours."""
        if not self._drawn:
            raise ValueError("this console has not drawn a frame yet: step it with render=True")
        return self._memory.picture.copy()

    def peek(self, address: int, length: int = 1) -> bytes:
        """The CPU bus without side effects; registers read as 0."""
        if address < 0 or length < 0 or address + length > BUS_SIZE:
            raise ValueError("peek reads within $0000-$FFFF")
        end = address + length
        ram = self.ram.tobytes() * (RAM_END // len(self.ram))
        registers = bytes(max(0, min(end, CARTRIDGE) - max(address, RAM_END)))
        first = max(address, CARTRIDGE)
        return ram[address:end] + registers + (self._running.bus(first, end - first) if first < end else b"")

    def save(self) -> bytes:
        """The whole state: loads wherever the same build of Mednafen runs the same cartridge."""
        return self._states.wrap(self._running.save())

    def load(self, state: bytes) -> None:
        """Restore a saved state; StateError (a ValueError) if it is not one, and then nothing changed."""
        self._running.load(self._states.unwrap(state))

    def power(self) -> None:
        """Switch off and on again, cartridge RAM included: as in a new process."""
        self._running.load(self._power_on)

    def relaunch(self) -> None:
        """Put a new Mednafen, just switched on, in the place of this one. `ram` stays the same array."""
        self._end()
        self._start()

    def kill(self) -> None:
        """End Mednafen at once, from any thread: a call that is under way raises ConsoleLost."""
        self._watched = None
        stepper = self._stepper
        if stepper is not None:
            stepper.kill()

    def close(self) -> None:
        """End Mednafen. Idempotent."""
        self._end()
        self._memory.close()
        self._on_end = lambda: None  # whoever wants to know holds us: the two would keep each other alive

    @property
    def alive(self) -> bool:
        """Whether Mednafen runs."""
        return self._stepper is not None and self._stepper.alive

    @property
    def pid(self) -> int | None:
        """The process id of Mednafen; None after `close`."""
        return None if self._stepper is None else self._stepper.pid

    @property
    def nes_ram_base(self) -> int:
        """The address of the console's RAM in that process."""
        return self._build.ram

    @property
    def _running(self) -> Stepper:
        if self._stepper is None:
            raise MednafenError("this console is closed: open another one")
        return self._stepper

    def _start(self) -> None:
        if self._memory.fd < 0:
            raise MednafenError("this console is closed: open another one")
        display = None
        if not self._headless:
            display = self._display or os.environ.get("DISPLAY") or None
            if display is None:
                self._screen = VirtualScreen()
                display = self._screen.name
        rom_fd = os.memfd_create("cartridge.nes")
        os.write(rom_fd, self._rom)
        kind = ShimStepper if self._stepper_kind == "shim" else PtraceStepper
        try:
            self._stepper = kind(self._build, self._memory, Launch(rom_fd, display), self._watch())
            # Mednafen's Game Genie, which nobody uses, has its codes as 0 in a new process and as $FF after a load.
            self._stepper.load(self._stepper.save())
            self._power_on = self._stepper.save()
        except BaseException:
            self._end()
            raise
        finally:
            os.close(rom_fd)

    def _watch(self) -> Callable[[], None]:
        """What is to be done when the Mednafen that is started now ends. It must not keep this console in use."""
        self._watched = watched = object()
        console = weakref.ref(self)

        def ended() -> None:
            here = console()
            if here is not None and here._watched is watched:  # not one that was ended on purpose
                here._on_end()

        return ended

    def _end(self) -> None:
        self._watched = None
        stepper, self._stepper = self._stepper, None
        if stepper is not None:
            stepper.close()
        screen, self._screen = self._screen, None
        if screen is not None:
            screen.close()

    def __del__(self) -> None:
        # When Python itself ends, Mednafen does so with it.
        if hasattr(self, "_memory") and not sys.is_finalizing():
            self.close()


class LaunchReport(TypedDict):
    """What became of a launch."""

    success: bool
    pid: int | None
    nes_ram_base: int | None
    game_mode: str
    in_gameplay: bool
    message: str


ManagerState = Literal["stopped", "running", "recovering", "failed"]


class MednafenManager:
    """Owns one console in Mednafen: launches it into play, watches it, and starts it again when it is lost.

    `play=False` leaves the console at power-on. Calls may come from any thread.
    """

    def __init__(
        self,
        rom: str | Path | bytes,
        headless: bool = True,
        *,
        display: str | None = None,
        play: bool = True,
        stepper: StepperName = "auto",
    ):
        self._rom, self._headless, self._display, self._play, self._stepper = rom, headless, display, play, stepper
        self._game: Game | None = None
        self._lock = threading.Lock()
        self._console: ManagedConsole | None = None
        self._restarts_before = 0

    def launch(self) -> LaunchReport:
        """Start Mednafen and get into play. Never raises: the report says what went wrong."""
        with self._lock:
            if self._console is not None and self._console.state != "failed":
                return self._report(True, "already running")
            self._shut_down()
            try:
                return self._launched()
            except (MednafenError, OSError, ValueError) as problem:
                self._shut_down()
                return self._report(False, str(problem))

    def shutdown(self) -> None:
        """End Mednafen. Idempotent."""
        with self._lock:
            self._shut_down()

    def restart(self) -> LaunchReport:
        """End it and launch it again, from power-on."""
        self.shutdown()
        return self.launch()

    def is_alive(self) -> bool:
        """Whether Mednafen runs at this moment."""
        console = self._console
        return console is not None and console.alive

    def get_mcp(self) -> ManagedConsole:
        """The managed console: keeps the `Emulator` contract, and raises EmulatorReset once after each loss."""
        console = self._console
        if console is None:
            raise MednafenError("Mednafen does not run: launch it")
        return console

    @property
    def state(self) -> ManagerState:
        """What it does at this moment."""
        console = self._console
        return "stopped" if console is None else console.state

    @property
    def restarts(self) -> int:
        """How often a lost console was started again, since this manager exists."""
        console = self._console
        return self._restarts_before + (0 if console is None else console.restarts)

    @property
    def pid(self) -> int | None:
        """The process id of Mednafen, if it runs."""
        console = self._console
        return console.pid if console is not None and console.alive else None

    def report(self, message: str = "") -> LaunchReport:
        """Where things stand."""
        return self._report(self.is_alive(), message)

    def _launched(self) -> LaunchReport:
        rom = self._rom if isinstance(self._rom, bytes) else Path(self._rom).read_bytes()
        self._game = game_of(rom)
        self._console = console = ManagedConsole(
            lambda on_end: MednafenEmulator(
                rom, headless=self._headless, display=self._display, stepper=self._stepper, on_end=on_end
            )
        )
        if not self._play:
            return self._report(True, "at power-on")
        if self._game is None:
            return self._report(True, "at power-on: this cartridge is none whose menus are known")
        for _ in range(ATTEMPTS):
            with contextlib.suppress(EmulatorReset):  # lost on the way, and back at power-on
                self._game.into_play(console)
                console.keep()
                return self._report(True, "in play")
        raise MednafenError("Mednafen ends again and again before it is in play")

    def _shut_down(self) -> None:
        console, self._console = self._console, None
        if console is not None:
            console.close()
            self._restarts_before += console.restarts

    def _report(self, success: bool, message: str) -> LaunchReport:
        console, game = self._console, self._game
        return LaunchReport(
            success=success,
            pid=self.pid,
            nes_ram_base=None if console is None else console.nes_ram_base,
            game_mode=UNKNOWN_MODE if game is None or console is None else game.mode(console.ram),
            in_gameplay=game is not None and console is not None and game.in_play(console.ram),
            message=message,
        )
