"""The page of deaths: for every level a row of bars over x, the level with the most deaths first.

A level's areas have a row each: their x have nothing to do with each other. Deaths fade as in the curriculum of
snapshots, so what the page shows is where Mario dies of late.
"""

from __future__ import annotations

from collections import Counter

from rich.text import Text

from mario_rl.dashboard.drawing import bars, squeezed
from mario_rl.dashboard.figures import count
from mario_rl.dashboard.lines import joined
from mario_rl.dashboard.session import TrainingSession
from mario_rl.snapshots.hotspots import BUCKET

ROWS = 4
WORST = 3  # places that are named

Deaths = dict[int, float]
"""By the left edge of their bucket."""


def hotspots_page(session: TrainingSession, width: int) -> Text:
    """The page for a screen of this width; as long as there are maps."""
    hotspots = session.hotspots
    maps = {place: hotspots.deaths(*place) for place in hotspots.places}
    maps = {place: deaths for place, deaths in maps.items() if round(sum(deaths.values()))}
    if not maps:
        return Text("Mario has not died of late." if session.aggregator.total("deaths") else "Mario has not died yet.")
    of_level, areas = Counter[str](), Counter[str]()
    for (level, _), deaths in maps.items():
        of_level[level] += round(sum(deaths.values()))
        areas[level] += 1

    def most_first(place: tuple[str, int]) -> tuple[int, str, float, int]:
        level, area = place
        return -of_level[level], level, -sum(maps[place].values()), area

    lines = [Text(f"Where Mario dies of late: after {count(hotspots.half_life)} steps a death counts half", "dim")]
    for level, area in sorted(maps, key=most_first):
        name = f"{level}, area {area:04x}" if areas[level] > 1 else level
        lines += [Text(), *_map(name, maps[level, area], width)]
    return joined(lines, width)


def _map(name: str, deaths: Deaths, width: int) -> list[Text]:
    worst = sorted(deaths, key=lambda edge: (-deaths[edge], edge))[:WORST]
    named = ", ".join(f"{edge} ({count(deaths[edge])})" for edge in worst if round(deaths[edge]))
    title = Text(name, "bold").append(f"  {count(sum(deaths.values()))} deaths")
    if named:
        title.append(f", most from x = {named}")
    title.truncate(max(width, 1), overflow="ellipsis")
    sums, first, pixels = squeezed(deaths, BUCKET, width)
    drawn = [Text(row, "red") for row in bars(sums, ROWS, max(sums, default=1))]
    return [title, *drawn, Text(_axis(first, pixels, len(sums), width), "dim")]


def _axis(first: int, pixels: int, columns: int, width: int) -> str:
    """The x at which a column starts, wherever there is room for it."""
    axis = ""
    for column in range(0, columns, 10):
        label = f"╵{first + column * pixels}"
        if len(axis) <= column and column + len(label) <= width:
            axis = axis.ljust(column) + label
    return axis.ljust(min(columns, width), " ")
