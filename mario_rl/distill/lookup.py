"""A form that does not weigh places at all: it boils the bottle down to a number, and a table says where to go.

The number is made of where the lowest piece of either colour lies on top of a column, and of which column is lowest of
all; different bottles may have the same one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mario_rl.distill.assembler import Program
from mario_rl.distill.chooser import IN_ANTIDOTE, TWO_ROWS, Place, write_fall, write_head, write_taps
from mario_rl.distill.drops import DROPS, LEAST_TOP, Drops, tops
from mario_rl.distill.listing import Assembled
from mario_rl.distill.operands import at, through, value
from mario_rl.environment.drmario.memory import COLUMNS, POP, ROWS

NONE = 8  # instead of a column
SIZES = (256, 128, 64, 32, 16)
_NUMBER_OF_DROP = np.array([DROPS.index((turn, column)) for column in range(COLUMNS) for turn in range(4)])
"""By column * 4 + rotation, as a byte of the table has it."""


@dataclass(frozen=True)
class Lookup:
    """A table of drops, as column * 4 + rotation."""

    kind: ClassVar[str] = "lookup"
    thinks: ClassVar[int] = 0
    turns_first: ClassVar[bool] = False

    table: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.table) not in SIZES or not all(0 <= entry < len(DROPS) for entry in self.table):
            raise ValueError(f"a table has {', '.join(map(str, SIZES))} entries, each from 0 to {len(DROPS) - 1}")

    def choose(self, drops: Drops) -> npt.NDArray[np.int64]:
        """See `Form.choose`."""
        return _NUMBER_OF_DROP[np.array(self.table)[hashes(drops) & len(self.table) - 1]]

    def compile(self, place: Place = IN_ANTIDOTE) -> Assembled:
        """See `Form.compile`."""
        p = Program(place.origin)
        m = place.memory.layout(p)
        own, deepest = m.kept, m.tops  # columns and cells: of the first colour, of the second, of all
        write_head(p)
        p("lda", at(m.first_colour, "x"))
        p("sta", m.low_colour)
        p("lda", at(m.second_colour, "x"))
        p("sta", m.high_colour)
        p("lda", value(NONE))
        p("ldx", value(2))
        p.label("forget")
        p("sta", at(own, "x"))
        p("dex")
        p("bpl", "forget")
        p("lda", value(0))
        for number in range(3):
            p("sta", deepest + number)
        p("ldx", value(COLUMNS - 1))
        p.label("next_column")
        write_fall(p, m)
        p("cpy", value(TWO_ROWS))
        p("bcc", "passed", "no room")
        p("cpy", deepest + 2)
        p("bcc", "not_lowest")
        p("sty", deepest + 2)
        p("stx", own + 2)
        p.label("not_lowest")
        p("tya")
        p("bmi", "passed", "the floor")
        p("lda", through(m.field))
        p("and", value(3))
        for number, colour in enumerate((m.low_colour, m.high_colour)):
            p("cmp", colour)
            p("bne", f"other_{number}")
            p("cpy", deepest + number)
            p("bcc", f"other_{number}")
            p("sty", deepest + number)
            p("stx", own + number)
            p.label(f"other_{number}")
        p.label("passed")
        p("dex")
        p("bpl", "next_column")
        p.comment("(8 x first + second) x 4 XOR lowest, and the highest bit turned if both colours are the same")
        p("lda", own)
        for _ in range(3):
            p("asl")
        p("adc", own + 1)
        p("asl")
        p("asl")
        p("eor", own + 2)
        p("ldy", m.low_colour)
        p("cpy", m.high_colour)
        p("bne", "two_colours")
        p("eor", value(0x80))
        p.label("two_colours")
        p("and", value(len(self.table) - 1))
        p("tay")
        p("lda", at("table", "y"))
        p("pha")
        p("and", value(3))
        p("sta", m.target_rotation)
        p("pla")
        p("lsr")
        p("lsr")
        p("sta", m.target_x)
        p("rts")
        p.label("steer")
        write_taps(p, m, place)
        p.label("table", "column x 4 + rotation")
        for start in range(0, len(self.table), 16):
            p.data(self.table[start : start + 16])
        return p.assemble()

    def as_values(self) -> dict[str, Any]:
        """See `Form.as_values`."""
        return {"table": list(self.table)}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Lookup:
        """See `Form.from_values`."""
        return cls(tuple(map(int, values["table"])))

    def explain(self) -> str:
        """See `Form.explain`."""
        return (
            "It looks where the lowest piece of each of the capsule's colours lies on top, and which column is lowest, "
            f"and looks up where to go then, in a table of {len(self.table)} entries."
        )


def hashes(drops: Drops) -> npt.NDArray[np.int64]:
    """int64[m]: the numbers of bottles, 0 to 255."""
    free = tops(drops.fields)
    room, floor = free >= LEAST_TOP, free == ROWS
    cells = np.take_along_axis(drops.fields, np.minimum(free, ROWS - 1)[:, None], axis=1)[:, 0]
    colours = np.where(floor | (cells >= POP), NONE, cells & 3)
    columns = np.arange(COLUMNS)
    depth = free * COLUMNS + columns

    def lowest(among: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        return np.where(among.any(axis=1), np.where(among, depth, -1).argmax(axis=1), NONE)

    first, second = (lowest(room & (colours == drops.colours[:, [half]])) for half in (0, 1))
    one_colour = drops.colours[:, 0] == drops.colours[:, 1]
    return ((8 * first + second) * 4 & 0xFF) ^ lowest(room) ^ np.where(one_colour, 0x80, 0)


def fit_lookup(drops: Drops, ratings: npt.NDArray[np.float32], size: int) -> Lookup:
    """For every number of a bottle the drop that a teacher likes best, on average over these lessons."""
    number = hashes(drops) & size - 1
    worth = np.zeros((size, len(DROPS)))
    np.add.at(worth, number, ratings)
    return Lookup(tuple(int(np.flatnonzero(best == _NUMBER_OF_DROP)[0]) for best in worth.argmax(axis=1).tolist()))
