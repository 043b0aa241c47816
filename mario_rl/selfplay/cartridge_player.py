"""A player inside a cartridge: its own code presses its own buttons, on the console that runs it.

It is called cart:FILE.nes. Against somebody it always sits in the second seat (VS CPU of Antidote), and the other one
has pad 1; alone it plays in Antidote's attract mode. Nobody asks it anything and nobody presses its buttons: the match
only looks on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mario_rl._native import RomError
from mario_rl.emulators.embedded import load_rom
from mario_rl.emulators.rom import GAMES, UNKNOWN_GAME, identify
from mario_rl.environment.drmario.cartridge_menu import AttractMenu, VsCpuMenu
from mario_rl.environment.drmario.console import Games, open_games
from mario_rl.environment.drmario.settings import GameSettings
from mario_rl.roms import is_antidote
from mario_rl.runs.directory import RunError

PREFIX = "cart:"
BACKENDS = ("embedded", "mednafen")
"""What it plays on: a console that this process starts, with the file in it."""


@dataclass(frozen=True)
class CartridgePlayer:
    """The player inside a ROM."""

    name: str
    rom: Path
    antidote: bool
    """It is Antidote with some player inside, not another cartridge: it can play alone, and counts its late frames."""

    def open_games(self, settings: GameSettings, lanes: int, threads: int = 1, draw: bool = False) -> Games:
        """Games that it plays: of one player by itself, of two with the second pad; errors as of `console.open_games`.

        A RunError if it cannot play alone.
        """
        alone = settings.seats == 1
        if alone and not self.antidote:
            raise RunError(f"{self.rom} does not play alone: only Antidote does, in its attract mode; name an opponent")
        menu = AttractMenu if alone else VsCpuMenu
        return open_games(replace(settings, rom=self.rom), lanes, threads, draw, menu)


def is_cartridge(name: str | None) -> bool:
    """Whether a player's name is that of a cartridge."""
    return name is not None and name.startswith(PREFIX)


def file_of(name: str) -> Path:
    """The file in a cartridge's name."""
    return Path(name.removeprefix(PREFIX)).expanduser()


def default_backend(names: Iterable[str | None]) -> str:
    """What players of these names play on if nobody says: the rules engine, unless one of them is a cartridge."""
    return "embedded" if any(is_cartridge(name) for name in names) else "rules"


def load_cartridge(name: str) -> CartridgePlayer:
    """The cartridge called cart:FILE.nes; a RunError says what is wrong with the file."""
    file = file_of(name)
    if not file.is_file():
        raise RunError(f"{name}: no such ROM file; a cartridge is named as {PREFIX}FILE.nes")
    data = file.read_bytes()
    try:
        load_rom(data)
    except RomError as problem:
        raise RunError(f"{file}: {problem}") from problem
    game = identify(data)
    if game != UNKNOWN_GAME:
        raise RunError(f"{file} is {GAMES[game].title} as it was sold: no player is inside it")
    return CartridgePlayer(file.stem, file, is_antidote(data))


def cartridge_among(
    players: Sequence[object], backend: str, rom: Path | None, twice: bool = False
) -> CartridgePlayer | None:
    """The cartridge among those who play, if there is one; a RunError if it cannot be played like that."""
    cartridges = [player for player in players if isinstance(player, CartridgePlayer)]
    if not cartridges:
        return None
    if len(cartridges) > 1:
        raise RunError(
            "two cartridges cannot meet, both want seat 2: name the .json file of one's player instead, its mirror"
        )
    if backend not in BACKENDS:
        raise RunError(f"a cartridge plays on a console: --backend {' or '.join(BACKENDS)}, not {backend}")
    if rom is not None:
        raise RunError(f"--rom {rom}: {cartridges[0].rom} is the ROM that is played; leave --rom out")
    if twice:
        raise RunError("--twice swaps seats, and a cartridge always sits in seat 2: leave it out")
    return cartridges[0]
