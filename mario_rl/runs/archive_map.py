"""The map of an exploration: the cells of its archive and the route that was found, drawn over pictures of the level.

Every area has a panel of its own, cut into strips that fit on a page. A cell's colour tells when it was found.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from mario_rl.atomic_file import write_atomically
from mario_rl.emulators.base import SCREEN_WIDTH
from mario_rl.emulators.embedded import EmbeddedEmulator
from mario_rl.environment.smb.memory import GameMemory
from mario_rl.runs.level_picture import PICTURE_HEIGHT, STATUS_BAR, level_pictures
from mario_rl.snapshots.archive import CELL_HEIGHT, CELL_WIDTH, Cell
from mario_rl.snapshots.explore import Exploration
from mario_rl.snapshots.routes import Route, frame_by_frame

STRIP_WIDTH = 1792  # pixels, seven screens
LINE = 16  # pixels of a line of text
GAP = 6  # pixels between strips
MIDDLE_X, MIDDLE_Y = 8, 24  # of small Mario, from the position the game has for him
DIMMED = 0.45  # the level's brightness, so that what is drawn over it can be seen
TINT = 0.5  # how much of a cell is its colour
FARTHEST_MOVE = 64  # pixels a frame; beyond that Mario was carried, and no line is drawn

EARLY, LATE = np.array([40, 110, 255]), np.array([255, 210, 40])  # colours of the first and the last cell found
TEXT = (230, 230, 230)
ROUTE, ROUTE_EDGE = (255, 255, 255), (200, 0, 60)

Picture = npt.NDArray[np.uint8]
Point = tuple[int, int, int]
"""Area, x and y of Mario's middle in the area's picture."""


def draw_archive_map(file: Path, explored: Exploration, route: Route, rom: bytes) -> None:
    """Write the map of an exploration that found this route, as PNG."""
    image = archive_map(explored, route, level_pictures(route, rom), route_points(route, rom))
    content = io.BytesIO()
    image.save(content, "PNG")
    write_atomically(file, content.getvalue())


def route_points(route: Route, rom: bytes) -> list[Point]:
    """Where Mario is in every frame in which he can be moved."""
    console = EmbeddedEmulator(rom)
    game = GameMemory(console.ram[None])
    points = []
    for number in frame_by_frame(route, console):
        game.look()
        if number >= route.start_frame and game.controllable()[0]:
            points.append((int(game.area()[0]), int(game.x[0]) + MIDDLE_X, int(game.y()[0]) + MIDDLE_Y - STATUS_BAR))
    return points


def archive_map(
    explored: Exploration, route: Route, pictures: dict[int, Picture], points: Sequence[Point]
) -> Image.Image:
    """The map: a heading, then the areas of the route in its order, then those that are not on it."""
    cells = explored.archive.cells
    boxes = found_boxes(cells)
    others = sorted({area for area, _, _ in boxes} - set(pictures))
    strips: list[_Strip] = []
    for area in [*pictures, *others]:
        inside = {(x, y): when for (of, x, y), when in boxes.items() if of == area}
        picture = pictures[area] if area in pictures else _unseen(inside)
        panel = Image.fromarray(_with_cells(picture, inside))
        _draw_path(panel, area, points)
        on_route = "" if area in pictures else ", not on the route"
        strips += _cut(panel, f"area {area:04X}{on_route}, {len(inside)} places of {CELL_WIDTH} pixels")
    heading = (
        f"{explored.level}, seed {explored.seed}: {len(cells):,} cells in {explored.frames:,} frames, "
        f"{explored.deaths:,} deaths; the end found after {explored.found_after or 0:,} frames, "
        f"the route takes {route.steps} steps"
    )
    return _page(heading, strips)


def found_boxes(cells: Sequence[Cell]) -> dict[Point, float]:
    """For every place with a cell (area, column, row) when the first was found: from 0 to 1, the order of the cells."""
    boxes: dict[Point, float] = {}
    for number, cell in enumerate(cells):
        boxes.setdefault((cell.area, cell.x // CELL_WIDTH, cell.y // CELL_HEIGHT), number / len(cells))
    return boxes


def _unseen(boxes: dict[tuple[int, int], float]) -> Picture:
    """A black picture of an area the route does not visit, as wide as its cells need."""
    screens = (max(x for x, _ in boxes) + 1) * CELL_WIDTH // SCREEN_WIDTH + 1
    return np.zeros((PICTURE_HEIGHT, max(screens, 1) * SCREEN_WIDTH, 3), np.uint8)


def _with_cells(picture: Picture, boxes: dict[tuple[int, int], float]) -> Picture:
    """The picture, dimmed, with a box for every place: Mario's middle was in it."""
    result = picture * DIMMED
    height, width = picture.shape[:2]
    for (column, row), when in boxes.items():
        left, top = column * CELL_WIDTH + MIDDLE_X, row * CELL_HEIGHT + MIDDLE_Y - STATUS_BAR
        if left < 0 or left >= width or top >= height:
            continue  # the loops of 4-4 lead to the left of the level
        # one pixel is left free at the edges
        box = result[max(top, 0) : max(top + CELL_HEIGHT - 1, 0), left : left + CELL_WIDTH - 1]
        box += ((1 - when) * EARLY + when * LATE - box) * TINT
    return result.astype(np.uint8)


