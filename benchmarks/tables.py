"""Tables in Markdown, and the numbers in them."""

from __future__ import annotations

from typing import Any


def table(head: list[str], rows: list[list[str]]) -> str:
    """A head, and rows as wide as it."""
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])


def in_brackets(found: dict[str, Any]) -> str:
    """A rate with its 95 % interval."""
    return f"{100 * found['rate']:.1f} % ({100 * found['low']:.1f} to {100 * found['high']:.1f})"


def number(value: float | None, digits: int = 1) -> str:
    """A number, or a dash if there is none."""
    return "-" if value is None else f"{value:.{digits}f}"
