"""The measurements of a run, read from its CSV files as columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mario_rl.metrics.logger import read_rows

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Series:
    """The columns of one CSV file, all of one length; what was not measured is NaN."""

    columns: dict[str, Numbers]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def has(self, name: str) -> bool:
        """Whether a column holds any number."""
        return name in self.columns and bool(np.isfinite(self.columns[name]).any())

    def __getitem__(self, name: str) -> Numbers:
        return self.columns[name]


def read_series(file: Path) -> Series:
    """The whole rows of a file that `MetricLogger` wrote."""
    rows = read_rows(file)
    names = dict.fromkeys(name for row in rows for name in row)
    return Series({name: np.array([row.get(name, np.nan) for row in rows], np.float64) for name in names})


def without_rewound(series: Series) -> Series:
    """Without the rows that going back to an older checkpoint made void: steps only go up."""
    if not series.has("steps"):
        return series
    steps = series["steps"]
    least_from_here_on = np.fmin.accumulate(steps[::-1])[::-1]
    later = np.append(least_from_here_on[1:], np.inf)
    valid = np.isfinite(steps) & (steps <= later)
    return Series({name: values[valid] for name, values in series.columns.items()})
