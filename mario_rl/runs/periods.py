"""The first and the last quarter of a run, to compare before with after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mario_rl.runs.deaths import Deaths
from mario_rl.runs.directory import RunDirectory
from mario_rl.runs.series import Numbers, Series, read_series, without_rewound

SHARE = 0.25  # of the run's environment steps


@dataclass(frozen=True)
class Period:
    """A part of a run."""

    name: str
    begin: float
    """Unix seconds."""
    end: float
    episodes: str
    """How many episodes it had, in words that can follow a number of deaths; empty if the run does not say."""

    def holds(self, time: Numbers) -> npt.NDArray[np.bool_]:
        """Which of these moments lie in it."""
        return (self.begin <= time) & (time <= self.end)


def periods(run: RunDirectory, deaths: Deaths) -> tuple[Period, Period]:
    """The first and the last quarter of the run's steps; of the time from first to last death if it has no steps."""
    coordinator = without_rewound(read_series(run.coordinator_csv)) if run.coordinator_csv.exists() else Series({})
    if coordinator.has("steps") and coordinator.has("time") and coordinator["steps"][-1] > 0:
        time, steps = coordinator["time"], coordinator["steps"]
        first, last = (float(np.interp(share * steps[-1], steps, time)) for share in (SHARE, 1 - SHARE))
        limits = f"up to step {steps[-1] * SHARE:,.0f}", f"from step {steps[-1] * (1 - SHARE):,.0f} to {steps[-1]:,.0f}"
    else:
        begin, end = (float(deaths.time.min()), float(deaths.time.max())) if len(deaths) else (0.0, 0.0)
        first, last = begin + SHARE * (end - begin), end - SHARE * (end - begin)
        limits = "by time", "by time"
    spans = (-np.inf, first), (last, np.inf)
    several = len(deaths.levels) > 1
    said = [_episodes(run, coordinator, begin, end, several) for begin, end in spans]
    names = f"Early (first quarter of the run, {limits[0]})", f"Late (last quarter, {limits[1]})"
    early, late = (Period(name, *span, words) for name, span, words in zip(names, spans, said, strict=True))
    return early, late


def _episodes(run: RunDirectory, coordinator: Series, begin: float, end: float, several_levels: bool) -> str:
    fresh = _grown(coordinator, "episodes", begin, end)
    practised = [_grown(read_series(file), "practice_episodes", begin, end) or 0 for file in run.worker_csvs()]
    if fresh is None:
        return ""
    practice = round(sum(practised))
    words = f" in {round(fresh):,} episodes"
    if practice:
        words += f" from a level's start and {practice:,} of practice"
    return words + (", all levels together" if several_levels else "")


def _grown(series: Series, name: str, begin: float, end: float) -> float | None:
    """By how much a counter went up between two moments; None if nobody counted."""
    if not series.has(name) or not series.has("time"):
        return None
    known = np.isfinite(series[name]) & np.isfinite(series["time"])
    time, values = series["time"][known], series[name][known]
    at_begin, at_end = np.interp([begin, end], time, values, left=0.0)
    return float(at_end - at_begin)
