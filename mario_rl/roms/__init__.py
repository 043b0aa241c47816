"""The cartridge of our own: Antidote, built from cartridge/ by `make cartridge`."""

from pathlib import Path


def antidote() -> Path:
    """The file of the cartridge (iNES)."""
    return Path(__file__).with_name("antidote.nes")
