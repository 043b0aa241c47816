"""Which ROM file is which game, and where this machine keeps it.

A ROM is identified by the SHA-256 (or MD5) of its file. The project ships no Nintendo ROM; `find_rom` looks, in this
order, at

1. the path the caller gives (`--rom`),
2. the environment variable of the game (`MARIO_RL_SMB_ROM`),
3. the ROMs imported with `mario-rl rom import` (the newest import of that game first),
4. the file inside an installed package, found without importing that package. For Dr. Mario that is Antidote, the
   project's own cartridge of the same game, so there is always one.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs

__all__ = [
    "GAMES",
    "Game",
    "RomFile",
    "RomNotFound",
    "find_rom",
    "identify",
    "import_rom",
    "imported_roms",
    "located_roms",
]

UNKNOWN_GAME = "unknown"
UNKNOWN_DUMP = "unknown dump"


class RomNotFound(FileNotFoundError):
    """No ROM of a game was found; the message says where we looked and what to do."""


@dataclass(frozen=True)
class Game:
    """A game we know: its dumps by SHA-256 or MD5, and the Python package that may carry its file."""

    title: str
    dumps: dict[str, str]
    package: str
    package_file: str
    how_to_get_the_package: str
    package_dump: str = UNKNOWN_DUMP
    """What the package's file is, if that is not told by its hash."""

    def dump(self, data: bytes) -> str | None:
        """The name of the dump with these bytes, or None if we do not know it."""
        return self.dumps.get(sha256_of(data)) or self.dumps.get(hashlib.md5(data, usedforsecurity=False).hexdigest())


@dataclass(frozen=True)
class RomFile:
    """A ROM on this machine: what it is and why we know of it."""

    path: Path
    sha256: str
    game: str
    source: str
    dump: str = UNKNOWN_DUMP

    @property
    def title(self) -> str:
        """The game and the dump in words, for people."""
        game = GAMES.get(self.game)
        return "unknown game" if game is None else f"{game.title}, {self.dump}"


GAMES = {
    "smb": Game(
        title="Super Mario Bros.",
        dumps={
            "ec299b990e8bfee8ba46e3f61d63b2e1ae5b8a2e431de84e2e4bbd692dc53586": "gym-super-mario-bros 7.4.0 dump",
            "f61548fdf1670cffefcc4f0b7bdcdd9eaba0c226e3b74f8666071496988248de": "World, iNES header",
            "0b3d9e1f01ed1668205bab34d6c82b0e281456e137352e4f36a9b2cfa3b66dea": "World, NES 2.0 header",
        },
        package="gym_super_mario_bros",
        package_file="_roms/super-mario-bros.nes",
        how_to_get_the_package="`pip install --no-deps gym-super-mario-bros==7.4.0`",
    ),
    "drmario": Game(
        title="Dr. Mario",
        dumps={
            "d3ec44424b5ac1a4dc77709829f721c9": "Japan, USA",
            "8181d696756578fc92e6c4c86da01904": "Japan, USA, revision A",
        },
        package="mario_rl",
        package_file="roms/antidote.nes",
        how_to_get_the_package="`pip install --force-reinstall mario-rl` (it carries Antidote)",
        package_dump="Antidote, our own cartridge",
    ),
}


def sha256_of(data: bytes) -> str:
    """The identity of a ROM: the SHA-256 of its file, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def identify(data: bytes) -> str:
    """The key in `GAMES` of the dump with these bytes, or `UNKNOWN_GAME`."""
    return next((name for name, game in GAMES.items() if game.dump(data) is not None), UNKNOWN_GAME)


def environment_variable(game: str) -> str:
    """The environment variable that points at this game's ROM."""
    return f"MARIO_RL_{game.upper()}_ROM"


def data_directory() -> Path:
    """Where imported ROMs live: `MARIO_RL_DATA_DIR`, or the user data directory of the platform."""
    override = os.environ.get("MARIO_RL_DATA_DIR")
    return Path(override).expanduser() if override else platformdirs.user_data_path("mario-rl", appauthor=False)


