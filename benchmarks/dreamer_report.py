"""The section of docs/results.md about Dreamer, from the figures that benchmarks/dreamer.py gathered."""

from __future__ import annotations

import math
import statistics
from typing import Any

Run = dict[str, Any]

FIRST_FLAG_MINUTES, MINUTES, STEPS, RATE = 3.0, 20.0, 120_000, 90.0
MSE, SSIM, PIXEL_MINUTES = 0.01, 0.9, 60.0


def goal_rows(report: dict[str, Any]) -> list[str]:
    """A table row for each goal that there are runs for; of several seeds the worst counts."""
    dreamers, peers = (_runs(report, "1-1", model) for model in ("dreamer", "ddqn"))
    rows = []
    if dreamers:
        first = max(_or_never(run["minutes_to_first_flag"]) for run in dreamers)
        rows.append(_row("Dreamer, first flag, slowest seed", first, FIRST_FLAG_MINUTES, " min", at_most=True))
        minutes, steps = (max(run[name] for run in dreamers) for name in ("minutes", "steps"))
        rows.append(_row("Dreamer, whole training, slowest seed", minutes, MINUTES, " min", at_most=True))
        rows.append(_row("Dreamer, environment steps, most of a seed", steps, STEPS, "", at_most=True))
        rate = min(round(100 * run["protocols"]["greedy"]["rate"], 1) for run in dreamers)
        rows.append(_row("Dreamer, greedy flags, worst seed", rate, RATE, " %"))
    if dreamers and peers:
        ours, theirs = (statistics.median(_or_never(run["steps_to_90"]) for run in runs) for runs in (dreamers, peers))
        fewer = math.inf if math.isinf(theirs) and not math.isinf(ours) else theirs / ours
        rows.append(_row("steps of DDQN to 90 % greedy flags, against Dreamer's (medians)", fewer, 1.0, "×"))
    for run in _runs(report, "beyond", "dreamer"):
        rate = round(100 * run["protocols"]["greedy"]["rate"], 1)
        rows.append(_row(f"Dreamer on {run['level']}, greedy flags", rate, RATE, " %"))
    for run in _runs(report, "pixels", "dreamer"):
        well = run["health"]
        minutes = _or_never(well["minutes_to_well"])
        says = f"Dreamer from pixels, until MSE < {MSE:g}, SSIM > {SSIM:g} and values are positive"
        rows.append(_row(says, minutes, PIXEL_MINUTES, " min", at_most=True))
        rising = well["x_last"] / well["x_first"]
        rows.append(_row("Dreamer from pixels, mean x of the last tenth against the first", rising, 1.0, "×"))
    return rows


def dreamer_section(report: dict[str, Any]) -> str:
    """The part of docs/results.md about Dreamer."""
    machine = report["machine"]
    return f"""
## Dreamer

Written by `python -m benchmarks.dreamer`{" --quick" if report["quick"] else ""} on {machine["date"]}, \
{machine["cpu"]}, {machine["cores"]} cores, {machine["system"]}, Python {machine["python"]}: \
one run after the other with `mario-rl train --preset laptop`, each \
judged by `mario-rl evaluate` with {report["episodes"]} episodes of each protocol. Both models are evaluated greedily \
every 2,500 steps while they train; 90 %: the first of these evaluations that reached it (200 episodes where it could \
be a new best, 100 otherwise).

| Dreamer | measured | goal |
|---|---|---|
{chr(10).join(goal_rows(report))}

{runs_table(report)}

{health_table(report)}

{commands(report)}
"""


def runs_table(report: dict[str, Any]) -> str:
    """Every run, one a row."""
    head = ["", "model", "seed", "first flag", "90 % greedy", "end", "greedy", "stochastic", "sticky 0.25"]
    rows = [
        [
            f"{run['level']}, pixels" if run["part"] == "pixels" else f"{run['level']}, tiles",
            run["model"],
            str(run["seed"]),
            _when(run["steps_to_first_flag"], run["minutes_to_first_flag"]),
            _when(run["steps_to_90"], run["minutes_to_90"]),
            _when(run["steps"], run["minutes"]),
            *(_share(run["protocols"][protocol]) for protocol in ("greedy", "stochastic", "sticky")),
        ]
        for run in report["runs"]
    ]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])


def commands(report: dict[str, Any]) -> str:
    """What was run, once for all seeds."""
    first = {(run["part"], run["model"]): run for run in reversed(report["runs"])}
    said = [f"    {run['command']}" for run in reversed(first.values())]
    return "\n".join(["The commands (`--seed` 0, 1, 2 for 1-1 from tiles; one run of each of the others):", "", *said])


def health_table(report: dict[str, Any]) -> str:
    """How well the dreamers were in the end."""
    head = ["health at the end", "seed", "MSE", "SSIM", "value", "ends foreseen", "mean x, first and last tenth"]
    rows = [
        [
            f"{run['level']}, {'pixels' if run['part'] == 'pixels' else 'tiles'}",
            str(run["seed"]),
            f"{well['recon_mse']:.4f}",
            f"{well['ssim']:.3f}" if "ssim" in well else "",
            f"{well['value_mean']:.1f}",
            f"{well['ends_foreseen']:.0%}",
            f"{well['x_first']:.0f}, {well['x_last']:.0f}",
        ]
        for run in report["runs"]
        if (well := run["health"]) is not None
    ]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])


def _runs(report: dict[str, Any], part: str, model: str) -> list[Run]:
    return [run for run in report["runs"] if (run["part"], run["model"]) == (part, model)]


def _or_never(value: float | None) -> float:
    return math.inf if value is None else value


def _row(says: str, value: float, bound: float, unit: str, at_most: bool = False) -> str:
    missed = value > bound if at_most else value < bound
    shown = ("never" if at_most else "never reached by DDQN") if math.isinf(value) else f"{value:,.4g}{unit}"
    if value >= 10_000 and not math.isinf(value):
        shown = f"{value:,.0f}{unit}"
    goal = f"{'at most' if at_most else 'at least'} {bound:,.10g}{unit}"
    return f"| {says} | **{shown}** | {goal}{' (missed)' if missed else ''} |"


def _when(steps: int | None, minutes: float | None) -> str:
    if steps is None:
        return "never"
    return f"{steps:,} steps" + ("" if minutes is None else f", {minutes:.1f} min")


def _share(outcome: dict[str, Any]) -> str:
    return f"{outcome['successes']}/{outcome['episodes']} ({outcome['low']:.0%} to {outcome['high']:.0%})"
