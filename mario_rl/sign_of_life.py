"""A line that says how far something is: rewritten in place on a terminal, written now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SECONDS_BETWEEN_LINES = 5.0  # where lines cannot be rewritten


@contextmanager
def sign_of_life() -> Iterator[Callable[[str], None]]:
    """What is done before a run begins, on one line that goes away again; now and then where none can be rewritten."""
    if not sys.stderr.isatty():
        told = -SECONDS_BETWEEN_LINES

        def tell(text: str) -> None:
            nonlocal told
            if time.monotonic() - told >= SECONDS_BETWEEN_LINES:
                told = time.monotonic()
                print(text, file=sys.stderr, flush=True)

        yield tell
        return
    try:
        yield lambda text: print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
