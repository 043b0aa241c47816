"""Where Mario died, drawn over the level itself: early in a run and late in it, one above the other.

Every area of a level that Mario died in has its panel; long ones go on in the next line.
"""

from __future__ import annotations

import io
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, MultipleLocator

from mario_rl._native import RomError
from mario_rl.atomic_file import write_atomically
from mario_rl.emulators.rom import RomNotFound, find_rom
from mario_rl.runs.deaths import Deaths, read_deaths
from mario_rl.runs.directory import RunDirectory
from mario_rl.runs.level_picture import PICTURE_HEIGHT, Picture, level_pictures
from mario_rl.runs.periods import Period, periods
from mario_rl.snapshots.hotspots import BUCKET, bucket_of
from mario_rl.snapshots.routes import Route, RouteError, packaged_route

LINE = 1664  # pixels of a level on one line, at most
SCREEN = 256  # pixels: what a panel without a picture shows at least
NAMED = 3  # worst places of an area that have their number written on

PIXELS_PER_INCH = 128  # of the level and of the file
MARGIN, GAP, AXIS_ROOM, CAPTION, HEADING_LINE = 0.45, 0.06, 0.34, 0.3, 0.2  # inches
NARROWEST = 8.0  # inches: the heading needs them
LETTERS_PER_INCH = 14
TALLEST_BAR = 0.8  # of the panel
RED = "#e3170a"


def plot_deaths(run: RunDirectory) -> Iterator[tuple[Path, str | None]]:
    """Draw plots/deaths-<level>.png for every level of the run that Mario died in.

    Gives each file, and why the level's picture is not in it, if it is not.
    """
    deaths = read_deaths(run.deaths_csv)
    parts = periods(run, deaths)
    for level in deaths.levels:
        pictures, missing = _pictures(run, level)
        figure = draw_deaths(run.name, level, deaths.of_level(level), parts, pictures, missing)
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=PIXELS_PER_INCH)
        run.plots.mkdir(exist_ok=True)
        file = run.plots / f"deaths-{level}.png"
        write_atomically(file, content.getbuffer())
        yield file, missing


def _pictures(run: RunDirectory, level: str) -> tuple[dict[int, Picture], str | None]:
    """The pictures of a level's areas, or why there are none."""
    try:
        rom = find_rom("smb", run.config().rom).read_bytes()
        own = run.path / "routes" / f"{level}.json"  # what the run found or was given, if its curriculum needs the way
        try:
            route = packaged_route(level)
        except (RouteError, OSError):
            if not own.exists():
                return {}, f"no route through {level} is known: mario-rl explore --level {level} finds one"
            route = Route.load(own)
        pictures = level_pictures(route, rom)
        return pictures, None if pictures else f"the known route through {level} does not work with this ROM"
    except (RomNotFound, RomError, RouteError, OSError) as problem:
        return {}, str(problem)


# --- what is where ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Strip:
    """A piece of an area that fits on a line."""

    area: int
    left: int
    right: int
    caption: str | None
    """Only the first of an area has one."""

    @property
    def inches(self) -> float:
        """How wide it is drawn."""
        return (self.right - self.left) / PIXELS_PER_INCH


