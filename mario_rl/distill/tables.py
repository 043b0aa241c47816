"""A form that adds up numbers from small tables, each of one feature or of several together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mario_rl.distill.assembler import Program
from mario_rl.distill.chooser import LEAST_SCORE
from mario_rl.distill.counting import Counting
from mario_rl.distill.drops import FEATURES, MOST, WHIM
from mario_rl.distill.form import ScoringForm, check_range
from mario_rl.distill.half_counting import PAIRS, Writer, slots
from mario_rl.distill.layout import Layout
from mario_rl.distill.words import WORDS
from mario_rl.distill.words import case as in_words
from mario_rl.distill.writers import COUNTED, COUNTED_FIRST, AddingWriter, width

Names = tuple[str, ...]
"""What a table is about: features in the order in which they are counted, those of a half by the name of the pair. A
table with such a pair counts for each half."""
TOGETHER = "*"
"""Between the names, in files."""
LARGEST_TABLE = 256


@dataclass(frozen=True)
class Tables(ScoringForm):
    """Score = bias + the sum of what stands in the tables, a byte that cannot wrap."""

    kind: ClassVar[str] = "table"

    tables: dict[Names, tuple[int, ...]]
    bias: int = LEAST_SCORE

    def __post_init__(self) -> None:
        for names, numbers in self.tables.items():
            if names_of(TOGETHER.join(names)) != names:
                raise ValueError(f"the table of {TOGETHER.join(names)} is not in the order {', '.join(COUNTED)}")
            if len(numbers) != size_of(names):
                raise ValueError(
                    f"the table of {TOGETHER.join(names)} has {len(numbers)} numbers, not {size_of(names)}"
                )
        check_range(*self.range())

    @property
    def uses(self) -> Names:
        """See `ScoringForm.uses`."""
        return slots(list(itertools.chain.from_iterable(map(features_of, itertools.chain(*self.tables)))))

    def range(self) -> tuple[int, int]:
        """The least and the greatest score that any combination of features could have."""
        least = sum(times(names) * min(numbers) for names, numbers in self.tables.items())
        most = sum(times(names) * max(numbers) for names, numbers in self.tables.items())
        return self.bias + least, self.bias + most

    def score(self, features: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        """See `ScoringForm.score`."""
        total = np.full(features.shape[:-1], self.bias, np.int64)
        for names, numbers in self.tables.items():
            for index in indices(names, features):
                total += np.array(numbers)[index]
        return total

    def writer(self, program: Program, layout: Layout, counting: Counting) -> Writer:
        """See `ScoringForm.writer`."""
        return AddingWriter(program, layout, counting, self.bias, self.tables)

    def as_values(self) -> dict[str, Any]:
        """See `Form.as_values`."""
        tables = {TOGETHER.join(names): list(numbers) for names, numbers in self.tables.items()}
        return {"tables": tables, "bias": self.bias, "columns_a_frame": self.columns_a_frame}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Tables:
        """See `Form.from_values`."""
        tables = {names_of(name): tuple(map(int, numbers)) for name, numbers in values["tables"].items()}
        return cls(tables, int(values["bias"]), columns_a_frame=int(values["columns_a_frame"]))

    def explain(self) -> str:
        """See `Form.explain`."""
        lines = [f"Every place begins with {self.bias} points. The place with the most points is taken."]
        for names, numbers in self.tables.items():
            each = "for each half" if times(names) == 2 else "once"
            lines.append(f"- {', and '.join(WORDS[name].title for name in names)} ({each}):")
            cases = itertools.product(*(range(MOST[features_of(name)[0]] + 1) for name in names))
            for case, points in zip(cases, numbers, strict=True):
                said = ", ".join(itertools.starmap(in_words, zip(names, case, strict=True)))
                lines.append(f"    {said}: {points:+d}")
        return "\n".join(lines)


def names_of(text: str) -> Names:
    """The names of a table as they are written in files and settings; a ValueError if there cannot be such a table."""
    names = tuple(sorted(text.split(TOGETHER), key=lambda name: COUNTED.index(name) if name in COUNTED else -1))
    if any(name not in COUNTED for name in names) or len(set(names)) < len(names):
        raise ValueError(f"{text!r} is no table: features are {', '.join(COUNTED)}, joined by {TOGETHER}")
    of_halves = any(name in PAIRS for name in names)
    if of_halves and any(name not in PAIRS and name != COUNTED_FIRST for name in names):
        raise ValueError(f"there is no table of {text}: what is counted for each half goes with {COUNTED_FIRST} only")
    if math.prod(map(width, names)) > LARGEST_TABLE:
        raise ValueError(f"a table of {text} would be too large")
    return names


def features_of(name: str) -> Names:
    """The features that a name stands for: those of both halves, or itself."""
    return (f"{name}_low", f"{name}_high") if name in PAIRS else (name,)


def times(names: Names) -> int:
    """How often a table counts."""
    return 2 if any(name in PAIRS for name in names) else 1


def size_of(names: Names) -> int:
    """How many numbers a table has."""
    return int(np.prod([MOST[features_of(name)[0]] + 1 for name in names]))


def indices(names: Names, features: npt.NDArray[np.uint8]) -> list[npt.NDArray[np.int64]]:
    """Where to look, [...] each, for features [..., len(FEATURES)]: for each half, or once."""
    found = []
    for half in range(times(names)):
        index = np.zeros(features.shape[:-1], np.int64)
        for name in names:
            own = features_of(name)
            feature = own[half] if len(own) > 1 else own[0]
            index = index * (MOST[feature] + 1) + features[..., FEATURES.index(feature)]
        found.append(index)
    return found


def quantised(tables: Mapping[Names, npt.NDArray[np.float64]], columns_a_frame: int) -> Tables:
    """Tables in bytes: real numbers, of which only differences count, stretched over the range of a score.

    The whim is 0 to 7 points: it is there for places that are worth the same.
    """
    whim = {names: tuple(range(size_of(names))) for names in tables if names == (WHIM,)}
    lifted = {names: numbers - numbers.min() for names, numbers in tables.items() if names != (WHIM,)}
    room = 255 - LEAST_SCORE - sum(map(max, whim.values()))
    span = sum(times(names) * numbers.max() for names, numbers in lifted.items())
    factor = room / max(span, 1e-9)
    whole = {names: tuple(np.floor(numbers * factor).astype(int).tolist()) for names, numbers in lifted.items()}
    return Tables(whole | whim, LEAST_SCORE, columns_a_frame=columns_a_frame)


def named(names: Sequence[str]) -> list[Names]:
    """Tables by their texts."""
    return [names_of(name) for name in names]
