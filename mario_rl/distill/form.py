"""What a distilled player is: a form that chooses drops, can be compiled for a cartridge, and kept in a file.

`ScoringForm` is for those that score every drop and take the best one; only how they score is their own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from mario_rl.distill.assembler import Program
from mario_rl.distill.chooser import IN_ANTIDOTE, LEAST_SCORE, Place, compile_player
from mario_rl.distill.counting import Counting
from mario_rl.distill.drops import DROP_COLUMNS, DROP_ROTATIONS, DROPS, Drops
from mario_rl.distill.half_counting import Writer
from mario_rl.distill.layout import Layout
from mario_rl.distill.listing import Assembled
from mario_rl.environment.drmario.memory import COLUMNS

MOST_SCORE = 255
NO_ROOM = DROPS.index((3, 3))
"""Where the cartridge sends a capsule that fits nowhere: the player aims at column 3, rotation 3 until it has found
something better, because the byte ACTION_SPAWNED is at hand when it is asked."""


@runtime_checkable
class Form(Protocol):
    """A distilled player."""

    kind: ClassVar[str]
    turns_first: ClassVar[bool]
    """It turns the capsule, and only then moves it, instead of both at once."""

    @property
    def thinks(self) -> int:
        """Frames in which a falling capsule is only thought about."""

    def choose(self, drops: Drops) -> npt.NDArray[np.int64]:
        """int64[m]: the numbers of the drops it chooses, among DROPS."""

    def compile(self, place: Place = IN_ANTIDOTE) -> Assembled:
        """Itself in 6502 code."""

    def as_values(self) -> dict[str, Any]:
        """Plain values, for JSON."""

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """Of such values; a ValueError, KeyError or TypeError if they are not."""

    def explain(self) -> str:
        """How it decides, in words a player understands."""


@dataclass(frozen=True)
class ScoringForm(ABC):
    """Scores every drop that can be reached by its features, and takes the best, the last of those that are alike."""

    kind: ClassVar[str]
    turns_first: ClassVar[bool] = False

    columns_a_frame: int = field(default=1, kw_only=True)
    """How many columns it thinks about in a frame: as many as its scoring leaves time for."""

    @property
    @abstractmethod
    def uses(self) -> tuple[str, ...]:
        """The features it looks at."""

    @abstractmethod
    def score(self, features: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        """Scores [...] of features [..., len(FEATURES)], as the cartridge computes them."""

    @abstractmethod
    def writer(self, program: Program, layout: Layout, counting: Counting) -> Writer:
        """What writes its code."""

    @property
    def thinks(self) -> int:
        """See `Form.thinks`."""
        return -(-COLUMNS // self.columns_a_frame) - 1  # the first are thought about when it has come in

    def choose(self, drops: Drops) -> npt.NDArray[np.int64]:
        """See `Form.choose`."""
        return best(self.score(drops.features), drops.open)

    def compile(self, place: Place = IN_ANTIDOTE) -> Assembled:
        """See `Form.compile`."""
        return compile_player(self, self.columns_a_frame, place)


def best(scores: npt.NDArray[Any], possible: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """int64[m]: the drops that score most among those that are possible, the last of those that are alike."""
    last_first = np.where(possible, scores, -np.inf)[:, ::-1]
    return np.where(possible.any(axis=1), len(DROPS) - 1 - last_first.argmax(axis=1), NO_ROOM)


def check_range(least: int, most: int) -> None:
    """A ValueError unless scores fit into a byte, above the one that the cartridge begins with."""
    if not LEAST_SCORE <= least <= most <= MOST_SCORE:
        raise ValueError(f"scores go from {least} to {most}: they do not fit between {LEAST_SCORE} and {MOST_SCORE}")


def aim(form: Form, drops: Drops) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Columns and rotations [m] that a form sends capsules to."""
    chosen = form.choose(drops)
    return DROP_COLUMNS[chosen], DROP_ROTATIONS[chosen]
