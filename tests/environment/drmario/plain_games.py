"""Games of the plain reference to look at: random play, and a reference that writes down what it does."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.environment.drmario.reference import DOWN, LEFT, RIGHT, VIRUSES, A, B, Reference, Seat

PADS = (0, 0, 0, LEFT, RIGHT, DOWN, DOWN, A, B, LEFT | A, RIGHT | B)


class Chronicle(Reference):
    """A game that counts, where it happens, what a tally has to find in the RAM."""

    def __init__(self, ram: bytes) -> None:
        super().__init__(ram)
        self.counts = {name: [0, 0] for name in ("viruses", "pieces", "lines", "links", "sent", "received", "locks")}
        self._lines_of_settling = [0, 0]

    def _clear_line(self, seat: Seat, line: range, colour: int) -> None:
        before = seat[VIRUSES]
        super()._clear_line(seat, line, colour)
        decimal = [10 * (bcd >> 4) + (bcd & 15) for bcd in (before, seat[VIRUSES])]
        viruses = decimal[0] - decimal[1]
        self.counts["viruses"][seat.number] += viruses
        self.counts["pieces"][seat.number] += len(line) - viruses
        self.counts["lines"][seat.number] += 1
        self._lines_of_settling[seat.number] += 1
        if self._lines_of_settling[seat.number] > 1:
            self.counts["links"][seat.number] += 1

    def _fall(self, seat: Seat) -> None:
        super()._fall(seat)
        if seat[0x17] == 1:
            self.counts["locks"][seat.number] += 1

    def _spawn(self, seat: Seat) -> None:
        super()._spawn(seat)
        self._lines_of_settling[seat.number] = 0

    def _attack(self, seat: Seat) -> None:
        combo, attack = seat[0x0F], self.seats[1 - seat.number][0x18]
        if self.two_players and combo >= 2:
            self.counts["sent"][seat.number] += combo
            self._lines_of_settling[seat.number] = 0
        if self.two_players and attack >= 2:
            self.counts["received"][seat.number] += min(attack, 4)
        super()._attack(seat)


def begin(seed: int, level: int, players: int, speed: int = 1) -> Chronicle:
    """A game at the first frame of play."""
    game = Chronicle.begin(seed, (level, level), (speed, speed), players)
    assert isinstance(game, Chronicle)
    while game.ram[0x46] != 4:
        game.step(0, 0)
    return game


def fill(game: Chronicle, seed: int) -> None:
    """Fill the bottles such that much is cleared: viruses and loose pieces, mostly of two colours."""
    choice = random.Random(seed)
    for seat in game.playing:
        for index in range(48, 128):
            colour = choice.choice((0, 0, 0, 1, 1, 2))
            kind = choice.choice((0xD0, 0x80, 0x80, 0xFF))
            seat.set_cell(index, kind if kind == 0xFF else kind + colour)
        viruses = sum(seat.cell(index) & 0xF0 == 0xD0 for index in range(128))
        seat[VIRUSES] = int(str(viruses), 16)


def random_play(game: Chronicle, seed: int, frames: int) -> Iterator[Chronicle]:
    """Random buttons, each held for a while; the game after every frame."""
    choice = random.Random(seed)
    pads = [0, 0]
    for _ in range(frames):
        for player in (0, 1):
            if choice.random() < 0.3:
                pads[player] = choice.choice(PADS)
        game.step(*pads)
        yield game
