"""Everything the server does, without saying how it is asked: HTTP (app.py) and MCP (mcp.py) are thin over this."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mario_rl.emulators import remote_step
from mario_rl.emulators.base import RAM_SIZE, Emulator
from mario_rl.emulators.mednafen import LaunchReport
from mario_rl.emulators.navigation import game_of
from mario_rl.emulators.rom import data_directory
from mario_rl.server.consoles import EmulatorName, open_manager
from mario_rl.server.errors import Invalid, NotRunning, NotThere, TooMany
from mario_rl.server.png import png
from mario_rl.server.rom_folders import RomFolders
from mario_rl.server.schemas import (
    ConnectAnswer,
    ConnectRequest,
    LaunchRequest,
    SavedState,
    Sessions,
    Status,
    StepAnswer,
    StepRequest,
    WriteRequest,
    pad_bits,
)
from mario_rl.server.session import Session
from mario_rl.server.state_files import LARGEST_STATE, StateFiles
from mario_rl.server.writers import LEASE_SECONDS

DEFAULT_SESSION = "default"


def _states_folder() -> Path:
    return data_directory() / "states"


@dataclass(frozen=True)
class ServiceSettings:
    """How a server is set up."""

    emulator: EmulatorName = "mednafen"
    roms: Sequence[Path] = ()
    """Folders clients may launch ROMs from, beside those of imported ROMs and of Antidote."""
    states: Path = field(default_factory=_states_folder)
    """Where named states are kept."""
    most_sessions: int = 4


class Service:
    """Sessions by name, and what does not belong to one of them."""

    def __init__(self, settings: ServiceSettings | None = None):
        self.settings = settings or ServiceSettings()
        self.draining = False  # the server is about to end: streams end, too
        self.state_files = StateFiles(self.settings.states)
        self._roms = RomFolders(self.settings.roms)
        self._sessions: dict[str, Session] = {}

    # --- sessions -------------------------------------------------------------------------------------------------

    def session(self, name: str) -> Session:
        """The session of that name; NotRunning or NotThere says what to do if there is none."""
        if name in self._sessions:
            return self._sessions[name]
        if name == DEFAULT_SESSION:
            raise NotRunning("no console is running: launch one first")
        raise NotThere(f"there is no session {name!r}: launch it first")

    def sessions(self) -> Sessions:
        """All of them."""
        return Sessions(
            sessions=[session.status() for session in self._sessions.values()], most=self.settings.most_sessions
        )

    def status(self, name: str) -> Status:
        """How a session is; the default one is stopped if it is not there."""
        return self.status_or_stopped(name) if name == DEFAULT_SESSION else self.session(name).status()

    def status_or_stopped(self, name: str) -> Status:
        """The same for a session that may have ended."""
        if name in self._sessions:
            return self._sessions[name].status()
        return Status(
            session=name,
            managed=False,
            state="stopped",
            alive=False,
            emulator=self.settings.emulator,
            pid=None,
            nes_ram_base=None,
            game=None,
            game_mode="",
            in_gameplay=False,
            restarts=0,
            frames=0,
            has_writer=False,
            uptime=0.0,
        )

    async def launch(self, name: str, request: LaunchRequest) -> LaunchReport:
        """Start a session. One that runs the same cartridge already is left as it is."""
        if self.draining:
            raise NotRunning("the server is shutting down")
        cartridge = await asyncio.to_thread(self._roms.cartridge, request.game, request.rom_path)
        session = self._sessions.get(name)
        if session is None:
            session = self._open(name, request, cartridge)
        elif session.cartridge != hashlib.sha256(cartridge).digest():
            raise NotRunning(f"session {name!r} runs another cartridge: shut it down first, or launch another session")
        try:
            return await session.launch()
        except NotRunning:
            if self._sessions.get(name) is session:
                await self._remove(session)
            raise

    async def connect(self, name: str, request: ConnectRequest) -> ConnectAnswer:
        """Attach a client to a session."""
        if name not in self._sessions and request.launch:
            await self.launch(name, LaunchRequest())
        session = self.session(name)
        key = await session.claim() if request.writer else None
        return ConnectAnswer(writer=key, lease_seconds=LEASE_SECONDS, status=session.status())

    async def restart(self, name: str, key: str | None) -> LaunchReport:
        """End a session's console and start it again."""
        return await self.session(name).restart(key)

    async def shutdown(self, name: str, key: str | None) -> Status:
        """End a session; its status afterwards."""
        session = self.session(name)
        session.writers.check(key)
        await self._remove(session)
        return self.status_or_stopped(name)

    async def close(self) -> None:
        """End everything."""
        self.draining = True
        await asyncio.gather(*(self._remove(session) for session in list(self._sessions.values())))

    def _open(self, name: str, request: LaunchRequest, cartridge: bytes) -> Session:
        if len(self._sessions) >= self.settings.most_sessions:
            raise TooMany(
                f"{self.settings.most_sessions} sessions are running: shut one down "
                "(`mario-rl serve --sessions N` allows more)"
            )
        emulator = self.settings.emulator
        manager = open_manager(emulator, cartridge, request.headless, request.display, request.play)
        session = Session(name, emulator, manager, cartridge, game_of(cartridge))
        self._sessions[name] = session
        return session

    async def _remove(self, session: Session) -> None:
        self._sessions.pop(session.name, None)
        await session.shutdown()

    # --- playing --------------------------------------------------------------------------------------------------

    async def step(self, name: str, key: str | None, request: StepRequest) -> StepAnswer:
        """Hold buttons for some frames."""
        session = self.session(name)
        held = [pad_bits(pad) for pad in request.pads] + [0, 0]

        def work(console: Emulator) -> StepAnswer:
            session.hold(console, (held[0], held[1]), request.frames, draw=request.returns == "frame")
            decoded = session.decoded(console)
            answer = StepAnswer(frames=request.frames, game_mode=decoded.game_mode, in_gameplay=decoded.in_gameplay)
            if request.returns == "ram":
                answer.ram = _base64(console.ram.tobytes())
            elif request.returns == "frame":
                answer.frame = _base64(png(console.frame()))
            elif request.returns == "state":
                answer.state = _base64(console.save())
            elif request.returns == "game_state":
                answer.game_state = decoded
            return answer

        return await session.write(key, work)

    async def step_bytes(self, name: str, key: str | None, body: bytes) -> bytes:
        """The same, as bytes (see `emulators/remote_step.py`)."""
        try:
            request = remote_step.unpack_request(body)
        except remote_step.StepFormatError as problem:
            raise Invalid(str(problem)) from None
        session = self.session(name)
        wanted = request.wanted

        def work(console: Emulator) -> bytes:
            if request.pokes:
                session.write_ram(console, request.pokes)
            if request.frames:
                session.hold(
                    console, request.pads, request.frames, bool(wanted & (remote_step.DRAW | remote_step.FRAME))
                )
            return remote_step.pack_answer(
                remote_step.StepAnswer(
                    console.ram.tobytes() if wanted & remote_step.RAM else None,
                    session.screen.now(console).tobytes() if wanted & remote_step.FRAME else None,
                    console.save() if wanted & remote_step.STATE else None,
                )
            )

        return await session.write(key, work)

    async def screenshot(self, name: str) -> bytes:
        """What a session's screen shows, as a PNG file."""
        return png(await self.session(name).picture())

    async def write_memory(self, name: str, key: str | None, request: WriteRequest) -> None:
        """Write RAM."""
        if request.address + len(request.data) > RAM_SIZE:
            raise Invalid(
                f"RAM ends at {RAM_SIZE - 1:#x}: {len(request.data)} bytes do not fit at {request.address:#x}"
            )
        session = self.session(name)
        pokes = list(enumerate(request.data, request.address))
        await session.write(key, lambda console: session.write_ram(console, pokes))

    # --- states ---------------------------------------------------------------------------------------------------

    async def save_state(self, name: str, state_name: str) -> SavedState:
        """Keep a session's state under a name."""
        state = await self.session(name).state()
        return await asyncio.to_thread(self.state_files.keep, state_name, state)

    async def load_state(self, name: str, key: str | None, state_name: str) -> None:
        """Put a kept state into a session."""
        state = await asyncio.to_thread(self.state_files.state, state_name)
        await self.session(name).load(key, state)

    async def load_bytes(self, name: str, key: str | None, state: bytes) -> None:
        """Put a state that a client sent into a session."""
        if len(state) > LARGEST_STATE:
            raise Invalid(f"a state has at most {LARGEST_STATE} bytes, not {len(state)}")
        await self.session(name).load(key, state)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
