"""The cartridge of our own: Antidote, built from cartridge/ by `make cartridge`."""

from pathlib import Path

__all__ = ["antidote", "is_antidote", "looks_like_antidote"]

PLAYER_SLOT = slice(16 + 0x6000, 16 + 0x7C00)
"""Where in the file the player inside it is: $E000 to $FBFF, behind the header and what begins at $8000."""
SIGNATURE = b"ANTIDOTE01"


def antidote() -> Path:
    """The file of the cartridge (iNES)."""
    return Path(__file__).with_name("antidote.nes")


def is_antidote(rom: bytes) -> bool:
    """Antidote in any of its versions, whoever plays inside it."""
    return SIGNATURE in rom


def looks_like_antidote(rom: bytes) -> bool:
    """The packaged Antidote, but perhaps with another player inside: everything is where it is drawn there."""
    ours = antidote().read_bytes()
    return (rom[: PLAYER_SLOT.start], rom[PLAYER_SLOT.stop :]) == (ours[: PLAYER_SLOT.start], ours[PLAYER_SLOT.stop :])
