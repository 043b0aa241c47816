"""A form that is a small network whose weights have one bit each: a unit adds a feature, or takes it away.

hidden unit = max(0, (threshold + the sum of +feature or -feature) / 2^shift), score = start + the sum of +unit or
-unit, kept within the range of a score. On the 6502 the features of the bits that are set are added up, doubled, and
the sum of all features taken off: the same with half the work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mario_rl.distill.assembler import Program
from mario_rl.distill.chooser import LEAST_SCORE
from mario_rl.distill.counting import Counting
from mario_rl.distill.drops import FEATURES, MOST
from mario_rl.distill.form import MOST_SCORE, ScoringForm
from mario_rl.distill.half_counting import Writer, slots
from mario_rl.distill.layout import Layout
from mario_rl.distill.operands import at, value
from mario_rl.distill.words import title_of
from mario_rl.distill.writers import KeepingWriter

BITS = 8
MOST_UNITS = 32


@dataclass(frozen=True)
class Binary(ScoringForm):
    """Features, at most 8 of them, and units."""

    kind: ClassVar[str] = "binary"

    inputs: tuple[str, ...]
    """The features, in the order of `slots`."""
    weights: tuple[tuple[int, ...], ...]
    """Of each unit, +1 or -1 for each feature."""
    thresholds: tuple[int, ...]
    """Of each unit."""
    signs: tuple[int, ...]
    """+1 or -1: what a unit does to the score."""
    shift: int = 0
    start: int = 128

    def __post_init__(self) -> None:
        if not 1 <= len(self.inputs) <= BITS or slots(self.inputs) != self.inputs:
            raise ValueError(f"a network has 1 to {BITS} features, both halves of a pair, in their order")
        units = len(self.weights)
        if not 1 <= units <= MOST_UNITS or not units == len(self.thresholds) == len(self.signs):
            raise ValueError(f"a network has 1 to {MOST_UNITS} units, each with a threshold and a sign")
        numbers = [*self.signs, *(weight for unit in self.weights for weight in unit)]
        if any(len(unit) != len(self.inputs) for unit in self.weights) or not set(numbers) <= {-1, 1}:
            raise ValueError("weights and signs are +1 or -1, one for each feature")
        reach = sum(MOST[name] for name in self.inputs)
        if not all(abs(threshold) + reach <= 127 for threshold in self.thresholds):
            raise ValueError(f"thresholds go up to {127 - reach}: sums fit into a byte then")
        if not (0 <= self.shift <= 7 and LEAST_SCORE <= self.start <= MOST_SCORE):
            raise ValueError(f"shift is 0 to 7, start is {LEAST_SCORE} to {MOST_SCORE}")

    @property
    def uses(self) -> tuple[str, ...]:
        """See `ScoringForm.uses`."""
        return self.inputs

    def score(self, features: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        """See `ScoringForm.score`."""
        columns = [FEATURES.index(name) for name in self.inputs]
        sums = features[..., columns].astype(np.int64) @ np.array(self.weights, np.int64).T
        units = np.maximum(sums + np.array(self.thresholds), 0) >> self.shift
        total = np.full(features.shape[:-1], self.start, np.int64)
        for number in reversed(range(len(self.signs))):
            total = np.clip(total + self.signs[number] * units[..., number], LEAST_SCORE, MOST_SCORE)
        return total

    def writer(self, program: Program, layout: Layout, counting: Counting) -> Writer:
        """See `ScoringForm.writer`."""
        return _Writer(program, layout, counting, self)

    def as_values(self) -> dict[str, Any]:
        """See `Form.as_values`."""
        return {
            "inputs": list(self.inputs),
            "weights": [list(unit) for unit in self.weights],
            "thresholds": list(self.thresholds),
            "signs": list(self.signs),
            "shift": self.shift,
            "start": self.start,
            "columns_a_frame": self.columns_a_frame,
        }

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Binary:
        """See `Form.from_values`."""
        return cls(
            tuple(map(str, values["inputs"])),
            tuple(tuple(map(int, unit)) for unit in values["weights"]),
            tuple(map(int, values["thresholds"])),
            tuple(map(int, values["signs"])),
            int(values["shift"]),
            int(values["start"]),
            columns_a_frame=int(values["columns_a_frame"]),
        )

    def explain(self) -> str:
        """See `Form.explain`."""
        lines = [f"A network of {len(self.signs)} units. Every place begins with {self.start} points."]
        for unit, threshold, sign in zip(self.weights, self.thresholds, self.signs, strict=True):
            parts = [
                f"{'+' if weight > 0 else '-'} {title_of(name)}" for name, weight in zip(self.inputs, unit, strict=True)
            ]
            what = "adds" if sign > 0 else "takes off"
            lines.append(f"- {what} what is above 0 of ({threshold} {' '.join(parts)}) / {1 << self.shift}")
        return "\n".join(lines)


class _Writer(KeepingWriter):
    """Unit by unit, from the last to the first."""

    def __init__(self, program: Program, layout: Layout, counting: Counting, form: Binary):
        super().__init__(program, layout, counting)
        self._form = form

    def weigh(self) -> None:
        """See `KeepingWriter.weigh`."""
        p, m, form = self.program, self.layout, self._form
        inputs = len(form.inputs)
        p("ldy", value(inputs - 1))
        p("lda", value(0))
        p.label("all_features")
        p("clc")
        p("adc", at(m.features, "y"))
        p("dey")
        p("bpl", "all_features")
        p("sta", m.step, "the sum of all")
        p("lda", value(form.start))
        p("sta", m.score)
        p("ldx", value(len(form.signs) - 1))
        p.label("unit")
        p("lda", at("unit_weights", "x"))
        p("sta", m.bound)
        p("ldy", value(inputs - 1))
        p("lda", value(0))
        p.label("weight")
        p("lsr", m.bound)
        p("bcc", "weight_negative")
        p("adc", at(m.features, "y"), "and 1, which its threshold knows of")
        p.label("weight_negative")
        p("dey")
        p("bpl", "weight")
        p("asl")
        p("clc")
        p("adc", at("unit_thresholds", "x"))
        p("sec")
        p("sbc", m.step)
        p("bmi", "unit_over")
        for _ in range(form.shift):
            p("lsr")
        p("ldy", at("unit_signs", "x"))
        p("bmi", "unit_minus")
        p("clc")
        p("adc", m.score)
        p("bcc", "unit_known")
        p("lda", value(MOST_SCORE))
        p("bne", "unit_known")
        p.label("unit_minus")
        p("eor", value(0xFF))
        p("sec")
        p("adc", m.score)
        p("bcc", "unit_least")
        p("cmp", value(LEAST_SCORE))
        p("bcs", "unit_known")
        p.label("unit_least")
        p("lda", value(LEAST_SCORE))
        p.label("unit_known")
        p("sta", m.score)
        p.label("unit_over")
        p("dex")
        p("bpl", "unit")
        p("lda", m.score)

    def routines(self) -> None:
        """See `Writer.routines`."""
        p, form = self.program, self._form
        p.label("unit_weights")
        # The feature that comes first in the loop, the last one, has the lowest bit.
        p.data([sum((weight > 0) << number for number, weight in enumerate(reversed(unit))) for unit in form.weights])
        p.label("unit_thresholds")
        ones = [sum(weight > 0 for weight in unit) for unit in form.weights]
        p.data([(threshold - 2 * count) & 0xFF for threshold, count in zip(form.thresholds, ones, strict=True)])
        p.label("unit_signs")
        p.data([sign & 0xFF for sign in form.signs])