def _draw_path(panel: Image.Image, area: int, points: Sequence[Point]) -> None:
    draw = ImageDraw.Draw(panel)
    pieces: list[list[tuple[int, int]]] = []
    last: Point | None = None
    for point in points:
        if point[0] == area:
            if last is None or last[0] != area or abs(point[1] - last[1]) + abs(point[2] - last[2]) > FARTHEST_MOVE:
                pieces.append([])
            pieces[-1].append(point[1:])
        last = point
    for piece in pieces:
        draw.line(piece, fill=ROUTE_EDGE, width=5)
        draw.line(piece, fill=ROUTE, width=2)
    for piece in pieces:
        x, y = piece[0]
        draw.ellipse((x - 5, y - 5, x + 5, y + 5), fill=ROUTE, outline=ROUTE_EDGE, width=2)


@dataclass(frozen=True)
class _Strip:
    """A piece of a panel."""

    image: Image.Image
    left: int
    """The x at its left edge."""
    title: str


def _cut(panel: Image.Image, title: str) -> list[_Strip]:
    """Strips of a panel from the first screen on that shows anything: some areas are entered far behind their start."""
    shown = np.asarray(panel).any(axis=(0, 2))
    first = int(shown.argmax()) // SCREEN_WIDTH * SCREEN_WIDTH
    strips = []
    for left in range(first, panel.width, STRIP_WIDTH):
        piece = panel.crop((left, 0, min(left + STRIP_WIDTH, panel.width), panel.height))
        strips.append(_Strip(piece, left, title if left == first else ""))
    return strips


def _page(heading: str, strips: Sequence[_Strip]) -> Image.Image:
    """Everything below each other: of each strip its title, the picture, and a ruler."""
    width = max(SCREEN_WIDTH * 4, *(strip.image.width for strip in strips))
    height = 2 * LINE + sum((LINE if strip.title else 0) + strip.image.height + LINE + GAP for strip in strips)
    page = Image.new("RGB", (width, height))
    draw = ImageDraw.Draw(page)
    draw.text((4, 2), heading, fill=TEXT)
    _draw_legend(page, draw, LINE)
    y = 2 * LINE
    for strip in strips:
        if strip.title:
            draw.text((4, y + 2), strip.title, fill=TEXT)
            y += LINE
        page.paste(strip.image, (0, y))
        y += strip.image.height
        for x in range(0, strip.image.width, SCREEN_WIDTH):
            draw.line((x, y, x, y + 5), fill=TEXT)
            draw.text((x + 3, y + 1), str(strip.left + x), fill=TEXT)
        y += LINE + GAP
    return page


def _draw_legend(page: Image.Image, draw: ImageDraw.ImageDraw, y: int) -> None:
    draw.text((4, y + 2), "cells: found first", fill=TEXT)
    share = np.linspace(0, 1, 120)[None, :, None]
    bar = np.repeat(((1 - share) * EARLY + share * LATE).astype(np.uint8), LINE - 6, axis=0)
    page.paste(Image.fromarray(bar), (118, y + 3))
    draw.text(
        (244, y + 2), "last;  white: the route, a dot where it begins, and wherever Mario was carried to", fill=TEXT
    )