def find_rom(game: str, explicit: str | os.PathLike[str] | None = None) -> Path:
    """The ROM file to use for `game` ("smb" or "drmario"), by the order in this module's docstring.

    Raises RomNotFound if there is none, or if the path the user named does not exist: a named file that is
    missing is never silently replaced by another one.
    """
    if game not in GAMES:
        raise RomNotFound(f"unknown game {game!r}; known: {', '.join(GAMES)}")
    for rom in located_roms(game, explicit):
        return rom.path
    raise RomNotFound(
        f"no {GAMES[game].title} ROM found: run `mario-rl rom import FILE`, or set {environment_variable(game)}=FILE, "
        f"or run {GAMES[game].how_to_get_the_package}"
    )


def located_roms(game: str, explicit: str | os.PathLike[str] | None = None) -> Iterator[RomFile]:
    """Every ROM of `game` on this machine, in lookup order."""
    if explicit is not None:
        yield _named_by_user(explicit, game, "--rom")
    variable = environment_variable(game)
    if os.environ.get(variable):
        yield _named_by_user(os.environ[variable], game, variable)
    yield from imported_roms(game)
    packaged = _file_in_package(GAMES[game])
    if packaged is not None:
        data = packaged.read_bytes()
        dump = GAMES[game].dump(data) or GAMES[game].package_dump
        yield RomFile(packaged, sha256_of(data), game, f"package {GAMES[game].package}", dump)


def imported_roms(game: str) -> list[RomFile]:
    """The imported ROMs of `game` (or `UNKNOWN_GAME`), the newest import first."""
    files = list((data_directory() / "roms" / game).glob("*.nes"))
    files.sort(key=lambda file: (-file.stat().st_mtime_ns, file.name))
    return [RomFile(file, file.stem, game, "imported", _dump_of(game, file.read_bytes())) for file in files]


def import_rom(file: str | os.PathLike[str], game: str | None = None) -> RomFile:
    """Check a ROM file and copy it to the user data directory as `roms/<game>/<sha256>.nes`.

    `game` says what an unknown dump is; a known dump needs no help. Importing the same file again changes
    nothing but makes it the newest import. Raises RomError for a file that is not a ROM we can run.
    """
    from mario_rl._native import Rom  # here, because looking ROMs up must work before the native core is built

    if game is not None and game not in GAMES:
        raise RomNotFound(f"unknown game {game!r}; known: {', '.join(GAMES)}")
    data = _existing_file(file).read_bytes()
    Rom(data)
    sha256 = sha256_of(data)
    known = identify(data)
    chosen = known if known != UNKNOWN_GAME else game or UNKNOWN_GAME
    target = data_directory() / "roms" / chosen / f"{sha256}.nes"
    _write_atomically(target, data)
    return RomFile(target, sha256, chosen, "imported", _dump_of(chosen, data))


def _existing_file(file: str | os.PathLike[str]) -> Path:
    path = Path(file).expanduser()
    if not path.is_file():
        raise RomNotFound(f"{path}: no such ROM file; check the path")
    return path


def _named_by_user(file: str | os.PathLike[str], game: str, source: str) -> RomFile:
    path = Path(file).expanduser()
    if not path.is_file():
        raise RomNotFound(f"{path} (from {source}): no such ROM file; correct {source} or leave it out")
    data = path.read_bytes()
    return RomFile(path, sha256_of(data), game, source, _dump_of(game, data))


def _dump_of(game: str, data: bytes) -> str:
    return (GAMES[game].dump(data) if game in GAMES else None) or UNKNOWN_DUMP


def _file_in_package(game: Game) -> Path | None:
    # find_spec locates a top-level package without running it; gym_super_mario_bros would import nes_py,
    # which does not load under NumPy 2.
    spec = importlib.util.find_spec(game.package)
    for folder in (spec.submodule_search_locations if spec else None) or ():
        file = Path(folder) / game.package_file
        if file.is_file():
            return file
    return None


def _write_atomically(target: Path, data: bytes) -> None:
    """Write beside the target, then rename: readers see the old file, the new file, or none, never half of one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, suffix=".part", delete=False) as part:
        part.write(data)
        part.flush()
        os.fsync(part.fileno())
    try:
        Path(part.name).replace(target)
    except OSError:
        Path(part.name).unlink()
        raise
