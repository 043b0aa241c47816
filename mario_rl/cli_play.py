"""The command that opens a window for people to play in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mario_rl.mistake import Mistake, mistakes_in_one_line, signals_as_ctrl_c

if TYPE_CHECKING:
    from mario_rl.emulators.embedded import EmbeddedEmulator

TITLES = {"antidote": "Antidote", "drmario": "Dr. Mario", "smb": "Super Mario Bros."}
KEYS_HELP = """
Keys of player 1: arrows, X or L = A, Z or Y or K = B, Enter = START, right Shift or Backspace = SELECT.
Player 2: W A S D, G = A, F = B, 2 = START, 1 = SELECT.
P pauses the console, R presses its reset button, Esc quits.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("play", help=f"{play.__doc__}\n\n{KEYS_HELP}")(play)


def play(
    game: Annotated[
        Literal["antidote", "drmario", "smb"],
        typer.Argument(
            help="The game: antidote is our own cartridge; the others play a ROM you have (`mario-rl rom list`)."
        ),
    ] = "antidote",
    rom: Annotated[Path | None, typer.Option("--rom", help="ROM file to use instead of the one that is found.")] = None,
    scale: Annotated[int, typer.Option(min=1, max=16, help="Size of a pixel at first; the window can be resized.")] = 3,
    players: Annotated[
        int | None, typer.Option(min=1, max=2, help="Players: go straight into a round of so many.", show_default=False)
    ] = None,
    level: Annotated[
        int | None, typer.Option(min=0, max=20, help="Virus level: go straight into a round of it.", show_default=False)
    ] = None,
    speed: Annotated[
        Literal["low", "med", "hi"] | None,
        typer.Option(help="Speed of the capsules: go straight into a round of it.", show_default=False),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=2,
            max=65535,
            help="Seed of the round: go straight into the one with these capsules.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Play in a window, alone or with a friend. No sound."""
    with mistakes_in_one_line(), signals_as_ctrl_c():
        try:
            from mario_rl.play_window import WindowError, play_window
        except ModuleNotFoundError as missing:
            raise Mistake(f"{missing.name} is not installed: pip install 'mario-rl[play]'") from missing
        console = _console(game, rom)
        wanted = (players, level, speed, seed)
        if any(choice is not None for choice in wanted):
            if game == "smb":
                raise Mistake("--players, --level, --speed and --seed are for antidote and drmario")
            _begin_round(console, players or 1, level or 0, speed or "med", seed)
        try:
            with play_window(console, TITLES[game], scale) as window:
                window.run()
        except WindowError as problem:
            raise Mistake(str(problem)) from problem


def _console(game: str, rom: Path | None) -> EmbeddedEmulator:
    from mario_rl.emulators.embedded import EmbeddedEmulator
    from mario_rl.emulators.rom import find_rom
    from mario_rl.roms import antidote

    try:
        file = (
            antidote() if game == "antidote" and rom is None else find_rom("smb" if game == "smb" else "drmario", rom)
        )
        return EmbeddedEmulator(file)
    except (OSError, ValueError) as problem:  # RomError is a ValueError
        raise Mistake(f"cannot play {game}: {problem}") from problem


def _begin_round(console: EmbeddedEmulator, players: int, level: int, speed: str, seed: int | None) -> None:
    """Through the menus, to the moment play begins."""
    import random

    import numpy as np

    from mario_rl.environment.drmario.console import ConsoleList
    from mario_rl.environment.drmario.memory import SPEEDS
    from mario_rl.environment.drmario.menu import Menu

    both = np.ones((1, 2), np.int32)
    seeds = np.array([random.randrange(2, 1 << 16) if seed is None else seed], np.int32)
    try:
        Menu(ConsoleList([console])).begin(
            np.ones(1, np.bool_), seeds, level * both, SPEEDS.index(speed) * both, players
        )
    except ValueError as problem:
        raise Mistake(str(problem)) from problem
