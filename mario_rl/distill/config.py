"""The settings of `mario-rl distill`."""

from __future__ import annotations

from dataclasses import dataclass

from mario_rl.settings import Ranges, check_settings

KINDS = ("tree", "table", "linear", "binary", "lookup", "tiny")


@dataclass(frozen=True)
class DistillConfig:
    """How a player is distilled."""

    teacher: str = "champion"
    """Who teaches: champion, greedy, search, a self-play run or a player file."""
    form: str = "tree"
    """What it becomes: tree, table, linear, binary, lookup or tiny."""
    bytes: int = 512
    """Bytes that the whole player may take: choosing, steering and hook."""
    seed: int = 0
    """Seed of everything random."""
    rounds: int = 8
    """Rounds of lessons for the teacher on the cartridge's features."""
    games: int = 128
    """Games that lessons are taken from, in each round."""
    student_rounds: int = 3
    """Rounds of lessons for the form itself, each where it plays."""
    tries: int = 3
    """Feature sets to compare, of those that fit."""
    polish_minutes: float = 3.0
    """Minutes of polishing by play; 0: none."""
    test_games: int = 200
    """Games of each level that say how well a stage plays."""

    def __post_init__(self) -> None:
        """Check every setting."""
        least = ("bytes", "rounds", "games", "student_rounds", "tries", "test_games")
        check_settings(self, Ranges(least, ("seed",), not_negative=("polish_minutes",), choices={"form": KINDS}))
