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
    """What all seeds of a model should reach with a preset."""

    says: str
    preset: str
    model: str
    figure: Figure
    bound: float
    unit: str
    at_most: bool = False

    def row(self, runs: list[Run]) -> str | None:
        """A table row with the worst seed; None if there is no such run."""
        mine = [run for run in runs if (run["preset"], run["model"]) == (self.preset, self.model)]
        if not mine:
            return None
        never = math.inf if self.at_most else -math.inf
        values = [never if (value := self.figure(run)) is None else value for run in mine]
        value = max(values) if self.at_most else min(values)
        missed = value > self.bound if self.at_most else value < self.bound
        shown = "never" if math.isinf(value) else f"{value:,.10g}{self.unit}"
        goal = f"{'at most' if self.at_most else 'at least'} {self.bound:,.10g}{self.unit}"
        return f"| {self.says} | **{shown}** | {goal}{' (missed)' if missed else ''} |"


def flags(protocol: str) -> Figure:
    """The share of episodes that reached the flag, in percent."""
    return lambda run: round(100 * run["protocols"][protocol]["rate"], 1)


def minutes(run: Run) -> float | None:
    """Of training."""
    return run["minutes"]


def minutes_to_first_flag(run: Run) -> float | None:
    """Of training."""
    return run["minutes_to_first_flag"]


def steps(run: Run) -> float | None:
    """Of the environment."""
    return run["steps"]


GOALS = [
    TrainingGoal("PPO, first flag, slowest seed", "laptop", "ppo", minutes_to_first_flag, 2, " min", at_most=True),
    TrainingGoal("PPO, whole training, slowest seed", "laptop", "ppo", minutes, 6, " min", at_most=True),
    TrainingGoal("PPO, flags of the stochastic policy, worst seed", "laptop", "ppo", flags("stochastic"), 95, " %"),
    TrainingGoal("DDQN, whole training, slowest seed", "laptop", "ddqn", minutes, 4, " min", at_most=True),
    TrainingGoal("DDQN, environment steps, slowest seed", "laptop", "ddqn", steps, 150_000, "", at_most=True),
    TrainingGoal("DDQN, flags with epsilon 0.01, worst seed", "laptop", "ddqn", flags("stochastic"), 90, " %"),
    TrainingGoal("robust PPO, whole training, slowest seed", "robust", "ppo", minutes, 60, " min", at_most=True),
    TrainingGoal(
        "robust PPO, flags with sticky actions (0.25), worst seed", "robust", "ppo", flags("sticky"), 80, " %"
    ),
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
