"""One console and all that is asked of it: one thing at a time, in a thread of its own.

The event loop never waits for a console. Reading is for everybody; writing is for whoever `writers` lets. A console
that is lost (its process killed, say) comes back by itself; readers notice nothing, and each writer's next request is
refused once, with WasReset, so that nobody goes on as if nothing had happened.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from mario_rl._native import StateError
from mario_rl.emulators.base import Emulator, EmulatorReset
from mario_rl.emulators.mednafen import LaunchReport, MednafenError
from mario_rl.emulators.navigation import Game
from mario_rl.server.console_thread import ConsoleThread, ThreadEnded
from mario_rl.server.consoles import Manager
from mario_rl.server.errors import Invalid, NotRunning, WasReset
from mario_rl.server.game_state import drmario_state, smb_state
from mario_rl.server.schemas import BUS_SIZE, GameState, Status
from mario_rl.server.screen import Picture, Screen
from mario_rl.server.writers import Writers

Result = TypeVar("Result")
Work = Callable[[Emulator], Result]

READ_ATTEMPTS = 3  # a reader tries again when the console was lost meanwhile


class Session:
    """A console under a name."""

    def __init__(self, name: str, emulator: str, manager: Manager, cartridge: bytes, game: Game | None):
        self.name = name
        self.cartridge = hashlib.sha256(cartridge).digest()
        self.writers = Writers()
        self.frames = 0
        self._emulator = emulator
        self._manager = manager
        self._game = game
        self._thread = ConsoleThread(f"console-{name}")
        self._report: LaunchReport | None = None
        self._launching = True
        self._launched_at = time.monotonic()
        self._mode = ""
        self._in_play = False
        # How often the console was reset, and up to which of them each writer knows (None: all without a key).
        self._resets = 0
        self._known_resets: dict[str | None, int] = {None: 0}
        self.screen = Screen()

    # --- launching and ending -------------------------------------------------------------------------------------

    async def launch(self) -> LaunchReport:
        """Start the console, unless it runs already."""
        return await self._in_thread(self._launch_now)

    async def restart(self, key: str | None) -> LaunchReport:
        """End the console and start it again."""
        self.writers.check(key)
        return await self._in_thread(lambda: self._restart_now(key))

    async def shutdown(self) -> None:
        """End the console; what is still asked of it is refused."""
        await self._in_thread(self._end_now)
        self._thread.end()

    def status(self) -> Status:
        """How it is at this moment, without waiting for the console."""
        launching = self._launching and self._report is None
        state = "launching" if launching else self._manager.state
        running = state == "running"
        return Status(
            session=self.name,
            managed=True,
            state=state,
            alive=running,
            emulator=self._emulator,
            pid=self._manager.pid if running else None,
            nes_ram_base=self._report["nes_ram_base"] if running and self._report else None,
            game=None if self._game is None else self._game.name,
            game_mode=self._mode,
            in_gameplay=running and self._in_play,
            restarts=self._manager.restarts,
            frames=self.frames,
            has_writer=self.writers.reserved,
            uptime=time.monotonic() - self._launched_at,
        )

    # --- reading --------------------------------------------------------------------------------------------------

    async def game_state(self) -> GameState:
        """The game, decoded."""
        return await self._read(self.decoded)

    async def memory(self, address: int, length: int) -> bytes:
        """Bytes of the CPU's bus."""
        if length < 1 or address + length > BUS_SIZE:
            raise Invalid(f"the bus ends at {BUS_SIZE - 1:#x}: {length} bytes from {address:#x} are not there")
        return await self._read(lambda console: console.peek(address, length))

    async def state(self) -> bytes:
        """The whole state."""
        return await self._read(lambda console: console.save())

    async def picture(self) -> Picture:
        """What the screen shows now, drawn for the purpose if the last step was not."""
        return await self._read(self.screen.now)

    async def drawn(self) -> Picture:
        """The last frame a step drew."""
        return await self._read(self.screen.last_drawn)

    # --- writing --------------------------------------------------------------------------------------------------

    async def write(self, key: str | None, work: Work[Result]) -> Result:
        """Do something that changes the console, if the client may."""
        self.writers.check(key)
        return await self._in_thread(lambda: self._write_now(key, work))

    async def claim(self) -> str:
        """Reserve writing for a client; it knows of every reset up to now."""
        key = self.writers.claim()
        self._known_resets = {None: self._known_resets[None], key: self._resets}
        return key

    async def load(self, key: str | None, state: bytes) -> None:
        """Restore a saved state."""

        def work(console: Emulator) -> None:
            try:
                console.load(state)
            except StateError as problem:
                raise Invalid(f"that is no state of this cartridge on this emulator: {problem}") from None
            self.screen.moved()

        await self.write(key, work)

    async def power(self, key: str | None, play: bool) -> None:
        """Switch off and on; into play, if that is wanted and the cartridge is known."""

        def work(console: Emulator) -> None:
            console.power()
            if play and self._game is not None:
                self._game.into_play(console)
            console.save()  # a console that is lost comes back to the last state that was saved, so to here
            self.screen.moved()

        await self.write(key, work)

    def hold(self, console: Emulator, pads: tuple[int, int], frames: int, draw: bool) -> None:
        """Run some frames; within `write`."""
        console.step(pads, frames, draw)
        self.frames += frames
        self.screen.moved(drawn=draw)

    def write_ram(self, console: Emulator, pokes: Iterable[tuple[int, int]]) -> None:
        """Write bytes of RAM, each an address and a value; within `write`."""
        ram = console.ram
        for address, value in pokes:
            ram[address] = value
        self.screen.moved()

    def decoded(self, console: Emulator) -> GameState:
        """The game as it is; within `write` or a reader."""
        ram = console.ram.copy()
        name = None if self._game is None else self._game.name
        return GameState(
            game=name,
            game_mode="" if self._game is None else self._game.mode(ram),
            in_gameplay=self._game is not None and self._game.in_play(ram),
            drmario=drmario_state(ram) if name == "drmario" else None,
            smb=smb_state(ram) if name == "smb" else None,
        )

    # --- in the console's thread ----------------------------------------------------------------------------------

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        try:
            return await self._thread.run(work)
        except MednafenError as problem:
            raise NotRunning(f"the console failed: {problem}") from problem
        except ThreadEnded:
            raise NotRunning(f"session {self.name!r} has been shut down: launch it first") from None

    def _launch_now(self) -> LaunchReport:
        if self._report is not None and self._manager.state == "running":
            return self._report | {
                "pid": self._manager.pid,
                "game_mode": self._mode,
                "in_gameplay": self._in_play,
                "message": "already running",
            }
        return self._begun(self._manager.launch)

    def _restart_now(self, key: str | None) -> LaunchReport:
        report = self._begun(self._manager.restart)
        self._resets += 1
        self._known_resets[key] = self._resets
        return report

    def _begun(self, begin: Callable[[], LaunchReport]) -> LaunchReport:
        try:
            report = begin()
        except (MednafenError, ValueError) as problem:  # it does not start, or the cartridge never gets into play
            raise NotRunning(str(problem)) from problem
        finally:
            self._launching = False
        if not report["success"]:
            raise NotRunning(report["message"])
        self._report = report
        self._launched_at = time.monotonic()
        self.frames = 0
        self.screen.lost()
        self._note_mode(self._manager.get_mcp())
        return report

    def _end_now(self) -> None:
        self._manager.shutdown()
        self._report = None

    async def _read(self, work: Work[Result]) -> Result:
        return await self._in_thread(lambda: self._read_now(work))

    def _read_now(self, work: Work[Result]) -> Result:
        for _ in range(READ_ATTEMPTS):
            try:
                return work(self._console())
            except EmulatorReset:
                self._note_reset()
        raise NotRunning("the console is lost again and again: restart it")

    def _write_now(self, key: str | None, work: Work[Result]) -> Result:
        console = self._console()
        if self._known_resets.get(key, 0) == self._resets:
            try:
                result = work(console)
            except EmulatorReset:
                self._note_reset()
            else:
                self._note_mode(console)
                return result
        self._known_resets[key] = self._resets
        raise WasReset(
            "the console was lost and is back at the last kept state: begin a new episode",
            restarts=self._manager.restarts,
        )

    def _console(self) -> Emulator:
        if self._report is None or self._manager.state == "stopped":
            raise NotRunning(f"session {self.name!r} is not running: launch it first")
        return self._manager.get_mcp()

    def _note_mode(self, console: Emulator) -> None:
        if self._game is not None:
            ram = console.ram
            self._mode, self._in_play = self._game.mode(ram), self._game.in_play(ram)

    def _note_reset(self) -> None:
        self._resets += 1
        self.screen.lost()
        self._note_mode(self._manager.get_mcp())
