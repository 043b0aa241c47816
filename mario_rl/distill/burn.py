"""A player into a cartridge: into Antidote, which keeps a place for one, or into a dump of the original."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from mario_rl.distill import original
from mario_rl.distill.chooser import ANTIDOTE_ORIGIN
from mario_rl.distill.listing import Assembled
from mario_rl.distill.operands import AssemblyError
from mario_rl.distill.original import HEADER, PRG_SIZE, PRG_START, OriginalError, Revision
from mario_rl.distill.player_file import DistilledPlayer
from mario_rl.distill.ranges import NoRoom, Range
from mario_rl.emulators.rom import GAMES
from mario_rl.roms import PLAYER_SLOT, is_antidote, looks_like_antidote

FILLER = b"\xff"
JUMP = 0x4C
DRMARIO = GAMES["drmario"]


class BurnError(ValueError):
    """Why a player cannot go into a file; one line."""


@dataclass(frozen=True)
class Hook:
    """Where the game has been changed so that it asks the player."""

    address: int
    before: bytes
    after: bytes


@dataclass(frozen=True)
class Burned:
    """A cartridge with a player."""

    rom: bytes
    title: str
    """What it was before."""
    made: Assembled
    """The code, in parts."""
    room: tuple[Range, ...]
    """Where there was room for it."""
    hook: Hook | None = None
    """None if the cartridge asks anyway."""

    @property
    def used(self) -> int:
        """Bytes of code."""
        return len(self.made.code)

    @property
    def free(self) -> int:
        """Bytes that are left."""
        return sum(size for _, size in self.room) - self.used


def burn(player: DistilledPlayer, rom: bytes) -> Burned:
    """The ROM (iNES) with the player inside; a BurnError if it does not fit in, or if it is not known where."""
    try:
        if looks_like_antidote(rom):
            return _into_antidote(player, rom)
        revision = original.revision_of(rom)
        if revision is not None:
            return _into_original(player, rom, revision)
    except NoRoom as problem:
        raise BurnError(f"the player is too large: {problem}") from problem
    except OriginalError as problem:
        raise BurnError(str(problem)) from problem
    except AssemblyError as problem:  # a large tree walks by a pointer, for which there is no zero page to spare
        raise BurnError(f"the player is too large for this cartridge: {problem}") from problem
    raise BurnError(_why_not(rom))


def _into_antidote(player: DistilledPlayer, rom: bytes) -> Burned:
    made = player.form.compile()
    room = PLAYER_SLOT.stop - PLAYER_SLOT.start
    if len(made.code) > room:
        raise NoRoom(f"it has {len(made.code):,} bytes, and there is room for {room:,}")
    burned = rom[: PLAYER_SLOT.start] + made.code.ljust(room, FILLER) + rom[PLAYER_SLOT.stop :]
    return Burned(burned, "Antidote", made, (Range(ANTIDOTE_ORIGIN, room),))


def _into_original(player: DistilledPlayer, rom: bytes, revision: Revision) -> Burned:
    prg = rom[HEADER : HEADER + PRG_SIZE]
    address = original.find_hook(prg, revision)
    ranges = original.free_ranges(prg, revision)
    made = original.compile_for_original(player.form, ranges)
    after = bytes([JUMP]) + made.labels["hook"].to_bytes(2, "little")
    burned = bytearray(rom)
    for origin, code in [*made.parts, (address, after)]:
        start = HEADER + origin - PRG_START
        burned[start : start + len(code)] = code
    hook = Hook(address, original.STORE_PAD_2, after)
    return Burned(bytes(burned), f"{DRMARIO.title}, {DRMARIO.dump(rom)}", made, tuple(ranges), hook)


def _why_not(rom: bytes) -> str:
    """Why nothing can be burned into a file."""
    from mario_rl._native import Rom, RomError  # here, because a file that we know needs no core to be looked at

    try:
        Rom(rom)
    except RomError as problem:
        return str(problem)
    if is_antidote(rom):
        return "this is another Antidote than the one of this package, and its place for a player may be elsewhere"
    for game in GAMES.values():
        dump = game.dump(rom)
        if dump is not None:
            return f"this is {game.title} ({dump}): players are for Dr. Mario and for Antidote"
    if original.has_player(rom):
        return "there is a player in this file already: take the dump as it was before"
    if original.looks_like_dump(rom):
        return (
            f"this may be Dr. Mario, but a changed or unknown dump (MD5 {_md5(rom)}): where there is room is not known"
        )
    return f"this is a game that is not known (MD5 {_md5(rom)}): players are for Dr. Mario and for Antidote"


def _md5(rom: bytes) -> str:
    return hashlib.md5(rom, usedforsecurity=False).hexdigest()
