"""Which files a client may launch: those in the server's ROM folders, wherever a path or a link seems to lead."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from mario_rl._native import Rom, RomError
from mario_rl.emulators.rom import RomNotFound, data_directory, find_rom
from mario_rl.roms import antidote
from mario_rl.server.errors import Forbidden, Invalid, NotThere

LARGEST_ROM = 4 * 1024 * 1024  # bytes


class RomFolders:
    """The folders: of imported ROMs, of our own cartridge, and those the server was started with."""

    def __init__(self, more: Sequence[Path] = ()):
        self.folders = [data_directory() / "roms", antidote().parent, *more]

    def cartridge(self, game: str, rom_path: str | None) -> bytes:
        """The bytes of the cartridge a client asked for, checked."""
        if rom_path is None:
            return _checked(_found(game).read_bytes(), game)
        return _checked(self._file(rom_path), rom_path)

    def _file(self, rom_path: str) -> bytes:
        if "\0" in rom_path:
            raise Invalid("a path has no zero bytes")
        for folder in self.folders:
            # An absolute path stays what it is; `resolve` follows every link before the comparison.
            try:
                inside = folder.resolve()
                file = (inside / rom_path).resolve()
                if file.is_relative_to(inside) and (data := _contents(file)) is not None:
                    return data
            except (OSError, RuntimeError):  # too long a name, a loop of links, not readable
                continue
        # The same answer whether or not there is such a file outside: nobody explores the disk with it.
        if Path(rom_path).is_absolute() or ".." in Path(rom_path).parts:
            raise Forbidden(
                "that is not a file in one of the server's ROM folders (`mario-rl serve --roms DIR` adds one)"
            )
        raise NotThere(f"there is no {rom_path!r} in the server's ROM folders (`mario-rl serve --roms DIR` adds one)")


def _contents(file: Path) -> bytes | None:
    """The bytes of a plain file; not followed if it has become a link since it was looked at."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as opened:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            return None
        if facts.st_size > LARGEST_ROM:
            raise Invalid(f"{file.name} is no cartridge: it has more than {LARGEST_ROM >> 20} MiB")
        return opened.read(LARGEST_ROM + 1)


def _found(game: str) -> Path:
    try:
        return antidote() if game == "antidote" else find_rom(game)
    except RomNotFound as missing:
        raise NotThere(str(missing)) from None


def _checked(data: bytes, name: str) -> bytes:
    try:
        Rom(data)
    except RomError as problem:
        raise Invalid(f"{name}: {problem}") from None
    return data
