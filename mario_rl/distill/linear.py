"""A form that multiplies each feature by a number of its own, and adds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mario_rl.distill.assembler import Program
from mario_rl.distill.counting import Counting
from mario_rl.distill.drops import FEATURES, MOST
from mario_rl.distill.form import ScoringForm, check_range
from mario_rl.distill.half_counting import Writer, slots
from mario_rl.distill.layout import Layout
from mario_rl.distill.operands import at, value
from mario_rl.distill.words import title_of
from mario_rl.distill.writers import KeepingWriter


@dataclass(frozen=True)
class Linear(ScoringForm):
    """Score = bias + the sum of weights[feature] x its value, a byte that cannot wrap."""

    kind: ClassVar[str] = "linear"

    weights: dict[str, int]
    bias: int = 0

    def __post_init__(self) -> None:
        if unknown := set(self.weights) - set(FEATURES):
            raise ValueError(f"no feature is called {min(unknown)}")
        ends = [weight * MOST[name] for name, weight in self.weights.items()]
        check_range(self.bias + sum(min(end, 0) for end in ends), self.bias + sum(max(end, 0) for end in ends))

    @property
    def uses(self) -> tuple[str, ...]:
        """See `ScoringForm.uses`."""
        return slots(tuple(self.weights))

    def score(self, features: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        """See `ScoringForm.score`."""
        weights = np.array([self.weights.get(name, 0) for name in FEATURES], np.int64)
        return self.bias + features.astype(np.int64) @ weights

    def writer(self, program: Program, layout: Layout, counting: Counting) -> Writer:
        """See `ScoringForm.writer`."""
        return _Writer(program, layout, counting, self)

    def as_values(self) -> dict[str, Any]:
        """See `Form.as_values`."""
        return {"weights": dict(self.weights), "bias": self.bias, "columns_a_frame": self.columns_a_frame}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Linear:
        """See `Form.from_values`."""
        weights = {str(name): int(weight) for name, weight in values["weights"].items()}
        return cls(weights, int(values["bias"]), columns_a_frame=int(values["columns_a_frame"]))

    def explain(self) -> str:
        """See `Form.explain`."""
        lines = [f"Every place begins with {self.bias} points. The place with the most points is taken."]
        lines += [f"- {title_of(name)}: {weight:+d} for each" for name, weight in self.weights.items()]
        return "\n".join(lines)


class _Writer(KeepingWriter):
    """Adds a weight as often as its feature says: features are small."""

    def __init__(self, program: Program, layout: Layout, counting: Counting, form: Linear):
        super().__init__(program, layout, counting)
        self._form = form

    def weigh(self) -> None:
        """See `KeepingWriter.weigh`."""
        p, m = self.program, self.layout
        p("ldx", value(len(self.counting.slots) - 1))
        p("lda", value(self._form.bias))
        p.label("next_weight")
        p("ldy", at(m.features, "x"))
        p("beq", "weighed")
        p.label("weigh")
        p("clc")
        p("adc", at("weights", "x"))
        p("dey")
        p("bne", "weigh")
        p.label("weighed")
        p("dex")
        p("bpl", "next_weight")

    def routines(self) -> None:
        """See `Writer.routines`."""
        self.program.label("weights")
        self.program.data([self._form.weights.get(name, 0) & 0xFF for name in self.counting.slots])
