"""Files that have what must be known of the original, and random bytes for everything else."""

from __future__ import annotations

import hashlib
import random

import pytest

from mario_rl.distill.original import HOOK_HEAD, REVISIONS, STORE_PAD_2
from mario_rl.emulators.rom import GAMES

REVISION_0, REVISION_A = REVISIONS
HEADER = b"NES\x1a" + bytes([2, 4, 0x10, 0]) + bytes(8)


def made_up_dump(revision: str, hook: int | None) -> bytes:
    """A dump of a revision; the hook is where it should be, or at an address of the caller's."""
    known = REVISIONS[revision]
    rng = random.Random(revision)
    prg = bytearray(rng.randbytes(0x8000).replace(STORE_PAD_2, b"\1\2\3").replace(HOOK_HEAD, b"\1\2\3\4\5\6"))
    for number, (first, last) in enumerate(known.free):
        prg[first - 0x8000 : last + 1 - 0x8000] = bytes([0xFF * (number % 2)]) * (last + 1 - first)
    address = hook if hook is not None else known.hook
    if address is not None:
        prg[address - 0x8000 : address - 0x8000 + 3] = STORE_PAD_2
    prg[-6:] = b"".join(vector.to_bytes(2, "little") for vector in (0x8010, 0x8000, 0x8020))
    return HEADER + bytes(prg) + rng.randbytes(0x8000)


def register(rom: bytes, revision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a file be taken for the dump of a revision."""
    monkeypatch.setitem(GAMES["drmario"].dumps, hashlib.md5(rom, usedforsecurity=False).hexdigest(), revision)
