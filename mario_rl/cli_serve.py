"""The command that serves consoles to others: people, scripts, training, assistants."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from mario_rl.mistake import Mistake, mistakes_in_one_line


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("serve")(serve)


def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen at; any but this machine's own needs --token.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen at; 0 takes a free one and says which.")
    ] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="MARIO_RL_TOKEN",
            help="Secret that clients send as `Authorization: Bearer TOKEN`; in the environment others cannot see it.",
            show_default=False,
            show_envvar=True,
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Another name this machine is asked for by; may be repeated."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(help="A site whose pages may use the server; may be repeated."),
    ] = None,
    emulator: Annotated[
        Literal["mednafen", "embedded"],
        typer.Option(help="What runs the consoles; embedded is our own core, for machines without Mednafen."),
    ] = "mednafen",
    roms: Annotated[
        list[Path] | None,
        typer.Option(help="Directory that ROMs may be launched from; may be repeated."),
    ] = None,
    states: Annotated[
        Path | None,
        typer.Option(help="Directory that keeps named states.", show_default="the user data directory"),
    ] = None,
    sessions: Annotated[int, typer.Option(min=1, max=64, help="Consoles that there may be.")] = 4,
    mcp_stdio: Annotated[
        bool, typer.Option("--mcp-stdio", help="Serve one assistant by MCP on stdin and stdout, and no network.")
    ] = False,
) -> None:
    """Serve consoles over HTTP, and to assistants over MCP.

    Launch, play, watch, recover; MCP is at /mcp.
    """
    with mistakes_in_one_line():
        try:
            from mario_rl.server.security import UnsafeSetting
            from mario_rl.server.serve import ServerSettings, serve_http, serve_stdio
            from mario_rl.server.service import ServiceSettings
        except ModuleNotFoundError as missing:
            raise Mistake(f"{missing.name} is not installed: pip install 'mario-rl[server]'") from missing
        for folder in roms or ():
            if not folder.is_dir():
                raise Mistake(f"{folder} (from --roms): no such directory")
        if states is not None and states.exists() and not states.is_dir():
            raise Mistake(f"{states} (from --states) is a file: name a directory")
        kept = {} if states is None else {"states": states}
        service = ServiceSettings(emulator=emulator, roms=tuple(roms or ()), most_sessions=sessions, **kept)
        if mcp_stdio:
            serve_stdio(service)
            return
        try:
            serve_http(ServerSettings(host, port, token or None, allow_host or (), allow_origin or ()), service)
        except UnsafeSetting as problem:
            raise Mistake(str(problem)) from problem
