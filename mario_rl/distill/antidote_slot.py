"""The place for a player in Antidote's ROM."""

from __future__ import annotations

from mario_rl.distill.layout import ANTIDOTE_ORIGIN, ANTIDOTE_SIZE

HEADER = 16
PRG_START = 0x8000
FILLER = 0xFF


def with_player(rom: bytes, code: bytes) -> bytes:
    """Antidote with another player inside it; a ValueError if it is too large."""
    if len(code) > ANTIDOTE_SIZE:
        raise ValueError(f"the player has {len(code):,} bytes, and there is room for {ANTIDOTE_SIZE:,}")
    start = HEADER + ANTIDOTE_ORIGIN - PRG_START
    return rom[:start] + code.ljust(ANTIDOTE_SIZE, bytes([FILLER])) + rom[start + ANTIDOTE_SIZE :]
