"""Figures made of several sprites, as tables for sprites.s."""

from __future__ import annotations

from pathlib import Path

from banks import Bank
from pixels import EMPTY, TILE

Sprite = tuple[int, int, int, int]  # y, tile, attributes, x: the order of the console's sprite memory


def read_metasprites(path: Path, bank: Bank) -> dict[str, list[int]]:
    """The bytes of every figure of a text file, by name. Two kinds of lines:

    `figure NAME PICTURE X Y PALETTE [over PICTURE]`: the number of sprites, then y, tile, attributes, x of each. Empty
    tiles are left out, and with `over` also those that look the same in the picture that lies below.
    `block NAME PICTURE`: nothing but the tile numbers, row by row, for figures that are drawn as a rectangle.
    """
    figures: dict[str, list[int]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        words = line.split("#")[0].split()
        try:
            match words:
                case []:
                    continue
                case ["block", name, picture]:
                    figures[name] = bank.numbers(picture)
                case ["figure", name, picture, x, y, palette]:
                    figures[name] = _figure(bank, picture, int(x), int(y), int(palette), below=None)
                case ["figure", name, picture, x, y, palette, "over", below]:
                    figures[name] = _figure(bank, picture, int(x), int(y), int(palette), below)
                case _:
                    raise ValueError("not 'figure NAME PICTURE X Y PALETTE [over PICTURE]' or 'block NAME PICTURE'")
        except (ValueError, KeyError) as error:
            raise ValueError(f"{path.name}:{number}: {error}") from None
    return figures


def _figure(bank: Bank, name: str, x: int, y: int, palette: int, below: str | None) -> list[int]:
    picture = bank.pictures[name]
    hidden = bank.pictures[below].tiles() if below else [EMPTY] * len(picture.tiles())
    sprites: list[Sprite] = []
    for index, tile in enumerate(picture.tiles()):
        if tile in (EMPTY, hidden[index]):
            continue
        line, column = divmod(index, picture.columns)
        sprites.append((y + line * TILE, bank.place(tile, picture.where), palette, x + column * TILE))
    return [len(sprites), *(value & 0xFF for sprite in sprites for value in sprite)]
