"""What stands beside a round of Dr. Mario: who plays, how far they are, and what the agent thinks of its choices.

Lines of plain ASCII, for the panel of `watch`, and the same lines as a picture, for the videos of `record`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from mario_rl.emulators.base import SCREEN_HEIGHT
from mario_rl.environment.drmario.bots import Rating
from mario_rl.runs.bot_round import Contest, Moment, Picture, Seat

COLOURS = "YRB"
BUTTONS = ("A", "B", "select", "start", "up", "down", "left", "right")  # from a pad's bit 7 on
RATINGS = 6  # how many are shown
CERTAIN = 1e8  # a value beyond it says that the bottle is clear, or that the next capsule has no room

LETTER_WIDTH, LETTER_HEIGHT = 6, 11  # of Pillow's own bitmap font
LETTERS = 24  # of a line, at most
WIDTH = LETTERS * LETTER_WIDTH + 8  # pixels of the picture
INK, PAPER = (232, 232, 232), (24, 24, 24)


def lines(contest: Contest, moment: Moment, round_number: int, won: int) -> list[str]:
    """The panel at a moment of a contest's n-th round (from 1), of which so many before were won."""
    agent = moment.seats[0]
    shown = [
        " vs ".join(seat.name for seat in moment.seats)[:LETTERS],
        f"{contest.backend} level {contest.level} {contest.speed}"[:LETTERS],
        f"round {round_number}" + (f"  won {won}" if round_number > 1 else ""),
        "",
    ]
    for seat in moment.seats:
        first, second = (COLOURS[colour % 3] for colour in seat.next)
        shown += [seat.name[:LETTERS], f" viruses {seat.viruses:2}  next {first}{second}", f" capsules {seat.capsules}"]
    shown += ["", *rating_lines(agent), "", ending(moment)]
    return shown


def rating_lines(seat: Seat) -> list[str]:
    """The best-rated placements, the chosen one marked; of somebody who plans none, the buttons held."""
    if seat.presses:
        return ["presses buttons:", " " + (" ".join(pad_names(seat.pad)) or "none")]
    if not seat.ratings:
        return ["no ratings: it guesses"]
    rows = ["where    how     worth"]
    best = seat.ratings[0].value
    for rating in seat.ratings[:RATINGS]:
        mark = ">" if rating.placement == seat.placement else " "
        rows.append(f"{mark}{where(rating, seat.colours)}{worth(rating.value, best)}")
    return rows


def pad_names(pad: int) -> list[str]:
    """The buttons that are held, in words."""
    return [name for bit, name in enumerate(BUTTONS) if pad << bit & 0x80]


def where(rating: Rating, colours: tuple[int, int]) -> str:
    """A placement in 13 letters: column and row from 1 at the bottom left; the halves, side by side or top/bottom."""
    rotation, y, x = rating.placement // 128, rating.placement // 8 % 16, rating.placement % 8
    first, second = (COLOURS[colour % 3] for colour in colours)
    base, partner = (first, second) if rotation < 2 else (second, first)
    halves = f"{partner}/{base}" if rotation % 2 else f"{base} {partner}"
    return f"{x + 1},{y + 1:<2} ".ljust(8) + halves.ljust(5)


def worth(value: float, best: float) -> str:
    """A value in 9 letters: what it lacks to the best one, which is all that matters."""
    if value > CERTAIN:
        return "clears".rjust(9)
    if value < -CERTAIN:
        return "tops out".rjust(9)
    return "best".rjust(9) if value == best else f"{value - (0 if best > CERTAIN else best):9.1f}"


def ending(moment: Moment) -> str:
    """How the round ended, once it has."""
    agent, *others = moment.seats
    if agent.cleared:
        return f"cleared, {agent.capsules} capsules"
    if agent.topped_out:
        return f"topped out, {agent.viruses} left"
    if any(seat.cleared or seat.topped_out for seat in others):
        return "won" if moment.won else "lost"
    return ""


@lru_cache(maxsize=1)
def _font() -> ImageFont.ImageFont:
    return ImageFont.load_default_imagefont()


@lru_cache(maxsize=8)
def _panel(shown: tuple[str, ...]) -> Picture:
    image = Image.new("RGB", (WIDTH, SCREEN_HEIGHT), PAPER)
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(shown):
        draw.text((4, 4 + number * LETTER_HEIGHT), line, INK, _font())
    return np.asarray(image)


def with_panel(picture: Picture, shown: list[str]) -> Picture:
    """uint8[240, 256 + WIDTH, 3]: the picture and the lines beside it."""
    return np.concatenate([picture, _panel(tuple(shown))], axis=1)
