"""Which Mednafen is installed, and where the things we need are in it.

A build is known by its build-id. Three functions have fixed addresses, which are written down here per build; what can
be recognised (the NES module's table of functions, the console's RAM) is searched for in the file. A build that is not
known is refused: its structures may be laid out differently, and a wrong guess would not fail but lie.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

VARIABLE = "MARIO_RL_MEDNAFEN"
GAMES_DIRECTORY = "/usr/games"  # where Debian puts it; often not on the PATH


class MednafenError(RuntimeError):
    """Mednafen is missing, unknown, does not start, or does not answer; the message says what to do."""


@dataclass(frozen=True)
class Functions:
    """Addresses of a build, of which the file has no names."""

    save_state: int
    """MDFNSS_SaveSM(Stream*, bool data_only, ...)"""
    load_state: int
    """MDFNSS_LoadSM(Stream*, bool data_only, int)"""
    read_address_space: int
    """The NES debugger's GetAddressSpaceBytes(const char* name, uint32 address, uint32 length, uint8* out)"""


KNOWN_BUILDS = {
    "43b0b5f09257c8df5ea12a58294daa30b6c04419": (  # Debian 12, amd64
        "1.29.0+dfsg-1+b1",
        Functions(save_state=0x5DC610, load_state=0x5DCB70, read_address_space=0x6CD8E0),
    ),
}


@dataclass(frozen=True)
class Build:
    """An executable we can drive."""

    path: Path
    build_id: str
    version: str
    functions: Functions
    ram: int
    """Address of the console's 2048 bytes of RAM."""
    module: int
    """Address of the NES module's MDFNGI."""
    spare_code: int
    """An executable address with SPARE_CODE bytes that nothing uses: the rest of a page after the program."""


SPARE_CODE = 64

# Two neighbours in the NES module read the RAM: one at A, one at A & 0x7FF. Both have its address in them.
_RAM_READERS = re.compile(rb"\x89\xff\x0f\xb6\x87(....)\xc3.{0,15}?\x81\xe7\xff\x07\0\0\x0f\xb6\x87\1\xc3", re.DOTALL)
_FULL_NAME = b"Nintendo Entertainment System/Famicom\0"
_SHORT_NAME = b"nes\0"


def mednafen_path() -> Path:
    """The executable: what MARIO_RL_MEDNAFEN names, or the one on the PATH or in /usr/games."""
    named = os.environ.get(VARIABLE)
    if named:
        path = Path(named).expanduser()
        if not (path.is_file() and os.access(path, os.X_OK)):
            raise MednafenError(f"{path} (from {VARIABLE}): no such program; correct {VARIABLE} or leave it out")
        return path
    found = shutil.which("mednafen") or shutil.which("mednafen", path=GAMES_DIRECTORY)
    if found is None:
        raise MednafenError(f"Mednafen is not installed: apt-get install mednafen, or set {VARIABLE}=FILE")
    return Path(found)


def installed_build() -> Build:
    """The installed Mednafen; a MednafenError says why it cannot be used."""
    path = mednafen_path()
    status = path.stat()
    return _examined(path, status.st_ino, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _examined(path: Path, *_version: int) -> Build:
    program = _Program(path)
    build_id = program.build_id()
    if build_id not in KNOWN_BUILDS:
        known = ", ".join(f"{version} ({known_id[:8]}…)" for known_id, (version, _) in KNOWN_BUILDS.items())
        raise MednafenError(
            f"{path} is a build of Mednafen that is not known here (build-id {build_id or 'missing'}): "
            f"install Debian's {known}, or name another with {VARIABLE}=FILE"
        )
    version, functions = KNOWN_BUILDS[build_id]
    return Build(path, build_id, version, functions, program.ram(), program.module(), program.spare_code())


@dataclass(frozen=True)
class _Segment:
    address: int
    executable: bool
    content: bytes

    @property
    def end(self) -> int:
        return self.address + len(self.content)

    def places(self, what: bytes) -> list[int]:
        """Addresses of these bytes."""
        return [self.address + match.start() for match in re.finditer(re.escape(what), self.content)]

    def at(self, address: int, size: int) -> bytes:
        """Bytes from an address on; none if they are not of this segment."""
        start = address - self.address
        return self.content[start : start + size] if 0 <= start <= len(self.content) - size else b""


class _Program:
    """An ELF executable for x86-64 whose addresses are fixed (ET_EXEC)."""

    def __init__(self, path: Path):
        self._path = path
        data = path.read_bytes()
        if data[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<HH", data, 16) != (2, 62):
            raise MednafenError(f"{path} is no Linux program for x86-64 with fixed addresses, as Debian's Mednafen is")
        table, count = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
        self.segments: list[_Segment] = []
        self._notes: list[bytes] = []
        for entry in range(count):
            kind, flags, offset, address, _, size = struct.unpack_from("<IIQQQQ", data, table + 56 * entry)
            content = data[offset : offset + size]
            if kind == 1:  # PT_LOAD
                self.segments.append(_Segment(address, bool(flags & 1), content))
            elif kind == 4:  # PT_NOTE
                self._notes.append(content)

    def build_id(self) -> str:
        """The GNU build-id in hexadecimal; empty if there is none."""
        for notes in self._notes:
            at = 0
            while at + 12 <= len(notes):
                name_size, size, kind = struct.unpack_from("<III", notes, at)
                name = at + 12
                content = name + _rounded_up(name_size, 4)
                if kind == 3 and notes[name : name + name_size] == b"GNU\0":
                    return notes[content : content + size].hex()
                at = content + _rounded_up(size, 4)
        return ""

    def ram(self) -> int:
        """Where the console's RAM is."""
        code = [segment.content for segment in self.segments if segment.executable]
        found = {match[1] for content in code for match in _RAM_READERS.finditer(content)}
        if len(found) != 1:
            raise self._not_found("the console's RAM")
        return int.from_bytes(found.pop(), "little")

    def module(self) -> int:
        """Where the NES module's description begins: with pointers to its two names."""
        names = [at for segment in self.segments for at in segment.places(_FULL_NAME)]
        for segment in self.segments:
            for name in names:
                for at in segment.places(struct.pack("<Q", name)):
                    if self._text(int.from_bytes(segment.at(at - 8, 8), "little")) == _SHORT_NAME:
                        return at - 8
        raise self._not_found("the NES module")

    def spare_code(self) -> int:
        """See Build.spare_code."""
        for segment in self.segments:
            start = _rounded_up(segment.end, 16)
            if segment.executable and start + SPARE_CODE <= _rounded_up(segment.end, 4096):
                return start
        raise self._not_found("room for break points")

    def _text(self, address: int) -> bytes:
        """The beginning of what is there, as long as the short name."""
        return b"".join(segment.at(address, len(_SHORT_NAME)) for segment in self.segments)

    def _not_found(self, what: str) -> MednafenError:
        return MednafenError(f"{self._path}: did not find {what} in this build of Mednafen; install Debian's mednafen")


def _rounded_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
