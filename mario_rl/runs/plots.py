"""Curves of a run as a picture: reward, x, flag rate, loss, Q-values, learning rate, deaths over the level."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator

from mario_rl.atomic_file import write_atomically
from mario_rl.runs.deaths import Deaths, read_deaths
from mario_rl.runs.directory import RunDirectory, RunError
from mario_rl.runs.series import Numbers, Series, read_series, without_rewound

COLUMNS = 3
PANEL_INCHES = (4.6, 2.9)
DOTS_PER_INCH = 110
BUCKET_PIXELS = 25  # of the level, for deaths
MOST_LEVELS = 6  # with a colour of their own
GRID_POINTS = 400  # on which the workers' curves are averaged

BLUE, GREY, GREEN, RED = "#1f5fa8", "#9fb6cf", "#2e8b57", "#b03a2e"


@dataclass(frozen=True)
class Curve:
    """One panel: a title, and the columns that are drawn in it (those that exist)."""

    title: str
    columns: tuple[str, ...]
    percent: bool = False
    health: float | None = None  # a line that a run in good health is beyond: docs/training.md
    log: bool = False  # falls by orders of magnitude


# Of the workers, averaged over them ...
WORKER_CURVES = (
    Curve("Reward per episode", ("reward_mean",)),
    Curve("Furthest x per episode, pixels", ("x_mean",)),
    Curve("Q-value", ("q_mean", "q_max")),
    Curve("TD error", ("td_error",)),
    Curve("Value loss", ("value_loss",)),
    Curve("World model's loss", ("wm_loss",), log=True),
    Curve("Mean squared error of what is recalled", ("recon_mse",), health=0.01, log=True),
    Curve("Similarity (SSIM) of what is recalled", ("ssim",), health=0.9),
    Curve("Surprise (KL), nats", ("kl",)),
    Curve("Ends of episodes: how sure it is of them", ("ends_seen", "ends_foreseen"), percent=True),
    Curve("Imagined return, value of what is seen", ("imagined_return", "value_mean"), health=0.0),
    Curve("Critic's loss", ("critic_loss",)),
    Curve("Entropy of the policy", ("entropy",)),
)
# ... and of the coordinator.
COORDINATOR_CURVES = (
    Curve("Episodes at the flag", ("flag_rate", "evaluation_rate"), percent=True),
    Curve("Loss", ("loss",)),
    Curve("Learning rate", ("lr",)),
)
ORDER = (
    "Reward per episode",
    "Furthest x per episode, pixels",
    "Episodes at the flag",
    "Loss",
    "Q-value",
    "TD error",
    "Value loss",
    "World model's loss",
    "Mean squared error of what is recalled",
    "Similarity (SSIM) of what is recalled",
    "Surprise (KL), nats",
    "Ends of episodes: how sure it is of them",
    "Imagined return, value of what is seen",
    "Critic's loss",
    "Entropy of the policy",
    "Learning rate",
)
LABELS = {
    "flag_rate": "training, last 100 episodes",
    "evaluation_rate": "evaluation",
    "q_mean": "mean",
    "q_max": "largest",
    "ends_seen": "when it sees them",
    "ends_foreseen": "a step before",
    "imagined_return": "imagined return",
    "value_mean": "value",
}


def plot_run(run: RunDirectory, file: Path | None = None) -> Path:
    """Draw the run into plots/training.png (or `file`)."""
    picture = io.BytesIO()
    draw_run(run).savefig(picture, format="png", dpi=DOTS_PER_INCH)
    if file is None:
        run.plots.mkdir(exist_ok=True)
    target = file or run.plots / "training.png"
    write_atomically(target, picture.getbuffer())
    return target


def draw_run(run: RunDirectory) -> Figure:
    """The curves of a run; panels without data are left out."""
    coordinator, workers, deaths = _read(run)
    panels: dict[str, tuple[Curve, list[Series]]] = {}
    for curves, measured in ((WORKER_CURVES, workers), (COORDINATOR_CURVES, [coordinator] if coordinator else [])):
        for curve in curves:
            with_data = [series for series in measured if any(series.has(name) for name in curve.columns)]
            if with_data:
                panels[curve.title] = (curve, with_data)
    if not panels and not len(deaths):
        raise RunError(f"nothing to plot in {run.path} yet: its CSV files hold no measurements")

    titles = [title for title in ORDER if title in panels]
    figure, axes = _sheet(len(titles) + bool(len(deaths)))
    for axis, title in zip(axes, titles, strict=False):
        _draw_curve(axis, *panels[title])
    if len(deaths):
        _draw_deaths(axes[-1], deaths)
    figure.suptitle(_heading(run), x=0.01, ha="left", fontsize=13, fontweight="bold")
    return figure


# --- reading ------------------------------------------------------------------------------------------------------


def _read(run: RunDirectory) -> tuple[Series | None, list[Series], Deaths]:
    coordinator = without_rewound(read_series(run.coordinator_csv)) if run.coordinator_csv.exists() else None
    workers = [read_series(file) for file in run.worker_csvs()]
    workers = [_on_the_steps_of_all(worker, coordinator, len(workers)) for worker in workers if len(worker)]
    return coordinator, workers, read_deaths(run.deaths_csv)


def _on_the_steps_of_all(worker: Series, coordinator: Series | None, workers: int) -> Series:
    """A worker counts its own steps; curves are drawn over those of all workers, which the time of a row tells."""
    if coordinator is not None and len(coordinator) and worker.has("time") and coordinator.has("time"):
        steps = np.interp(worker["time"], coordinator["time"], coordinator["steps"])
    else:
        steps = worker["steps"] * workers if worker.has("steps") else np.arange(len(worker), dtype=np.float64)
    return without_rewound(Series(worker.columns | {"steps": steps}))


# --- drawing ------------------------------------------------------------------------------------------------------


def _sheet(panels: int) -> tuple[Figure, list[Axes]]:
    columns = min(panels, COLUMNS)
    rows = -(-panels // columns)
    with mpl.rc_context({"axes.spines.top": False, "axes.spines.right": False, "font.size": 9}):
        figure = Figure((PANEL_INCHES[0] * columns, PANEL_INCHES[1] * rows + 0.5), layout="constrained")
        grid = figure.add_gridspec(rows, columns)
        places = [grid[number // columns, number % columns] for number in range(panels - 1)]
        places.append(grid[rows - 1, (panels - 1) % columns :])  # the last one has the rest of its row
        axes = [figure.add_subplot(place) for place in places]
        figure.get_layout_engine().set(w_pad=0.1)  # type: ignore[union-attr, call-arg]
    return figure, axes


def _draw_curve(axis: Axes, curve: Curve, series: list[Series]) -> None:
    colours = dict(zip(curve.columns, (BLUE, GREEN), strict=False))
    drawn = [name for name in curve.columns if any(one.has(name) for one in series)]
    for name in drawn:
        lines = [_points(one, name) for one in series if one.has(name)]
        if len(lines) > 1:
            for steps, values in lines:
                axis.plot(steps, values, color=GREY, linewidth=0.7, alpha=0.7)
            lines = [_mean(lines)]
        steps, values = lines[0]
        few = "o" if len(steps) < 40 else None
        axis.plot(steps, values, color=colours[name], linewidth=1.6, label=LABELS.get(name), marker=few, markersize=3)
    axis.set_title(curve.title, loc="left", fontsize=10)
    axis.set_xlabel("environment steps")
    axis.xaxis.set_major_formatter(EngFormatter(sep=""))
    axis.grid(alpha=0.25)
    if curve.log:
        axis.set_yscale("log")
    if curve.health is not None:
        axis.axhline(curve.health, color=RED, linewidth=0.8, linestyle="--")
    if curve.percent:
        axis.set_ylim(-0.03, 1.03)
        axis.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    if len(drawn) > 1:
        axis.legend(fontsize=8, frameon=False)


def _points(series: Series, name: str) -> tuple[Numbers, Numbers]:
    known = np.isfinite(series[name]) & np.isfinite(series["steps"])
    return series["steps"][known], series[name][known]


def _mean(lines: list[tuple[Numbers, Numbers]]) -> tuple[Numbers, Numbers]:
    """The average of several curves, where all of them are known."""
    first = max(steps[0] for steps, _ in lines)
    last = max(first, min(steps[-1] for steps, _ in lines))
    grid = np.linspace(first, last, GRID_POINTS)
    return grid, np.mean([np.interp(grid, steps, values) for steps, values in lines], axis=0)


def _draw_deaths(axis: Axes, deaths: Deaths) -> None:
    often = [level for level, _ in Counter(deaths.level.tolist()).most_common(MOST_LEVELS)]
    shown = {level: deaths.of_level(level).x for level in sorted(often)}
    others = ~np.isin(deaths.level, often)
    if others.any():
        shown["others"] = deaths.x[others]
    furthest = max(float(xs.max()) for xs in shown.values())
    least = min(0.0, *(float(xs.min()) for xs in shown.values()))
    edges = np.arange(least // BUCKET_PIXELS * BUCKET_PIXELS, furthest + 2 * BUCKET_PIXELS, BUCKET_PIXELS)
    colours = [RED] if len(shown) == 1 else [mpl.colormaps["tab10"](number) for number in range(len(shown))]
    axis.hist(list(shown.values()), bins=edges.tolist(), stacked=True, color=colours, label=list(shown))
    total = sum(len(xs) for xs in shown.values())
    where = f" in {next(iter(shown))}" if len(shown) == 1 else ""
    axis.set_title(f"Where Mario died{where}, {total} deaths", loc="left", fontsize=10)
    axis.set_xlabel("x, pixels")
    axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    axis.grid(alpha=0.25, axis="y")
    if len(shown) > 1:
        axis.legend(fontsize=8, frameon=False)


def _heading(run: RunDirectory) -> str:
    config = run.config()
    return f"{run.name}: {config.model} on {config.level}, {config.observation}, seed {config.seed}"
