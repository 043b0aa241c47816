"""A run does not end because the disk is full."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from mario_rl.runs.checkpoint import CheckpointError


@contextlib.contextmanager
def not_ended_by_a_full_disk(log: Callable[[str], None]) -> Iterator[None]:
    """What cannot be written now may be written next time; `log` hears of it."""
    try:
        yield
    except (OSError, CheckpointError) as problem:
        log(f"not written: {problem}")
