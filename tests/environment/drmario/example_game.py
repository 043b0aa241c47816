"""One game of Dr. Mario for worked examples: bytes by name, fields as pictures."""

from __future__ import annotations

import numpy as np

from mario_rl.environment.drmario.rules import MEDIUM, RulesBatch

REDRAW, X, Y, STEP, FAILED, SPEED_UPS, SPEED, COMBO, CAPSULES = 0x00, 0x05, 0x06, 0x07, 0x09, 0x0A, 0x0B, 0x0F, 0x10
GRAVITY, DAS, LEVEL, ACTION, ATTACK, WINS, VIRUSES, ROTATION, INDEX = (
    0x12,
    0x13,
    0x16,
    0x17,
    0x18,
    0x1E,
    0x24,
    0x25,
    0x27,
)
FALLING, SETTLING = 0, 1
CELLS = {".": 0xFF, "v": 0xD0, "o": 0x80, "^": 0x40, "_": 0x50, "<": 0x60, ">": 0x70}


class Game:
    """One game, looked at by names."""

    def __init__(self, seed: int = 0x8988, level: int = 0, speed: int = MEDIUM, players: int = 1) -> None:
        self.batch = RulesBatch(1)
        self.batch.reset(seed, level, speed, players)
        self.ram = self.batch.ram[0]

    def __getitem__(self, offset: int) -> int:
        """A byte of the first player's block."""
        return int(self.ram[0x300 + offset])

    def __setitem__(self, offset: int, value: int) -> None:
        self.ram[0x300 + offset] = value

    def step(self, pad: int = 0, frames: int = 1, other: int = 0) -> Game:
        self.batch.step(np.array([[pad, other]], np.uint8), frames)
        return self

    def frames_until(self, reached, pad: int = 0, most: int = 5000) -> int:
        """Frames with the pad held until something is so."""
        for frames in range(1, most + 1):
            self.step(pad)
            if reached():
                return frames
        raise AssertionError("never")

    def begin(self) -> Game:
        """To the first capsule's decision point, with an even frame count: the next frame is odd."""
        self.batch.skip_intro()
        self.batch.next_decision()
        self.ram[0x43] = 0x10
        return self

    def draw(self, picture: str, seat: int = 0) -> Game:
        """The lowest rows of a field, two characters a cell: what it is and its colour (0-2); `..` is nothing."""
        rows = [row.split() for row in picture.strip().splitlines()]
        field = np.full((16, 8), 0xFF, np.uint8)
        for number, row in enumerate(rows, start=16 - len(rows)):
            field[number] = [0xFF if cell == ".." else CELLS[cell[0]] + int(cell[1]) for cell in row]
        self.ram[0x400 + 0x100 * seat : 0x480 + 0x100 * seat] = field.ravel()
        return self

    def drawn(self, rows: int) -> list[str]:
        """The lowest rows as `draw` takes them; pops are shown as `*`."""
        names = {value: name for name, value in CELLS.items() if name != "."} | {0xF0: "*", 0xB0: "#"}
        field = self.ram[0x400:0x480].reshape(16, 8)[16 - rows :]
        return [" ".join(".." if c == 0xFF else names[c & 0xF0] + str(c & 3) for c in row) for row in field.tolist()]

    @property
    def position(self) -> tuple[int, int, int]:
        return self[X], self[Y], self[ROTATION]


def picture(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.strip().splitlines()]
