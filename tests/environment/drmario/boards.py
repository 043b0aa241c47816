"""Boards and pads for tests of Dr. Mario: crowded bottles full of chances, and hands that press what hands press."""

from __future__ import annotations

import random

from tests.environment.drmario.reference import (
    BOTTOM,
    DOWN,
    EMPTY,
    LEFT,
    LEFT_HALF,
    RIGHT,
    RIGHT_HALF,
    SINGLE,
    START,
    TOP,
    UP,
    VIRUS,
    A,
    B,
)

DIRECTIONS = (0, 0, DOWN, DOWN, DOWN, LEFT, RIGHT, LEFT | DOWN, RIGHT | DOWN, LEFT | RIGHT, UP)
BUTTONS = (0, 0, 0, 0, A, B, A | B)


def crowded_board(rng: random.Random, density: float, colours: int = 3) -> bytes:
    """A field of linked halves, singles and viruses up to a random height; lines may stand in it already."""
    field = [EMPTY] * 128
    for index in range(8 * rng.randint(2, 12), 128):
        if field[index] != EMPTY or rng.random() > density:
            continue
        kind = rng.choice(("single", "virus", "across", "down"))
        colour, other = rng.randrange(colours), rng.randrange(colours)
        if kind == "across" and index % 8 < 7 and field[index + 1] == EMPTY:
            field[index], field[index + 1] = LEFT_HALF + colour, RIGHT_HALF + other
        elif kind == "down" and index < 120 and field[index + 8] == EMPTY:
            field[index], field[index + 8] = TOP + colour, BOTTOM + other
        elif kind == "virus":
            field[index] = VIRUS + colour
        else:
            field[index] = SINGLE + colour
    return bytes(field)


def viruses_on(field: bytes) -> int:
    """How many, as the two decimal digits the game keeps."""
    count = min(sum(cell & 0xF0 == VIRUS for cell in field), 99)
    return count // 10 << 4 | count % 10


class Hand:
    """Presses pads: holds one for some frames, then another; now and then START, if it may."""

    def __init__(self, rng: random.Random, may_pause: bool = True) -> None:
        self._rng = rng
        self._left = 0
        self._pad = 0
        self._start = 0.004 if may_pause else 0.0

    def pad(self, waiting_for_start: bool) -> int:
        """The pad of the next frame."""
        if waiting_for_start:
            return START if self._rng.random() < 0.1 else 0
        if self._left == 0:
            self._left = self._rng.choice((1, 1, 1, 2, 3, 8, 24))
            self._pad = self._rng.choice(DIRECTIONS) | self._rng.choice(BUTTONS)
            if self._rng.random() < self._start:
                self._pad |= START
        self._left -= 1
        return self._pad
