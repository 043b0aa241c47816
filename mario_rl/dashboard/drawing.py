"""Curves and bars of block characters: readable without colour, and in any terminal that knows UTF-8."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

EIGHTHS = " ▁▂▃▄▅▆▇█"


def bars(values: Sequence[float], height: int, top: float) -> list[str]:
    """One column a value, `height` rows, full at `top`. What is above 0 is always seen, at least as an eighth."""
    eighths = []
    for value in values:
        share = min(max(value / top, 0.0), 1.0) if top > 0 else 0.0
        eighths.append(max(round(share * height * 8), 1) if value > 0 else 0)
    rows = range(height - 1, -1, -1)
    return ["".join(EIGHTHS[min(max(filled - 8 * row, 0), 8)] for filled in eighths) for row in rows]


def spark(values: Sequence[float], width: int) -> str:
    """The newest `width` values on one row, between the smallest and the largest of them."""
    newest = [value for value in values if math.isfinite(value)][-width:] if width > 0 else []
    if not newest:
        return ""
    low, high = min(newest), max(newest)
    span = (high - low) or 1.0
    return "".join(EIGHTHS[1 + round((value - low) / span * 7)] for value in newest)


def progress_bar(share: float, width: int) -> str:
    """A bar that fills from the left, to an exact half of a character."""
    halves = round(min(max(share, 0.0), 1.0) * width * 2)
    whole, half = divmod(halves, 2)
    return ("━" * whole + "╸" * half).ljust(width, "·")


def stretched(points: Sequence[tuple[float, float]], columns: int, end: float) -> list[float]:
    """The curve over x from 0 to `end` in so many columns: each shows the last value up to its right edge."""
    shown, value, index = [], 0.0, 0
    for column in range(1, columns + 1):
        while index < len(points) and points[index][0] <= end * column / columns:
            value = points[index][1]
            index += 1
        shown.append(value)
    return shown


def squeezed(counts: Mapping[int, float], bucket: int, columns: int) -> tuple[list[float], int, int]:
    """Counts by the left edge of their bucket, in at most so many columns: (a sum each, first x, pixels a column)."""
    if not counts or columns < 1:
        return [], 0, bucket
    first, last = min(min(counts), 0), max(counts)
    buckets = (last - first) // bucket + 1
    together = math.ceil(buckets / columns)
    sums = [0.0] * math.ceil(buckets / together)
    for edge, deaths in counts.items():
        sums[(edge - first) // bucket // together] += deaths
    return sums, first, bucket * together
