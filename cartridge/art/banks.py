"""Banks of 256 tiles: which picture's block has which number, and the bytes of it all."""

from __future__ import annotations

from pixels import EMPTY, Picture, Tile

TILES = 256


class Bank:
    """256 tiles. Pictures with a fixed number have it from the start; the others get numbers when they are first used,
    and equal blocks share one."""

    def __init__(self, name: str, pictures: dict[str, Picture]) -> None:
        self.name = name
        self.pictures = pictures
        self.tiles: dict[int, Tile] = {}
        self._numbers: dict[str, list[int]] = {}
        self._shared: dict[Tile, int] = {}
        for picture in pictures.values():
            if picture.at is not None:
                self._numbers[picture.name] = self._fix(picture, picture.at)

    def numbers(self, name: str) -> list[int]:
        """The tile numbers of a picture, row by row."""
        if name not in self._numbers:
            self._numbers[name] = self._fit(self.pictures[name])
        return self._numbers[name]

    def redrawn(self, name: str, pictures: dict[str, Picture]) -> Bank:
        """A copy in which some pictures look different (the second beat of an animation)."""
        bank = Bank(name, {})
        bank.tiles = dict(self.tiles)
        for picture in pictures.values():
            bank.tiles.update(zip(self._numbers[picture.name], picture.tiles(), strict=True))
        return bank

    def _fix(self, picture: Picture, at: int) -> list[int]:
        numbers = list(range(at, at + len(picture.tiles())))
        for number, tile in zip(numbers, picture.tiles(), strict=True):
            if number in self.tiles:
                raise ValueError(f"{picture.where}: tile ${number:02X} of bank {self.name} is taken")
            self.tiles[number] = tile
            self._shared.setdefault(tile, number)
        return numbers

    def _fit(self, picture: Picture) -> list[int]:
        return [self.place(tile, picture.where) for tile in picture.tiles()]

    def place(self, tile: Tile, where: str) -> int:
        """The number of a tile; a new one if no tile looks like it yet."""
        if tile not in self._shared:
            free = next((number for number in range(TILES) if number not in self.tiles), None)
            if free is None:
                raise ValueError(f"{where}: bank {self.name} is full (256 tiles)")
            self.tiles[free] = tile
            self._shared[tile] = free
        return self._shared[tile]

    def bytes(self) -> bytes:
        """4 KB as the picture processor reads them: per tile 8 bytes of bit 0, then 8 bytes of bit 1."""
        data = bytearray()
        for number in range(TILES):
            values = [[".123".index(pixel) for pixel in row] for row in self.tiles.get(number, EMPTY)]
            for plane in (0, 1):
                data += bytes(int("".join(str(value >> plane & 1) for value in row), 2) for row in values)
        return bytes(data)
