"""Vectors as they travel: float32 as they are, or float16 at half the bytes.

A gradient's numbers may all be tiny, where float16 has few digits or none. So they are divided by a power of two first,
which is exact, and which brings the largest near the top of float16's range; what is left is float16's own rounding,
2^-11 of each number that is not far smaller than the largest (Micikevicius et al. 2018 scale losses for the same
reason). The coordinator's weights and the optimiser stay float32: only what workers see and send is rounded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]

_TOP = 15  # numbers of a packed vector are below 2 ** _TOP; float16 ends at 65504


@dataclass(frozen=True, slots=True)
class Packed:
    """A vector ready to travel: the numbers, and what they are to be multiplied by."""

    numbers: npt.NDArray[Any]
    scale: float = 1.0

    @property
    def nbytes(self) -> int:
        """What travels, but for a few bytes."""
        return int(self.numbers.nbytes)


def pack(vector: Vector, precision: str) -> Packed:
    """The vector, ready to travel; in float32 that is its own memory. One that is not finite stays not finite."""
    if precision == "float32":
        return Packed(vector)
    largest = float(np.abs(vector).max(initial=0.0))
    if not math.isfinite(largest):
        return Packed(np.zeros(len(vector), np.float16), math.nan)
    exponent = math.frexp(largest)[1] - _TOP if largest > 0 else 0
    scale = math.ldexp(1.0, max(exponent, -126))  # below that, float32 has no such power of two with all its digits
    return Packed((vector / np.float32(scale)).astype(np.float16), scale)


def unpack(packed: Packed) -> Vector:
    """The vector as float32: the packed memory itself if that is what it holds."""
    if packed.numbers.dtype == np.float32:
        return packed.numbers
    vector = np.empty(len(packed.numbers), np.float32)
    unpack_into(packed, vector)
    return vector


def unpack_into(packed: Packed, vector: Vector) -> None:
    """Write the vector where it is wanted."""
    np.copyto(vector, packed.numbers)
    if packed.scale != 1.0:
        vector *= np.float32(packed.scale)
