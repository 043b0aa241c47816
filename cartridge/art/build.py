"""Turn the drawings of this directory into what the cartridge is assembled from.

    python3 cartridge/art/build.py OUT

writes into OUT: chr.bin (32 KB of tiles), screens.s, palettes.s and metasprites.s. Same sources, same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from banks import Bank
from metasprites import read_metasprites
from pixels import Picture, read_pictures
from screens import packed, read_screens

ART = Path(__file__).parent
EMPTY_BANKS = 3  # chr.bin is 32 KB, the next size up from the five banks that are drawn


def read_banks() -> dict[str, Bank]:
    """The banks in the order they have in chr.bin (the second beat of the play bank follows once that is complete)."""
    sources = {
        "play": ["font", "capsules", "field", "scenery", "glass", "labels", "cat"],
        "sprites": ["font", "capsules", "marks", "germs", "cat"],
        "menu": ["font", "scenery", "logo", "cat"],
        "interlude": ["font", "scenery", "night", "cat"],
    }
    banks = {}
    for name, files in sources.items():
        pictures: dict[str, Picture] = {}
        for file in files:
            pictures |= read_pictures(ART / f"{file}.txt")
        banks[name] = Bank(name, pictures)
    return banks


def byte_lines(data: bytes, per_line: int = 16) -> list[str]:
    """Data as the assembler reads it."""
    return [
        "    .byte " + ",".join(f"${byte:02X}" for byte in data[start : start + per_line])
        for start in range(0, len(data), per_line)
    ]


def read_palettes(path: Path) -> dict[str, bytes]:
    """Lines `NAME` followed by 32 colours in hex: four background palettes, four sprite palettes."""
    palettes = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split("#")[0].split()
        if words:
            palettes[words[0]] = bytes(int(word, 16) for word in words[1:])
            if len(palettes[words[0]]) != 32:
                raise ValueError(f"{path.name}: palette {words[0]} has {len(words) - 1} colours, not 32")
    return palettes


def main(out: Path) -> None:
    """Write everything into `out`."""
    banks = read_banks()
    screens = read_screens(ART / "screens.txt", banks)
    figures = read_metasprites(ART / "metasprites.txt", banks["sprites"])
    banks["play_beat2"] = banks["play"].redrawn("play_beat2", read_pictures(ART / "field_beat2.txt"))

    out.mkdir(parents=True, exist_ok=True)
    tiles = b"".join(bank.bytes() for bank in banks.values())
    (out / "chr.bin").write_bytes(tiles + bytes(4096 * EMPTY_BANKS))

    lines = ["; Made by art/build.py from screens.txt. Packed for unpack_screen.", '.segment "ART"']
    for screen in screens:
        data = packed(screen.bytes())
        lines += [f".export {screen.name}", f"{screen.name}:   ; {len(data)} bytes", *byte_lines(data)]
    (out / "screens.s").write_text("\n".join(lines) + "\n")

    lines = ["; Made by art/build.py from palettes.txt: 32 bytes each, as they go to $3F00.", '.segment "ART"']
    for name, colours in read_palettes(ART / "palettes.txt").items():
        lines += [f".export palette_{name}", f"palette_{name}:", *byte_lines(colours)]
    (out / "palettes.s").write_text("\n".join(lines) + "\n")

    lines = ["; Made by art/build.py from metasprites.txt; metasprites.py says what the bytes are.", '.segment "ART"']
    for name, figure in figures.items():
        lines += [f".export {name}", f"{name}:", *byte_lines(bytes(figure))]
    (out / "metasprites.s").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 build.py OUT   (the directory to write chr.bin and the .s files into)")
    try:
        main(Path(sys.argv[1]))
    except (ValueError, OSError) as error:
        sys.exit(f"build.py: {error}")
