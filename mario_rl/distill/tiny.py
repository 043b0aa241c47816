"""The smallest player: 160 bytes for choosing, steering and the hook together.

A half scores by what it comes to lie on: its own colour much, nothing some, another colour next to nothing; of places
of the same worth a whim decides that changes with every capsule. It does not see that a full column bars its way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mario_rl.distill.assembler import Program
from mario_rl.distill.chooser import (
    IN_ANTIDOTE,
    TWO_ROWS,
    Place,
    write_fall,
    write_head,
    write_move,
    write_press,
    write_release,
    write_top,
)
from mario_rl.distill.drops import DROP_COLUMNS, DROP_ROTATIONS, DROPS, NOWHERE, Drops
from mario_rl.distill.form import best
from mario_rl.distill.layout import EMPTY, GONE
from mario_rl.distill.listing import Assembled
from mario_rl.distill.operands import at, through, value
from mario_rl.emulators.base import A
from mario_rl.environment.drmario.memory import CELLS, COLUMNS, ROWS

LARGEST_CAPSULE = 0x99  # two decimal digits
# It looks at all columns with the second colour low, then at all of them with the first one low; upright, then flat.
_ORDER = np.array(
    [DROPS.index((turn - flat, column)) for turn in (3, 1) for column in reversed(range(COLUMNS)) for flat in (0, 1)]
)


@dataclass(frozen=True)
class Tiny:
    """Two numbers."""

    kind: ClassVar[str] = "tiny"
    thinks: ClassVar[int] = 0
    turns_first: ClassVar[bool] = True

    same: int = 40
    """What it is worth to a half to lie on its own colour."""
    nothing: int = 16
    """What it is worth to lie on nothing, or on the floor."""

    def __post_init__(self) -> None:
        most = 2 * max(self.same, self.nothing + 1) + (LARGEST_CAPSULE | COLUMNS - 1)
        if not (self.same >= 1 and self.nothing >= 1 and most <= 255):
            raise ValueError(f"scores go up to {most}: they do not fit into a byte")

    def choose(self, drops: Drops) -> npt.NDArray[np.int64]:
        """See `Form.choose`."""
        count = len(drops.ids)
        row = ROWS - drops.ids // COLUMNS % ROWS  # of the cell below the low half
        below = np.where(drops.ids == NOWHERE, 0, row * COLUMNS + DROP_COLUMNS)
        cells = np.full((count, CELLS + 2 * COLUMNS), EMPTY, np.int64)
        cells[:, :CELLS] = drops.fields.reshape(count, CELLS)
        first, second = (drops.colours[:, [half]].astype(np.int64) for half in (0, 1))
        low = np.where(DROP_ROTATIONS < 2, first, second)
        high = first ^ second ^ low
        beside = np.take_along_axis(cells, below + 1, axis=1)
        under_high = np.where(DROP_ROTATIONS % 2 == 1, low, beside)
        whim = drops.capsules.astype(np.int64)[:, None] ^ DROP_COLUMNS
        under_low = np.take_along_axis(cells, below, axis=1)
        scores = self._worth(low ^ under_low) + (under_low >= GONE) + self._worth(high ^ under_high) + whim
        # The first score that counts is 3, as with every player.
        possible = (drops.ids != NOWHERE) & (scores >= 3)
        chosen = best(scores[:, _ORDER], possible[:, _ORDER])
        return np.where(possible.any(axis=1), _ORDER[chosen], chosen)

    def _worth(self, difference: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """What a half is worth, by its colour XOR what it lies on. (The low one gets 1 more for nothing: a carry.)"""
        other = difference & 3
        return np.where(difference >= GONE, self.nothing, np.where(other == 0, self.same, other))

    def compile(self, place: Place = IN_ANTIDOTE) -> Assembled:
        """See `Form.compile`."""
        p = Program(place.origin)
        m = place.memory.layout(p)
        turned = m.tops + COLUMNS
        """Rotation + 1, right behind the tops: 1 or 3 where it is taken for one, which is a column without room."""
        write_head(p)
        p("sta", m.best)
        p("sta", turned)
        p("lda", at(m.capsules, "x"))
        p("sta", m.capsule)
        p("lda", at(m.second_colour, "x"))
        p("ldy", at(m.first_colour, "x"))
        p.label("order", "A the colour of the low half, Y that of the high one")
        p("sta", m.low_colour)
        p("sty", m.high_colour)
        p("ldx", value(COLUMNS - 1))
        p.label("next_column")
        write_fall(p, m)
        write_top(p, m)
        p("inc", turned, "upright")
        p("lda", m.low_colour)
        p("eor", m.high_colour)
        p("jsr", "evaluate")
        p("dec", turned, "flat")
        p("tya")
        p("iny")
        p("cmp", at(m.tops + 1, "x"))
        p("bcc", "as_high")
        p("ldy", at(m.tops + 1, "x"))
        p.label("as_high", "Y: the cell below the right half")
        p("lda", m.high_colour)
        p("eor", through(m.field))
        p("dey")
        p("jsr", "evaluate")
        p("dex")
        p("bpl", "next_column")
        p("lda", m.high_colour)
        p("ldy", m.low_colour)
        p("lsr", turned, "3, 1, and then it is over")
        p("bne", "order")
        p.label("steer")
        write_release(p, m, place)
        p("lda", value(A))
        p("ldy", at(m.capsule_rotation, "x"))
        p("iny")
        p("cpy", m.target_rotation)
        p("bne", "press", "turn by a quarter")
        write_move(p, m)
        write_press(p, m)
        p.comment("A: the high half's colour XOR what it lies on. Y: the cell below the low half.")
        p.label("evaluate")
        p("cpy", value(TWO_ROWS))
        p("bcc", "done")
        p("jsr", "worth")
        p("sta", m.score)
        p("lda", m.low_colour)
        p("eor", through(m.field))
        p("jsr", "worth")
        p("adc", m.score)
        p("sta", m.score)
        p("txa")
        p("eor", m.capsule, "a whim")
        p("adc", m.score)
        p("cmp", m.best)
        p("bcc", "known")
        p("sta", m.best)
        p("stx", m.target_x)
        p("lda", turned)
        p("sta", m.target_rotation)
        p.label("known")
        p("rts")
        p.label("worth")
        p("cmp", value(GONE))
        p("bcs", "on_nothing")
        p("and", value(3))
        p("bne", "known")
        p("lda", value(self.same))
        p("rts")
        p.label("on_nothing")
        p("lda", value(self.nothing))
        p("rts")
        return p.assemble()

    def as_values(self) -> dict[str, Any]:
        """See `Form.as_values`."""
        return {"same": self.same, "nothing": self.nothing}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Tiny:
        """See `Form.from_values`."""
        return cls(int(values["same"]), int(values["nothing"]))

    def explain(self) -> str:
        """See `Form.explain`."""
        return (
            f"Each half of the capsule gets {self.same} points if it lies on its own colour, {self.nothing + 1} if it "
            "lies on nothing or on the floor, and next to none on another colour.\n"
            "Of places with the same points a whim decides, which is another one with every capsule."
        )
