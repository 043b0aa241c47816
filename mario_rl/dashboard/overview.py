"""The first page: how far the run is, how well Mario plays, what happened last."""

from __future__ import annotations

import time

from rich.text import Text

from mario_rl.dashboard.drawing import bars, progress_bar, stretched
from mario_rl.dashboard.figures import Progress, count, duration, number, percent
from mario_rl.dashboard.lines import joined, log_line
from mario_rl.dashboard.practice import practice_of_all, practises
from mario_rl.dashboard.session import TrainingSession
from mario_rl.dashboard.workers import workers_table
from mario_rl.metrics.aggregator import COORDINATOR

LOWEST_CURVE, HIGHEST_CURVE = 2, 15  # rows
COMFORTABLE_CURVE = 9  # rows that the curve keeps before the workers are shown, too
AXIS = "100 % "  # the widest label of the curve's axis


def overview(session: TrainingSession, seconds: float, width: int, height: int, paused: bool = False) -> Text:
    """The page for a screen of this size; `seconds` is how long the dashboard has been up."""
    progress = Progress.of(session)
    top = [*_progress(progress, seconds, width), Text(), *_key_numbers(session, progress, width)]
    top += [Text(practice_of_all(session)), Text()] if practises(session) else [Text()]
    log_rows = max(2, min(8, height // 4))
    room = height - len(top) - log_rows - 4  # 4: the curve's caption and axis, a blank line, the log's caption
    workers = [*workers_table(session, time.time(), width, paused).split("\n"), Text()]
    if room - len(workers) < COMFORTABLE_CURVE:
        workers = []
    curve_rows = min(room - len(workers), HIGHEST_CURVE)
    curve = [*_flag_curve(session, width, curve_rows), Text()] if curve_rows >= LOWEST_CURVE else []
    rest = height - len(top) - len(curve) - len(workers) - 1
    lines = list(session.aggregator.log)[-rest:] if rest > 0 else []
    log = [Text("last events", "dim"), *(log_line(line, width) for line in lines)] if lines else []
    return joined([*top, *curve, *workers, *log][: max(height, 0)], width)


def _progress(progress: Progress, seconds: float, width: int) -> list[Text]:
    share = percent(progress.share).rjust(6)
    bar = Text(progress_bar(progress.share, max(width - len(share), 1)), "green").append(share, "bold")
    words = [
        f"{count(progress.steps)} of {count(progress.goal)} steps",
        f"{count(progress.steps_per_second)} steps/s",
        progress.left(),
        f"up {duration(seconds)}",
    ]
    return [bar, Text(" · ".join(words))]


def _key_numbers(session: TrainingSession, progress: Progress, width: int) -> list[Text]:
    """Names over their values, as many as fit."""
    aggregator = session.aggregator
    first_flag = aggregator.latest(COORDINATOR, "first_flag_steps")
    evaluation = aggregator.latest(COORDINATOR, "evaluation_rate")
    facts = [
        ("flag rate", percent(progress.flag_rate)),
        ("best x", count(progress.best_x)),
        ("evaluated", percent(evaluation)),
        ("first flag", "not yet" if first_flag is None else f"at {count(first_flag)}"),
        ("reward", number(aggregator.mean("reward_mean"))),
        ("episodes", count(aggregator.episodes)),
        ("workers", f"{progress.workers} of {progress.workers_wanted}"),
        ("loss", number(progress.loss)),
    ]
    names, values = Text(), Text()
    column = 11
    for name, value in facts[: max(width // column, 1)]:
        names.append(name.ljust(column), "dim")
        values.append(value.ljust(column), "bold")
    return [names, values]


def _flag_curve(session: TrainingSession, width: int, rows: int) -> list[Text]:
    aggregator = session.aggregator
    rows -= rows >= 5 and rows % 2 == 0  # an odd number has a middle
    columns = max(width - len(AXIS) - 1, 1)
    end = max(aggregator.steps, 1)
    drawn = bars(stretched(aggregator.flag_curve.points, columns, end), rows, 1.0)
    labels = {0: AXIS, rows - 1: "  0 % "} | ({rows // 2: " 50 % "} if rows >= 5 else {})
    of = "episodes of every worker from a level's start" if practises(session) else "episodes of every worker"
    lines = [Text(f"flag rate of the latest 100 {of}", "dim")]
    for row, blocks in enumerate(drawn):
        lines.append(Text.assemble((labels.get(row, " " * len(AXIS)) + "│", "dim"), (blocks, "cyan")))
    last = f"{count(aggregator.steps)} steps"
    axis = " " * len(AXIS) + "0" + last.rjust(max(columns, len(last) + 1))
    return [*lines, Text(axis, "dim")]
