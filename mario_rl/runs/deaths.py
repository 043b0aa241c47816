"""The deaths of a run, read from its deaths.csv."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mario_rl.environment.smb.levels import LEVELS
from mario_rl.runs.series import Numbers

FURTHEST = 2**15  # pixels: x has 16 bits


@dataclass(frozen=True)
class Deaths:
    """Columns of one length, in the order of the file."""

    time: Numbers
    """Unix seconds."""
    level: npt.NDArray[np.str_]
    area: npt.NDArray[np.int64]
    x: npt.NDArray[np.int64]
    """Pixels within the area."""

    def __len__(self) -> int:
        return len(self.x)

    def where(self, chosen: npt.NDArray[np.bool_]) -> Deaths:
        """Those that are chosen."""
        return Deaths(self.time[chosen], self.level[chosen], self.area[chosen], self.x[chosen])

    def of_level(self, level: str) -> Deaths:
        """Those in one level."""
        return self.where(self.level == level)

    @property
    def levels(self) -> list[str]:
        """The levels in which Mario has died, in order."""
        return sorted(set(self.level.tolist()))


def read_deaths(file: Path) -> Deaths:
    """The lines time,level,area,x_pos of a file, without those that are not whole; none if there is no such file."""
    rows: list[tuple[float, str, int, int]] = []
    try:
        with file.open(newline="", encoding="utf-8", errors="replace") as lines:
            for row in csv.DictReader(lines):
                try:
                    found = float(row["time"]), row["level"], int(row["area"]), int(row["x_pos"])
                except (KeyError, TypeError, ValueError):  # another header, or a line that is being written
                    continue
                if (
                    math.isfinite(found[0])
                    and found[1] in LEVELS
                    and abs(found[3]) < FURTHEST
                    and abs(found[2]) < 2**16
                ):
                    rows.append(found)
    except FileNotFoundError:
        pass
    time, level, area, x = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Deaths(np.array(time, np.float64), np.array(level, np.str_), np.array(area, np.int64), np.array(x, np.int64))
