"""Pictures as text: grids of `.`, 1, 2 and 3, the four colours a console's tile can have."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

TILE = 8
Tile = tuple[str, ...]
EMPTY: Tile = ("." * TILE,) * TILE


@dataclass
class Picture:
    """A named grid of whole tiles; `at` is its first tile number, where the rules or the program fix it."""

    name: str
    where: str
    at: int | None = None
    rows: list[str] = field(default_factory=list)

    @property
    def columns(self) -> int:
        """Width in tiles."""
        return len(self.rows[0]) // TILE

    @property
    def lines(self) -> int:
        """Height in tiles."""
        return len(self.rows) // TILE

    def tile(self, column: int, line: int) -> Tile:
        """The 8x8 block at a place counted in tiles."""
        left, top = column * TILE, line * TILE
        return tuple(row[left : left + TILE] for row in self.rows[top : top + TILE])

    def tiles(self) -> list[Tile]:
        """All blocks, row by row."""
        return [self.tile(column, line) for line in range(self.lines) for column in range(self.columns)]


def read_pictures(path: Path) -> dict[str, Picture]:
    """The pictures of one text file, in its order.

    A picture begins with `tiles NAME [at $NN] [shadow C]` and ends with an empty line; `#` begins a comment.
    """
    pictures: dict[str, Picture] = {}
    picture: Picture | None = None
    shadow = ""
    for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), ""], start=1):
        where = f"{path.name}:{number}"
        text = line.split("#")[0].rstrip()
        if picture is None and text:
            picture, shadow = _heading(text.split(), where)
        elif picture is not None and text:
            if set(text) - set(".123"):
                raise ValueError(f"{where}: a picture is drawn with . 1 2 3 only")
            picture.rows.append(text)
        elif picture is not None and not line.startswith("#"):
            _close(picture)
            if shadow:
                picture.rows = _with_shadow(picture, shadow)
            if picture.name in pictures:
                raise ValueError(f"{picture.where}: {picture.name} was drawn before")
            pictures[picture.name] = picture
            picture = None
    return pictures


def _heading(words: list[str], where: str) -> tuple[Picture, str]:
    options = dict(zip(words[2::2], words[3::2], strict=True)) if len(words) % 2 == 0 else {"?": "?"}
    if words[0] != "tiles" or not set(options) <= {"at", "shadow"}:
        raise ValueError(f"{where}: expected 'tiles NAME [at $NN] [shadow C]', got '{' '.join(words)}'")
    at = int(options["at"].removeprefix("$"), 16) if "at" in options else None
    return Picture(words[1], where, at), options.get("shadow", "")


def _close(picture: Picture) -> None:
    """Pad the right and lower side to whole tiles, so that trailing dots need not be typed."""
    if not picture.rows:
        raise ValueError(f"{picture.where}: {picture.name} has no rows")
    width = -(-max(map(len, picture.rows)) // TILE) * TILE
    picture.rows += [""] * (-len(picture.rows) % TILE)
    picture.rows = [row.ljust(width, ".") for row in picture.rows]


def _with_shadow(picture: Picture, colour: str) -> list[str]:
    """Every drawn pixel throws a shadow one down and one right, inside its own tile."""
    rows = [list(row) for row in picture.rows]
    for y, row in enumerate(picture.rows):
        for x, pixel in enumerate(row):
            inside = x % TILE and y % TILE
            if pixel == "." and inside and picture.rows[y - 1][x - 1] != ".":
                rows[y][x] = colour
    return ["".join(row) for row in rows]
