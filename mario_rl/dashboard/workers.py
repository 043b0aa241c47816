"""The workers' page: one row each, their sum below; more columns on wider screens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from rich.text import Text

from mario_rl.dashboard.figures import NONE, count, duration, number, one_line, percent, small
from mario_rl.dashboard.lines import joined
from mario_rl.dashboard.practice import practice_of_all, practice_of_worker, practises
from mario_rl.dashboard.session import TrainingSession
from mario_rl.metrics.aggregator import MetricAggregator, Standing

SILENT_SECONDS = 20.0  # a worker that says nothing for so long is worth a word; evaluations make them wait, too
HEALTH_STYLES = {"restarting": "bold yellow", "silent": "bold yellow", "given up": "bold red", "paused": "yellow"}


class Column(NamedTuple):
    """A metric as a column."""

    title: str
    metric: str
    width: int
    shown: Callable[[float | None], str]
    together: Callable[[MetricAggregator, str], float | None]  # what the row of all workers shows


_TOTAL, _MEAN, _MAXIMUM = MetricAggregator.total, MetricAggregator.mean, MetricAggregator.maximum

COLUMNS = (
    Column("episodes", "episodes", 8, count, _TOTAL),
    Column("reward", "reward_mean", 6, number, _MEAN),
    Column("steps", "steps", 6, count, _TOTAL),
    Column("eps", "epsilon", 5, small, _MEAN),
    Column("best x", "best_x", 6, count, _MAXIMUM),
    Column("deaths", "deaths", 6, count, _TOTAL),
    Column("grads", "grads_sent", 6, count, _TOTAL),
    Column("saves", "saves", 5, count, _TOTAL),
    Column("restores", "restores", 8, count, _TOTAL),
)
SNAPSHOTS = ("saves", "restores")  # of a run that practises these are in the line below
MORE_COLUMNS = (  # from the left, as many as there is room for
    Column("flags", "flag_rate", 6, percent, _MEAN),
    Column("steps/s", "steps_per_second", 7, count, _TOTAL),
    Column("mean x", "x_mean", 6, count, _MEAN),
    Column("loss", "loss", 8, number, _MEAN),
    Column("dropped", "grads_dropped", 7, count, _TOTAL),
    Column("CPU %", "cpu_percent", 6, count, _TOTAL),
    Column("MB", "memory_mb", 6, count, _TOTAL),
)
NAME_WIDTH = 3
INDENT = " " * (NAME_WIDTH + 1)
HEALTH_WIDTH = 24  # of a screen with room for more columns; on 80 columns 10 are left for it


def workers_table(session: TrainingSession, now: float, width: int, paused: bool = False) -> Text:
    """The table; `now` in unix seconds. Whoever is `paused` may be silent."""
    aggregator = session.aggregator
    without = SNAPSHOTS if practises(session) else ()
    columns = columns_that_fit(width, without if session.config.model == "ddqn" else (*without, "epsilon"))
    lines = [_row("#", [column.title for column in columns], columns, Text("health"), "bold underline", width)]
    for worker in aggregator.workers:
        source = f"worker_{worker}"
        cells = [column.shown(aggregator.latest(source, column.metric)) for column in columns]
        lines.append(_row(str(worker), cells, columns, health(aggregator.standing(worker), now, paused), "", width))
        if practises(session):
            lines.append(Text(INDENT + practice_of_worker(session, worker)))
    if not aggregator.workers:
        lines.append(Text("no worker has been heard of yet", "dim"))
    elif len(aggregator.workers) > 1:
        cells = [column.shown(column.together(aggregator, column.metric)) for column in columns]
        lines.append(_row("all", cells, columns, Text(), "bold", width))
        if practises(session):
            lines.append(Text(INDENT + practice_of_all(session), "bold"))
    return joined(lines, width)


def columns_that_fit(width: int, without: Collection[str] = ()) -> list[Column]:
    """The columns for a screen of this width: the first nine always (but for those metrics), then more."""
    columns = [column for column in COLUMNS if column.metric not in without]
    for more in MORE_COLUMNS:
        taken = NAME_WIDTH + sum(column.width + 1 for column in columns) + more.width + 1 + HEALTH_WIDTH
        if taken > width:
            break
        columns.append(more)
    return columns


def health(standing: Standing, now: float, paused: bool = False) -> Text:
    """How a worker is, in words: well, or what else; how often it was started again; why."""
    at_work = standing.status in ("collecting", "learning")
    status = "paused" if at_work and paused else standing.status
    style = HEALTH_STYLES.get(status, "")
    if at_work and not paused:
        silence = 0.0 if standing.heard is None else now - max(standing.heard, standing.since)
        silent = silence > SILENT_SECONDS
        status, style = (f"silent {duration(silence)}", HEALTH_STYLES["silent"]) if silent else ("ok", "green")
    text = Text(status, style)
    if standing.restarts:
        text.append(f", {standing.restarts} restart{'s' if standing.restarts > 1 else ''}", "yellow")
    if standing.text:
        text.append(f": {one_line(standing.text)}")
    return text


def _row(name: str, cells: Sequence[str], columns: Sequence[Column], last: Text, style: str, width: int) -> Text:
    text = Text(name.ljust(NAME_WIDTH), style)
    for cell, column in zip(cells, columns, strict=True):
        text.append(" " + cell.rjust(column.width), "" if cell != NONE else "dim")
    text.append(" ").append_text(last)
    text.truncate(max(width, 1), overflow="ellipsis")
    return text
