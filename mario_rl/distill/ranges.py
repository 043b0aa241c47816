"""Free addresses, and what goes where among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class NoRoom(ValueError):
    """Something is too large for its place; one line."""


class Range(NamedTuple):
    """Free addresses."""

    start: int
    size: int


def first_fit(sizes: Sequence[int], ranges: Sequence[Range]) -> list[int]:
    """Where pieces of these sizes begin, if each goes to the first range that has room for it; NoRoom if that is none.

    In their order, which keeps together what belongs together; if that does not work out, the largest come first.
    """
    in_order = range(len(sizes))
    for order in (in_order, sorted(in_order, key=lambda number: -sizes[number])):
        left = list(ranges)
        begins: dict[int, int] = {}
        for number in order:
            for candidate, (start, size) in enumerate(left):
                if sizes[number] <= size:
                    begins[number] = start
                    left[candidate] = Range(start + sizes[number], size - sizes[number])
                    break
        if len(begins) == len(sizes):
            return [begins[number] for number in in_order]
    free = " + ".join(str(size) for _, size in ranges)
    room, needed = sum(size for _, size in ranges), sum(sizes)
    torn = "" if needed > room else f" in pieces that its own, of up to {max(sizes)} bytes, do not fit into"
    raise NoRoom(f"it has {needed:,} bytes, and there is room for {room:,} ({free}){torn}")
