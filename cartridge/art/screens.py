"""Whole screens: 32x30 tiles and the palette of every 16x16 pixels, written as a list of what stands where."""

from __future__ import annotations

import shlex
from pathlib import Path

from banks import Bank

COLUMNS, LINES = 32, 30
LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-.!,':x?"


class ScreenMap:
    """Tile numbers and palettes of one screen, drawn with the tiles of one bank."""

    def __init__(self, name: str, bank: Bank) -> None:
        self.name = name
        self.bank = bank
        self.tiles = [[0xFE] * COLUMNS for _ in range(LINES)]
        self.palettes = [[0] * (COLUMNS // 2) for _ in range(LINES // 2)]

    def fill(self, picture: str, x: int, y: int, columns: int, lines: int) -> None:
        """Repeat a picture like wallpaper over an area."""
        pattern, numbers = self.bank.pictures[picture], self.bank.numbers(picture)
        for line in range(lines):
            for column in range(columns):
                # Wallpaper hangs from the corner of the screen, so that areas side by side continue each other.
                cell = (y + line) % pattern.lines * pattern.columns + (x + column) % pattern.columns
                self.tiles[y + line][x + column] = numbers[cell]

    def picture(self, name: str, x: int, y: int) -> None:
        """Put a picture with its upper left tile at x, y."""
        picture, numbers = self.bank.pictures[name], self.bank.numbers(name)
        for index, number in enumerate(numbers):
            self.tiles[y + index // picture.columns][x + index % picture.columns] = number

    def frame(self, name: str, x: int, y: int, columns: int, lines: int) -> None:
        """Stretch a 3x3 picture (corners, edges, inside) to an area."""
        numbers = self.bank.numbers(name)
        for line in range(lines):
            for column in range(columns):
                part = 3 * _part(line, lines) + _part(column, columns)
                self.tiles[y + line][x + column] = numbers[part]

    def text(self, x: int, y: int, text: str) -> None:
        """Write in capitals."""
        for column, letter in enumerate(text, start=x):
            self.tiles[y][column] = 0xFE if letter == " " else LETTERS.index(letter)

    def palette(self, x: int, y: int, columns: int, lines: int, palette: int) -> None:
        """Colour an area; the console does that in squares of two by two tiles."""
        if x % 2 or y % 2 or columns % 2 or lines % 2:
            raise ValueError("palette areas begin and end at even tiles")
        for line in range(y // 2, (y + lines) // 2):
            for column in range(x // 2, (x + columns) // 2):
                self.palettes[line][column] = palette

    def bytes(self) -> bytes:
        """960 tile numbers and 64 attribute bytes (each four squares: upper left in the lowest two bits)."""
        squares = [*self.palettes, [0] * (COLUMNS // 2)]
        attributes = bytes(
            sum(squares[y + (part >> 1)][x + (part & 1)] << 2 * part for part in range(4))
            for y in range(0, 16, 2)
            for x in range(0, 16, 2)
        )
        return b"".join(bytes(row) for row in self.tiles) + attributes


def _part(position: int, size: int) -> int:
    return 0 if position == 0 else 2 if position == size - 1 else 1


def read_screens(path: Path, banks: dict[str, Bank]) -> list[ScreenMap]:
    """The screens of a text file, one command a line; `screen NAME BANK` begins one.

    The other commands are the methods of ScreenMap with their arguments in order.
    """
    screens: list[ScreenMap] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        words = shlex.split(line, comments=True)
        try:
            match words:
                case []:
                    continue
                case ["screen", name, bank]:
                    screens.append(ScreenMap(name, banks[bank]))
                case ["fill", name, *area]:
                    screens[-1].fill(name, *map(int, area))
                case ["frame", name, *area]:
                    screens[-1].frame(name, *map(int, area))
                case ["picture", name, x, y]:
                    screens[-1].picture(name, int(x), int(y))
                case ["text", x, y, text]:
                    screens[-1].text(int(x), int(y), text)
                case ["palette", *area_and_palette]:
                    screens[-1].palette(*map(int, area_and_palette))
                case _:
                    raise ValueError("unknown command, or too few or many arguments")
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise ValueError(f"{path.name}:{number}: cannot draw '{line.strip()}' ({error})") from None
    return screens


def packed(data: bytes) -> bytes:
    """The commands art/unpack.s follows.

    $00-$3F: that many + 1 bytes follow as they are; $40-$7F: the next byte (n & $3F) + 2 times; $80-$BF: (n & $3F) + 2
    bytes counting up from the next byte; $FF: the end.
    """
    out, plain = bytearray(), bytearray()

    def flush() -> None:
        for start in range(0, len(plain), 64):
            piece = plain[start : start + 64]
            out.extend([len(piece) - 1, *piece])
        plain.clear()

    at = 0
    while at < len(data):
        same = _run(data, at, step=0)
        rising = _run(data, at, step=1)
        if max(same, rising) < 3:
            plain.append(data[at])
            at += 1
            continue
        flush()
        length, code = (same, 0x40) if same >= rising else (rising, 0x80)
        out.extend([code + length - 2, data[at]])
        at += length
    flush()
    return bytes(out) + b"\xff"


def _run(data: bytes, at: int, step: int) -> int:
    length = 1
    while at + length < len(data) and length < 65 and data[at + length] == (data[at] + step * length) & 0xFF:
        length += 1
    return length
