"""Which games a match consists of: the boards, and who sits where."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fixture:
    """A game to be played."""

    seed: int
    seat: int
    """Of A: 0 or 1."""


def fixtures(games: int, first_seed: int, alone: bool, twice: bool = False, seat: int | None = None) -> list[Fixture]:
    """The games of a match, in order; if a seat is given, A always has that."""
    always = 0 if alone else seat
    return [
        Fixture(first_seed + (game // 2 if twice else game), game % 2 if always is None else always)
        for game in range(games)
    ]