def strips_of(level: str, deaths: Deaths, pictures: dict[int, Picture]) -> list[Strip]:
    """The areas that Mario died in, in the order of the way through the level, cut into lines."""
    died_in = dict.fromkeys(deaths.area.tolist())
    areas = [area for area in pictures if area in died_in] + sorted(area for area in died_in if area not in pictures)
    strips = []
    for area in areas:
        left, right = _extent(deaths.x[deaths.area == area].tolist(), pictures.get(area))
        lines = -(-(right - left) // LINE)
        width = -(-(right - left) // lines // 16) * 16
        caption = f"{level}, area {area:04x}" if len(areas) > 1 else level
        if pictures and area not in pictures:
            caption += " (not on the known route: no picture)"
        for number in range(lines):
            begin = left + number * width
            strips.append(Strip(area, begin, min(begin + width, right), None if number else caption))
    return strips


def _extent(xs: list[int], picture: Picture | None) -> tuple[int, int]:
    """From where to where an area is drawn: what was seen of it, and all deaths."""
    left, right = bucket_of(min(xs)), bucket_of(max(xs)) + BUCKET
    if picture is not None:
        seen = np.flatnonzero(picture.any(axis=(0, 2))).tolist()
        left, right = min([left, *seen[:1]]), max([right, *(x + 1 for x in seen[-1:])])
    return (left, right) if right - left >= SCREEN else (left, left + SCREEN)


# --- drawing ------------------------------------------------------------------------------------------------------


def draw_deaths(
    run: str,
    level: str,
    deaths: Deaths,
    parts: tuple[Period, Period],
    pictures: dict[int, Picture],
    missing: str | None = None,
) -> Figure:
    """The figure of one level: for each strip a panel early in the run and one late in it."""
    strips = strips_of(level, deaths, pictures)
    counts = [_count(deaths.where(part.holds(deaths.time))) for part in parts]
    most = max([1, *(number for period in counts for area in period.values() for number in area.values())])
    panel = PICTURE_HEIGHT / PIXELS_PER_INCH
    line = 2 * panel + GAP + AXIS_ROOM
    width = max(NARROWEST, max(strip.inches for strip in strips) + 2 * MARGIN)
    heading = [f"{run}: where Mario died in {level}", *(f"{part.name}: {_says(part, deaths)}" for part in parts)]
    if missing is not None:
        heading += textwrap.wrap(f"Without the picture of the level: {missing}", int(width * LETTERS_PER_INCH))
    captions = sum(strip.caption is not None for strip in strips)
    height = HEADING_LINE * (len(heading) + 1) + captions * CAPTION + len(strips) * line

    figure = Figure((width, height))
    top = height - HEADING_LINE
    for number, text in enumerate(heading):
        weight, size = ("bold", 12) if number == 0 else ("normal", 9)
        figure.text(0.15 / width, top / height, text, fontsize=size, fontweight=weight, parse_math=False)
        top -= HEADING_LINE
    for strip in strips:
        if strip.caption is not None:
            figure.text(MARGIN / width, (top - 0.22) / height, strip.caption, fontsize=10, fontweight="bold")
            top -= CAPTION
        for row, (part, count) in enumerate(zip(parts, counts, strict=True)):
            bottom = top - panel - row * (panel + GAP)
            place = (MARGIN / width, bottom / height, strip.inches / width, panel / height)
            axis = figure.add_axes(place)
            _draw_panel(axis, strip, count.get(strip.area, Counter()), pictures.get(strip.area), most)
            axis.set_ylabel(part.name.split()[0].lower(), fontsize=9)
            if row == 0:
                axis.tick_params(labelbottom=False)
        top -= line
    return figure


def _count(deaths: Deaths) -> dict[int, Counter[int]]:
    """Deaths by area and the left edge of their bucket."""
    counts: dict[int, Counter[int]] = {}
    for area, x in zip(deaths.area.tolist(), deaths.x.tolist(), strict=True):
        counts.setdefault(area, Counter())[bucket_of(x)] += 1
    return counts


def _says(part: Period, deaths: Deaths) -> str:
    number = int(part.holds(deaths.time).sum())
    return f"{number:,} death{'' if number == 1 else 's'}{part.episodes}"


def _draw_panel(axis: Axes, strip: Strip, counts: Counter[int], picture: Picture | None, most: int) -> None:
    top = most / TALLEST_BAR
    if picture is not None:
        left, right = max(strip.left, 0), min(strip.right, picture.shape[1])
        if left < right:
            axis.imshow(picture[:, left:right], extent=(left, right, 0, top), aspect="auto", interpolation="nearest")
    axis.set_xlim(strip.left, strip.right)
    axis.set_ylim(0, top)
    shown = {edge: number for edge, number in counts.items() if strip.left - BUCKET < edge < strip.right}
    axis.bar(
        list(shown), list(shown.values()), width=BUCKET, align="edge", color=RED, alpha=0.8, edgecolor="white", lw=0.8
    )
    for edge, number in counts.most_common(NAMED):
        if edge in shown:
            around = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": RED, "lw": 0.8}
            axis.text(edge + BUCKET / 2, number + top * 0.03, f"{number}", ha="center", fontsize=7, bbox=around)
    axis.xaxis.set_major_locator(MultipleLocator(100))
    axis.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    axis.tick_params(labelsize=7, length=2)
