"""What every export is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

Progress = Callable[[int, int], None]


@contextmanager
def _silent(what: str) -> Iterator[Progress]:
    yield lambda done, all_of_them: None


@dataclass(frozen=True)
class ExportOptions:
    """How to export."""

    count: int | None = None
    """Episodes or games of each row of the card; None: as many as usual, or as there are already."""
    video: bool = True
    progress: Callable[[str], AbstractContextManager[Progress]] = _silent
    """Opens a line that counts."""
