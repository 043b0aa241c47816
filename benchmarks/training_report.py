"""The training section of docs/results.md, from the figures that benchmarks/training.py gathered."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Run = dict[str, Any]
Figure = Callable[[Run], float | None]


@dataclass(frozen=True)
class TrainingGoal:
    """What all seeds of a model should reach with a preset (`model` None: what one run of any should)."""

    says: str
    model: str | None
    figure: Figure
    bound: float
    unit: str
    at_most: bool = False

    def row(self, runs: list[Run]) -> str | None:
        """A table row with the worst seed (or the best run of all); None if there is no such run."""
        mine = [run for run in runs if self.model is None or (run["model"], run["preset"]) == (self.model, "laptop")]
        if not mine:
            return None
        never = math.inf if self.at_most else -math.inf
        values = [never if (value := self.figure(run)) is None else value for run in mine]
        lowest_counts = self.at_most == (self.model is None)
        value = min(values) if lowest_counts else max(values)
        missed = value > self.bound if self.at_most else value < self.bound
        shown = "never" if math.isinf(value) else f"{value:,.10g}{self.unit}"
        goal = f"{'at most' if self.at_most else 'at least'} {self.bound:,.10g}{self.unit}"
        return f"| {self.says} | **{shown}** | {goal}{' (missed)' if missed else ''} |"


def flags(protocol: str) -> Figure:
    """Episodes of a hundred that reached the flag."""
    return lambda run: round(100 * run["protocols"][protocol]["rate"], 1)


GOALS = [
    TrainingGoal("PPO, first flag, slowest seed", "ppo", lambda run: run["minutes_to_first_flag"], 2, " min", True),
    TrainingGoal("PPO, whole training, slowest seed", "ppo", lambda run: run["minutes"], 6, " min", True),
    TrainingGoal("PPO, stochastic policy, worst seed", "ppo", flags("stochastic"), 95, " of 100"),
    TrainingGoal("DDQN, whole training, slowest seed", "ddqn", lambda run: run["minutes"], 4, " min", True),
    TrainingGoal("DDQN, environment steps, slowest seed", "ddqn", lambda run: run["steps"], 150_000, "", True),
    TrainingGoal("DDQN, epsilon 0.01, worst seed", "ddqn", flags("stochastic"), 90, " of 100"),
    TrainingGoal("greedy with sticky actions (0.25), best run", None, flags("sticky"), 80, " of 100"),
]


def goal_rows(report: dict[str, Any]) -> list[str]:
    """A table row for each goal that there are runs for."""
    return [row for goal in GOALS if (row := goal.row(report["runs"])) is not None]


def training_section(report: dict[str, Any]) -> str:
    """The part of docs/results.md about training."""
    machine = report["machine"]
    return f"""
## Training

Written by `make results`{" (--quick)" if report["quick"] else ""} on {machine["date"]}, {machine["cpu"]}, \
{machine["cores"]} cores, {machine["system"]}, Python {machine["python"]}, load {machine["load_at_start"]:g} at the \
start: every preset and model is trained with `mario-rl train`, one run after the other, and judged by `mario-rl \
evaluate` with {report["episodes"]} episodes of each protocol.

| Super Mario Bros. 1-1 | measured | goal |
|---|---|---|
{chr(10).join(goal_rows(report))}

Minutes are wall-clock minutes of training, evaluations during training included. 95 %: the first such evaluation that
reached it (200 episodes where it could be a new best, fewer otherwise; every 10,000 to 100,000 steps, as the preset
has it). Stochastic: PPO's policy as it is trained;
DDQN greedily, but for one action in a hundred. Sticky: greedily, while a quarter of the actions are replaced by the one
before. In brackets the 95 % interval (Wilson).

{runs_table(report)}
"""


def runs_table(report: dict[str, Any]) -> str:
    """Every run, one a row."""
    head = ["preset", "model", "seed", "first flag", "95 %", "end", "stochastic", "sticky 0.25"]
    rows = [
        [
            run["preset"],
            run["model"],
            str(run["seed"]),
            _when(run["steps_to_first_flag"], run["minutes_to_first_flag"]),
            _when(run["steps_to_95"], run["minutes_to_95"]),
            _when(run["steps"], run["minutes"]),
            _share(run["protocols"]["stochastic"]),
            _share(run["protocols"]["sticky"]),
        ]
        for run in report["runs"]
    ]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])


def _when(steps: int | None, minutes: float | None) -> str:
    if steps is None:
        return "never"
    return f"{steps:,} steps" + ("" if minutes is None else f", {minutes:.1f} min")


def _share(outcome: dict[str, Any]) -> str:
    flags_of_all = f"{outcome['successes']}/{outcome['episodes']}"
    return f"{flags_of_all} ({outcome['low']:.0%} to {outcome['high']:.0%})"
