"""A ladder as one picture: the ratings with their intervals, and beside them who scored how much against whom."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mario_rl.atomic_file import write_atomically
from mario_rl.selfplay.ladder import Ladder
from mario_rl.selfplay.rating import PlayerRating

DOTS_PER_INCH = 110
ROW_INCHES = 0.42
BLUE = "#1f5fa8"


def draw_ladder(ladder: Ladder, file: Path) -> None:
    """Draw it into a PNG; an OSError says why not."""
    picture = io.BytesIO()
    ladder_figure(ladder).savefig(picture, format="png", dpi=DOTS_PER_INCH)
    write_atomically(file, picture.getbuffer())


def ladder_figure(ladder: Ladder) -> Figure:
    """The best player at the top of both panels."""
    players = ladder.ratings()
    conditions = ladder.conditions
    height = ROW_INCHES * len(players)
    with mpl.rc_context({"font.size": 9}):
        figure = Figure((7.5 + 1.6 * height, 1.7 + height), layout="constrained")
        ratings, scores = figure.subplots(1, 2, width_ratios=(4.5, 1.5 + 1.6 * height))
        _draw_ratings(ratings, players, ladder.anchor)
        _draw_scores(scores, players, ladder)
        figure.suptitle(
            f"Dr. Mario, level {conditions.level} {conditions.speed}, {ladder.games} games a pair",
            x=0.01,
            ha="left",
            fontsize=12,
            fontweight="bold",
        )
    return figure


def _draw_ratings(axis: Axes, players: list[PlayerRating], anchor: str | None) -> None:
    rows = np.arange(len(players))
    ratings = np.array([player.rating for player in players])
    margins = np.array([[player.rating - player.low, player.high - player.rating] for player in players]).T
    axis.errorbar(ratings, rows, xerr=margins, fmt="o", color=BLUE, ecolor=BLUE, elinewidth=1.5, capsize=3)
    for row, rating in enumerate(ratings):
        axis.annotate(f"{rating:.0f}", (rating, row), (0, 6), textcoords="offset points", ha="center", color=BLUE)
    axis.set_yticks(rows, [player.name for player in players])
    axis.set_ylim(len(players) - 0.4, -0.7)
    axis.grid(axis="x", alpha=0.3)
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_title(f"Rating (Elo; {anchor or 'the average'} is 0) with 95 % intervals", fontsize=9, loc="left")


def _draw_scores(axis: Axes, players: list[PlayerRating], ladder: Ladder) -> None:
    order = [ladder.names.index(player.name) for player in players]
    points = ladder.points()[np.ix_(order, order)]
    games = points + points.T
    scores = np.divide(points, games, out=np.full_like(points, np.nan), where=games > 0)
    axis.imshow(scores, cmap="RdYlGn", vmin=0, vmax=1, aspect="auto")
    for row, column in np.argwhere(games > 0).tolist():
        score = scores[row, column]
        ink = "white" if score < 0.15 or score > 0.85 else "black"
        axis.text(column, row, f"{100 * score:.3g}", ha="center", va="center", color=ink, fontsize=8)
    names = [player.name for player in players]
    axis.set_xticks(range(len(names)), names, rotation=35, ha="right", rotation_mode="anchor")
    axis.set_yticks(range(len(names)), names)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    axis.set_title("Score of the row against the column, %", fontsize=9, loc="left")
