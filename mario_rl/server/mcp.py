"""The service for assistants: its tools, over the Model Context Protocol.

`mario-rl serve --mcp-stdio` speaks it on stdin and stdout; the HTTP server has it at /mcp. A tool that fails says what
to do about it. Every tool tells whether it only looks, and whether it loses anything.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Image
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from mario_rl import __version__
from mario_rl.server.errors import Refusal
from mario_rl.server.schemas import (
    BUS_SIZE,
    Address,
    Button,
    Byte,
    ConnectRequest,
    Frames,
    GameState,
    LaunchAnswer,
    LaunchRequest,
    Memory,
    Name,
    Pad,
    RamAddress,
    SavedState,
    SessionName,
    Status,
    StepRequest,
    WriteRequest,
)
from mario_rl.server.service import DEFAULT_SESSION, Service

INSTRUCTIONS = """NES consoles that play Dr. Mario (or Antidote, its free twin) and Super Mario Bros.

Begin with `launch`: it returns when the game is in play. The console stands still between calls: `press` holds buttons
for some frames (60 are a second) and lets go, `step` only holds them. `game_state` and `screenshot` show the outcome.
In Dr. Mario LEFT and RIGHT move the capsule, A and B turn it, DOWN drops it; clear viruses with four in a row.
If a tool says that the console was reset, look at game_state before going on.
"""

LOOKS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
PLAYS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
ARRIVES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
LOSES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)

Players = Annotated[int, Field(ge=1, le=2, description="Whose pad.")]
Data = Annotated[list[Byte], Field(min_length=1, max_length=2048)]


class Pressed(BaseModel):
    """How the game is after buttons were held."""

    frames: int
    game_state: GameState


def make_mcp(service: Service) -> MCPServer[Any]:
    """The MCP server over a service."""
    server: MCPServer[Any] = MCPServer(
        "mario-rl", title="NES consoles", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    _add_sessions(server, service)
    _add_looking(server, service)
    _add_playing(server, service)
    return server


def _tool(server: MCPServer[Any], annotations: ToolAnnotations) -> Callable[[Any], Any]:
    """Register a tool whose refusals reach the assistant in words."""

    def register(function: Any) -> Any:
        @wraps(function)
        async def told(*arguments: Any, **named: Any) -> Any:
            try:
                return await function(*arguments, **named)
            except Refusal as refusal:
                raise ToolError(f"{refusal.name}: {refusal}") from None

        return server.tool(annotations=annotations)(told)

    return register


def _add_sessions(server: MCPServer[Any], service: Service) -> None:
    @_tool(server, ARRIVES)
    async def launch(
        game: Annotated[
            str, Field(pattern="^(antidote|drmario|smb)$", description="antidote, drmario or smb.")
        ] = "drmario",
        rom_path: Annotated[str, Field(max_length=1024)] | None = None,
        headless: bool = True,
        session: SessionName = DEFAULT_SESSION,
    ) -> LaunchAnswer:
        """Start a console and bring the game into play. A console that runs the same game already is left as it is."""
        request = LaunchRequest.model_validate({"game": game, "rom_path": rom_path, "headless": headless})
        return LaunchAnswer(**await service.launch(session, request))

    @_tool(server, ARRIVES)
    async def connect(session: SessionName = DEFAULT_SESSION) -> Status:
        """Attach to a console that runs, or start one; its status."""
        return (await service.connect(session, ConnectRequest())).status

    @_tool(server, LOOKS)
    async def status(session: SessionName = DEFAULT_SESSION) -> Status:
        """Whether the console runs, what it runs, and how often it had to be brought back."""
        return service.status(session)

    @_tool(server, LOSES)
    async def reset(session: SessionName = DEFAULT_SESSION) -> GameState:
        """Switch the console off and on and bring it into play again: the round that was being played is lost."""
        await service.session(session).power(None, play=True)
        return await service.session(session).game_state()

    @_tool(server, LOSES)
    async def shutdown(session: SessionName = DEFAULT_SESSION) -> Status:
        """End the console. What was not saved is lost."""
        return await service.shutdown(session, None)


def _add_looking(server: MCPServer[Any], service: Service) -> None:
    @_tool(server, LOOKS)
    async def game_state(session: SessionName = DEFAULT_SESSION) -> GameState:
        """The game in words and numbers: bottles, capsules and viruses, or where Mario is."""
        return await service.session(session).game_state()

    @_tool(server, LOOKS)
    async def screenshot(session: SessionName = DEFAULT_SESSION) -> Image:
        """What the screen shows, a PNG of 256 x 240."""
        return Image(data=await service.screenshot(session), format="png")

    @_tool(server, LOOKS)
    async def read_memory(
        address: Address,
        length: Annotated[int, Field(ge=1, le=BUS_SIZE)] = 1,
        session: SessionName = DEFAULT_SESSION,
    ) -> Memory:
        """Bytes of the CPU's bus (RAM is 0 to 0x7FF), without side effects."""
        data = await service.session(session).memory(address, length)
        return Memory(address=address, length=len(data), hex=data.hex())

    @_tool(server, LOOKS)
    async def list_states() -> list[SavedState]:
        """The states kept under names."""
        return service.state_files.all()


def _add_playing(server: MCPServer[Any], service: Service) -> None:
    @_tool(server, PLAYS)
    async def press(
        buttons: Annotated[list[Button], Field(min_length=1, max_length=8)],
        frames: Frames = 4,
        player: Players = 1,
        session: SessionName = DEFAULT_SESSION,
    ) -> Pressed:
        """Hold buttons together for some frames, then let go for one, so that pressing again counts again."""
        held: list[Pad] = [[], []]
        held[player - 1] = buttons
        await _held(service, session, held, frames)
        let_go = await _held(service, session, [], 1)
        return Pressed(frames=frames + 1, game_state=let_go.game_state)

    @_tool(server, PLAYS)
    async def step(
        frames: Frames = 1,
        pads: Annotated[list[Pad], Field(max_length=2)] | None = None,
        session: SessionName = DEFAULT_SESSION,
    ) -> Pressed:
        """Run some frames with these pads held (player 1's, player 2's; none: nothing pressed)."""
        return await _held(service, session, pads or [], frames)

    @_tool(server, LOSES)
    async def write_memory(address: RamAddress, data: Data, session: SessionName = DEFAULT_SESSION) -> Memory:
        """Write bytes of RAM (0 to 0x7FF); what was there is lost. Returns what is there now."""
        await service.write_memory(session, None, WriteRequest(address=address, data=data))
        now = await service.session(session).memory(address, len(data))
        return Memory(address=address, length=len(now), hex=now.hex())

    @_tool(server, LOSES)
    async def save_state(name: Name, session: SessionName = DEFAULT_SESSION) -> SavedState:
        """Keep the console's state under a name; one of the same name is lost."""
        return await service.save_state(session, name)

    @_tool(server, LOSES)
    async def load_state(name: Name, session: SessionName = DEFAULT_SESSION) -> GameState:
        """Put a kept state into the console; where it was before is lost."""
        await service.load_state(session, None, name)
        return await service.session(session).game_state()


async def _held(service: Service, session: str, pads: list[Pad], frames: int) -> Pressed:
    answer = await service.step(session, None, StepRequest(pads=pads, frames=frames))
    assert answer.game_state is not None, "a step returns it unless told otherwise"
    return Pressed(frames=frames, game_state=answer.game_state)
