"""The rounds that people and programs speak of by number: round 0, 1, 2, ..."""

from __future__ import annotations


def random_state(seed: int) -> int:
    """The random generator's state for a seed 0, 1, ...: the one of power-on, and others. 32,767 are different."""
    return 2 + (0x8986 + 2 * seed) % 0xFFFE
