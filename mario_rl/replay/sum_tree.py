"""Numbers that can be drawn in proportion to their size: a tree of sums, all operations on many leaves at once.

Every node is the sum of `BRANCHES` nodes below it. So wide a tree is only four levels high for 50 000 leaves, and each
level is one NumPy call over all leaves that are asked for, instead of the sixteen levels of a binary tree. Sums are
computed anew from the nodes below, never corrected by differences: rounding errors do not pile up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

BRANCHES = 16

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


class SumTree:
    """`leaves` priorities, all 0 at first. A leaf with priority 0 is never found."""

    def __init__(self, leaves: int):
        if leaves < 1:
            raise ValueError(f"a sum tree has at least one leaf, not {leaves}")
        self.leaves = leaves
        # levels[0] are the leaves; each level is filled up to whole groups of BRANCHES; the last is one group.
        self._levels: list[Floats] = []
        size = leaves
        while True:
            groups = -(-size // BRANCHES)
            self._levels.append(np.zeros((groups, BRANCHES)))
            if groups == 1:
                break
            size = groups

    @property
    def priorities(self) -> Floats:
        """All leaves, float64[leaves]; to look at, `set` changes them."""
        return self._levels[0].reshape(-1)[: self.leaves]

    @property
    def total(self) -> float:
        """The sum of all priorities."""
        return float(self._levels[-1].sum())

    @property
    def largest(self) -> float:
        """The largest priority."""
        return float(self._levels[0].max())

    @property
    def smallest(self) -> float:
        """The smallest priority above 0, infinity if there is none."""
        leaves = self._levels[0]
        return float(np.min(leaves, where=leaves > 0, initial=np.inf))

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(level.nbytes for level in self._levels)

    def set(self, indices: Indices, priorities: npt.NDArray[Any] | float) -> None:
        """Give leaves their priorities. Of an index that occurs several times, the last one counts."""
        self._levels[0].reshape(-1)[indices] = priorities
        nodes = indices
        for below, above in zip(self._levels, self._levels[1:], strict=False):
            nodes = nodes // BRANCHES
            above.reshape(-1)[nodes] = below[nodes].sum(axis=1)

    def find(self, values: Floats) -> Indices:
        """The leaves at which the running sum of all priorities passes each of `values`, which are in [0, total)."""
        if not self._levels[-1].any():
            raise ValueError("all priorities are 0: there is nothing to find")
        group = np.zeros(len(values), np.int64)
        rest = values.astype(np.float64)
        rows = np.arange(len(values))
        for level in reversed(self._levels):
            sums = level[group].cumsum(axis=1)
            # Rounding may leave a rest that is a hair beyond the last sum: it belongs to the last node that has any.
            np.minimum(rest, np.nextafter(sums[:, -1], 0), out=rest)
            branch = (sums <= rest[:, None]).sum(axis=1)
            before = sums[rows, branch - 1]
            rest -= np.where(branch > 0, before, 0)
            group = group * BRANCHES + branch
        return group
