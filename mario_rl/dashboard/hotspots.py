"""The page of deaths: for every map a row of bars over x, the map with the most deaths first."""

from __future__ import annotations

from collections import Counter

from rich.text import Text

from mario_rl.dashboard.drawing import bars, squeezed
from mario_rl.dashboard.figures import count
from mario_rl.dashboard.lines import joined
from mario_rl.dashboard.session import TrainingSession
from mario_rl.metrics.aggregator import BUCKET, Place

ROWS = 4
WORST = 3  # places that are named


def hotspots_page(session: TrainingSession, width: int) -> Text:
    """The page for a screen of this width; as long as there are maps."""
    deaths = session.aggregator.deaths
    if not deaths:
        return Text("Mario has not died yet.")
    levels = Counter(place.level for place in deaths)
    lines: list[Text] = []
    for place, counts in sorted(deaths.items(), key=lambda item: (-item[1].total(), item[0])):
        lines += [*_map(place, counts, width, name_area=levels[place.level] > 1), Text()]
    return joined(lines[:-1], width)


def _map(place: Place, counts: Counter[int], width: int, name_area: bool) -> list[Text]:
    name = f"{place.level}, area {place.area}" if name_area else place.level
    worst = ", ".join(f"{edge} ({count(deaths)})" for edge, deaths in counts.most_common(WORST))
    title = Text(name, "bold").append(f"  {count(counts.total())} deaths, most from x = {worst}")
    title.truncate(max(width, 1), overflow="ellipsis")
    sums, first, pixels = squeezed(counts, BUCKET, width)
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
