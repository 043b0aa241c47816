"""A form that adds up a number for each feature: one small table a feature, the two halves of a pair sharing theirs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mario_rl.distill.assembler import Program, at, value
from mario_rl.distill.counting import PAIRS, Counting, slots
from mario_rl.distill.drops import FEATURES
from mario_rl.distill.layout import Layout
from mario_rl.environment.drmario.placements import FEATURES_MOST, PLACEMENT_FEATURES

MOST = {name: int(most) for name, most in zip(PLACEMENT_FEATURES, FEATURES_MOST, strict=True)}
LEAST_SCORE, MOST_SCORE = 1, 255


@dataclass(frozen=True)
class Tables:
    """Score = bias + the sum of tables[feature][its value], a byte that cannot wrap."""

    tables: dict[str, tuple[int, ...]]
    """By feature, those of a pair by its name: run, run_viruses, contact, beside."""
    bias: int = 0
    uses: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        names = [f"{name}_{half}" for name in self.tables if name in PAIRS for half in ("low", "high")]
        names += [name for name in self.tables if name not in PAIRS]
        object.__setattr__(self, "uses", slots(names))
        for name, numbers in self.tables.items():
            if len(numbers) != MOST[f"{name}_low" if name in PAIRS else name] + 1:
                raise ValueError(f"the table of {name} has {len(numbers)} numbers")
        least, most = self.range()
        if not LEAST_SCORE <= least <= most <= MOST_SCORE:
            raise ValueError(f"scores go from {least} to {most}: they do not fit into a byte")

    def range(self) -> tuple[int, int]:
        """The least and the greatest score that any combination of features could have."""
        often = {name: 2 if name in PAIRS else 1 for name in self.tables}
        least = sum(often[name] * min(numbers) for name, numbers in self.tables.items())
        most = sum(often[name] * max(numbers) for name, numbers in self.tables.items())
        return self.bias + least, self.bias + most

    def table_of(self, feature: str) -> str:
        """The name of a feature's table."""
        pair = feature.removesuffix("_low").removesuffix("_high")
        return pair if pair in self.tables else feature

    def score(self, features: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        """Of features [..., len(FEATURES)]."""
        total = np.full(features.shape[:-1], self.bias, np.int64)
        for name in self.uses:
            total += np.array(self.tables[self.table_of(name)])[features[..., FEATURES.index(name)]]
        return total

    def as_values(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {"tables": {name: list(numbers) for name, numbers in self.tables.items()}, "bias": self.bias}

    # --- on the 6502 ----------------------------------------------------------------------------------------------

    def emit(self, program: Program, layout: Layout, counting: Counting) -> None:
        """See `Scorer.emit`."""
        p, m = program, layout
        p("lda", value(self.bias))
        p("sta", m.step)
        p("ldx", value(len(counting.slots) - 1))
        p.label("add_feature")
        p("lda", at(m.features, "x"))
        p("clc")
        p("adc", at("table_starts", "x"))
        p("tay")
        p("lda", at("tables", "y"))
        p("clc")
        p("adc", m.step)
        p("sta", m.step)
        p("dex")
        p("bpl", "add_feature")

    def emit_routines(self, program: Program, layout: Layout, counting: Counting) -> None:
        """See `Scorer.emit_routines`."""
        starts, start = {}, 0
        for name, numbers in self.tables.items():
            starts[name] = start
            start += len(numbers)
        program.label("table_starts")
        program.data([starts[self.table_of(name)] for name in counting.slots])
        program.label("tables")
        for name, numbers in self.tables.items():
            program.data([number & 0xFF for number in numbers], name)
