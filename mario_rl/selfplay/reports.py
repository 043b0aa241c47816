"""Where the figures of a run of self-play go: TensorBoard, and a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from mario_rl.metrics.tensorboard import TensorBoardWriter
from mario_rl.selfplay.run_directory import SelfPlayDirectory


class Board:
    """TensorBoard, from the steps on at which the run begins or goes on; it recovers from a full disk."""

    def __init__(self, directory: Path, steps: int):
        self._directory = directory
        self._writer = self._new_writer(steps)

    def _new_writer(self, steps: int) -> TensorBoardWriter:
        return TensorBoardWriter(self._directory, first_steps=steps or None, seconds_between=0)

    def add(self, group: str, values: Mapping[str, float], steps: int) -> None:
        """Write values of a group; an OSError if there is no room."""
        try:
            self._writer.add(group, values, steps)
        except OSError:
            self._writer = self._new_writer(steps)  # TensorBoard's never recovers: the next one is another
            raise

    def close(self) -> None:
        """Write what is still buffered."""
        self._writer.close()


class Reports:
    """Both of them, from the steps on at which the run begins or goes on."""

    def __init__(self, run: SelfPlayDirectory, steps: int):
        self._board = Board(run.tensorboard, steps)
        self._table = FiguresFile(run.selfplay_csv)
        self._table.forget_beyond(steps)

    def add(self, steps: int, minutes: float, figures: Mapping[str, float]) -> None:
        """Write figures, whose names are "group/name"; an OSError if there is no room."""
        self._table.add({"steps": steps, "minutes": round(minutes, 3)} | dict(figures))
        groups: dict[str, dict[str, float]] = {}
        for name, value in figures.items():
            group, own = name.split("/", 1)
            groups.setdefault(group, {})[own] = value
        for group, values in groups.items():
            self._board.add(group, values, steps)

    def close(self) -> None:
        """Write what is still buffered."""
        self._board.close()


class FiguresFile:
    """A CSV file with a column for every name there has been; a new name means that it is written anew."""

    def __init__(self, file: Path):
        self._file = file
        self._rows: list[dict[str, str]] = []
        if file.is_file():
            with file.open(newline="", encoding="utf-8") as source:
                self._rows = list(csv.DictReader(source))

    def forget_beyond(self, steps: int) -> None:
        """Drop what was written of a future that was given up by resuming from before it."""
        self._rows = [row for row in self._rows if row.get("steps", "").isdecimal() and int(row["steps"]) <= steps]

    def add(self, row: Mapping[str, float]) -> None:
        """Append a row."""
        known = list(self._rows[0]) if self._rows else []
        self._rows.append(
            {name: f"{value:.6g}" if isinstance(value, float) else str(value) for name, value in row.items()}
        )
        names = [*known, *(name for name in row if name not in known)]
        anew = names != known
        with self._file.open("w" if anew else "a", newline="", encoding="utf-8") as target:
            writer = csv.DictWriter(target, names, restval="")
            if anew:
                writer.writeheader()
                self._rows = [{name: one.get(name, "") for name in names} for one in self._rows]
                writer.writerows(self._rows)
            else:
                writer.writerow(self._rows[-1])
