"""Metrics on disk: a CSV file that is written as training goes, and told to whoever watches.

One row is one write, so a process killed at any moment leaves at most its last row torn; the next one to open the file
removes that. A full disk costs rows, never the training.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mario_rl.distributed.events import Events
from mario_rl.metrics.schema import Values


class MetricLogger:
    """Writes metrics to `csv_path`, under the names of a collector's metrics, and publishes them.

    An existing file is continued. With `keep_steps`, rows beyond that many steps are removed first: a run that is
    resumed from a checkpoint goes through those steps again.
    """

    def __init__(
        self,
        csv_path: Path,
        names: Sequence[str],
        publisher: Events | None = None,
        keep_steps: int | None = None,
        clock: Callable[[], float] = time.time,
    ):
        self.columns = ("time", *names)
        self.failed_writes = 0
        self._publisher = publisher
        self._clock = clock
        self._path = csv_path
        _repair(csv_path, self.columns, keep_steps)
        self._file = os.open(csv_path, os.O_WRONLY | os.O_CREAT, 0o644)
        self._end = os.lseek(self._file, 0, os.SEEK_END)  # of the last whole row
        if self._end == 0:
            self._write(",".join(self.columns))

    def log(self, values: Mapping[str, float]) -> None:
        """Write and publish these metrics. Those that have no column, and those that are NaN, are left out of both."""
        known = {name: value for name, value in values.items() if name in self.columns and not math.isnan(value)}
        self._write(_cells(self.columns, {**known, "time": self._clock()}))
        if self._publisher is not None:
            self._publisher.metrics(known)

    def close(self) -> None:
        """Close the file; closing twice is fine."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _write(self, row: str) -> None:
        line = (row + "\n").encode()
        try:
            if os.pwrite(self._file, line, self._end) < len(line):
                raise OSError("the disk is full")
            self._end += len(line)
        except OSError as problem:
            os.ftruncate(self._file, self._end)
            self.failed_writes += 1
            if self.failed_writes == 1 and self._publisher is not None:
                text = f"cannot write {self._path}: {problem.strerror or problem}; training goes on without it"
                self._publisher.log("warning", text)


def last_values(csv_path: Path) -> Values:
    """The last row of a file that `MetricLogger` wrote; nothing if there is none. For `continue_from`."""
    try:
        rows = read_rows(csv_path)
    except FileNotFoundError:
        return {}
    return rows[-1] if rows else {}


def read_rows(csv_path: Path) -> list[Values]:
    """All whole rows; a metric that had no value is left out of its row."""
    header, *rows = _whole_lines(csv_path) or [""]
    names = header.split(",")
    return [_row(names, line) for line in rows if _is_row(names, line)]


def _whole_lines(path: Path) -> list[str]:
    content = path.read_bytes().decode(errors="replace")
    return content[: content.rfind("\n") + 1].split("\n")[:-1]


def _row(names: Sequence[str], line: str) -> Values:
    return {name: float(cell) for name, cell in zip(names, line.split(","), strict=True) if cell}


def _is_row(names: Sequence[str], line: str) -> bool:
    try:
        return bool(_row(names, line))
    except ValueError:  # too few cells, or no numbers: the machine went down while it was written
        return False


def _cells(columns: Sequence[str], row: Values) -> str:
    """A line of the file: time to the millisecond, counts without a point, all others to 7 digits."""
    return ",".join(f"{row[name]:.3f}" if name == "time" else _cell(row.get(name)) for name in columns)


def _cell(value: float | None) -> str:
    if value is None:
        return ""
    if math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.7g}"


def _repair(path: Path, columns: tuple[str, ...], keep_steps: int | None) -> None:
    """Make a file of an earlier process ready to be continued: whole rows, these columns, no step too many."""
    if not path.exists():
        return
    header, *lines = _whole_lines(path) or [""]
    if header == ",".join(columns):
        rows = [line for line in lines if _is_row(columns, line)]
    else:  # another version wrote this file: its rows, in the columns of today
        rows = [_cells(columns, row) for row in read_rows(path) if "time" in row]
    if keep_steps is not None and "steps" in columns:
        rows = [line for line in rows if _row(columns, line).get("steps", 0) <= keep_steps]
    repaired = "".join(line + "\n" for line in (",".join(columns), *rows)).encode()
    if repaired != path.read_bytes():
        _replace(path, repaired)


def _replace(path: Path, content: bytes) -> None:
    """Whole or not at all: a kill in the middle leaves the file as it was."""
    temporary = path.with_name(path.name + ".new")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
