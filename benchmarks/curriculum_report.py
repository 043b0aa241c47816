"""The curriculum section of docs/results.md, from the figures that benchmarks/curriculum.py gathered."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any

Run = dict[str, Any]
WORTH_CLAIMING = 2.0  # times fewer steps


def curriculum_section(report: dict[str, Any]) -> str:
    """The part of docs/results.md about curricula."""
    machine = report["machine"]
    return f"""
## Curricula

Written by `python -m benchmarks.curriculum`{" --quick" if report["quick"] else ""} on {machine["date"]}, \
{machine["cpu"]}, {machine["cores"]} cores, {machine["system"]}, Python {machine["python"]}: PPO with `--preset \
laptop` in one process (`--workers 0 --lanes 16 --batch-size 256`), {report["steps"]:,} environment steps at most, \
seeds 0 to {max(run["seed"] for run in report["runs"])}. Restored and explored steps count. On levels \
that only a curriculum got through, plain runs have a control with more steps (and a slower fall of the learning \
rate) as well. A run ends when an evaluation from the level's start, confirmed by 600 other episodes, reaches \
{report["goal"]:.0%} of flags. The rates at the end are of {report["episodes"]} episodes of the best weights from the \
level's start: stochastic, as trained, and greedily with sticky actions (0.25).

{verdict(report)}

{curriculum_table(report)}
"""


def verdict(report: dict[str, Any]) -> str:
    """Who needs how many steps, in words."""
    lines = []
    helped = []
    for level in _in_order(report, "level"):
        plain = _plain_steps(report, level)
        ratios = []
        for curriculum in _in_order(report, "curriculum"):
            if curriculum != "off":
                mine = _median_steps(_runs(report, level, curriculum))
                ratios.append(f"{curriculum} {_fewer(plain, mine)}")
                if plain.steps >= WORTH_CLAIMING * mine:
                    helped.append(f"{curriculum} on {level}")
        lines.append(f"- {level}: {', '.join(ratios)}")
    head = (
        f"Times fewer steps to {report['goal']:.0%} than without a curriculum (medians over seeds; of the plain runs "
    )
    head += "the better of the two lengths):\n\n"
    claim = f"At least {WORTH_CLAIMING:g} times fewer: {', '.join(helped) or 'none'}."
    return head + "\n".join(lines) + "\n\n" + claim


@dataclass(frozen=True)
class Plain:
    """What it takes without a curriculum: so many steps, or more than so many."""

    steps: float
    reached: bool


def _plain_steps(report: dict[str, Any], level: str) -> Plain:
    """The better median of the allowed lengths; if none got there, the longest is a lower bound."""
    runs = _runs(report, level, "off")
    lengths = sorted({run["allowed_steps"] for run in runs})
    best = min(_median_steps([run for run in runs if run["allowed_steps"] == length]) for length in lengths)
    return Plain(lengths[-1], False) if math.isinf(best) else Plain(best, True)


def curriculum_table(report: dict[str, Any]) -> str:
    """Every level and curriculum a row, its seeds side by side."""
    goal = f"{report['goal']:.0%}"
    head = ["level", "curriculum", "first flag, steps", f"{goal}, steps", "stochastic, end", "sticky 0.25, end"]
    rows = []
    for level in _in_order(report, "level"):
        of_level = [run for run in report["runs"] if run["level"] == level]
        for curriculum, allowed in dict.fromkeys((run["curriculum"], run["allowed_steps"]) for run in of_level):
            runs = [run for run in _runs(report, level, curriculum) if run["allowed_steps"] == allowed]
            rows.append(
                [
                    level,
                    curriculum if allowed == report["steps"] else f"{curriculum}, {_steps(allowed)} steps",
                    " · ".join(_steps(run["steps_to_first_flag"]) for run in runs),
                    " · ".join(_steps(run["steps_to_goal"]) for run in runs),
                    " · ".join(f"{run['protocols']['stochastic']['rate']:.0%}" for run in runs),
                    " · ".join(f"{run['protocols']['sticky']['rate']:.0%}" for run in runs),
                ]
            )
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])


def _in_order(report: dict[str, Any], name: str) -> list[str]:
    return list(dict.fromkeys(run[name] for run in report["runs"]))


def _runs(report: dict[str, Any], level: str, curriculum: str) -> list[Run]:
    return [run for run in report["runs"] if (run["level"], run["curriculum"]) == (level, curriculum)]


def _median_steps(runs: list[Run]) -> float:
    """Never is infinitely many."""
    return statistics.median_low(math.inf if run["steps_to_goal"] is None else run["steps_to_goal"] for run in runs)


def _fewer(plain: Plain, mine: float) -> str:
    if math.isinf(mine):
        return "never there" if plain.reached else "never there, nor is off"
    ratio = f"{plain.steps / mine:.1f}×"
    return ratio if plain.reached else f"more than {ratio} ({mine:,.0f} steps, off never there)"


def _steps(steps: int | None) -> str:
    return "never" if steps is None else f"{steps / 1000:,.0f}k"
