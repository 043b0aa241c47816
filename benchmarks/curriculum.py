"""Does practice help? Every curriculum on easy and hard levels, several seeds, with equal environment steps.

`python -m benchmarks.curriculum --json benchmarks/results/curriculum.json` trains with `mario-rl train --preset laptop`
until an evaluation from the level's start, confirmed by 600 other episodes, reaches 80 % of flags, or the steps are
used up. Restored lives are steps like all others, and what archive and demo explore first counts, too. Where only
curricula got there, controls without one get twice the steps, so that "never" can be told from "later". Runs are of
one process each and side by side, so every one can be repeated exactly. A run that is there already is not trained
again, one that was interrupted is gone on with: the whole can be stopped and started at will.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.curriculum_report import curriculum_table
from benchmarks.measurement import machine, say
from benchmarks.nodes import Nodes, add_cluster, machine_of_nodes, nodes_of, side_by_side
from benchmarks.training import (
    check_json_directory,
    evaluate,
    exit_with_status,
    first_good_evaluation,
    named_after,
    stop_commands,
    train,
    write_report,
)
from benchmarks.worker import SOURCE_TREE
from mario_rl.config import TrainingConfig, build
from mario_rl.runs.directory import RunDirectory

LEVELS = ("1-1", "1-2", "1-3", "2-1", "4-1", "8-1")
CURRICULA = ("off", "snapshots", "archive", "demo")
CONTROL = 2  # times the steps, without a curriculum
SEEDS = 3
STEPS = 400_000
EPISODES = 200
GOAL = 0.8
QUICK_LEVELS, QUICK_STEPS, QUICK_EPISODES = ("1-1", "1-2"), 40_000, 50
# The preset's two workers of eight lanes as one process: the same lanes, and the same steps in a minibatch.
ONE_PROCESS = {"workers": 0, "lanes": 16, "batch_size": 256}


@dataclass(frozen=True)
class PlannedRun:
    """One run that is wanted."""

    level: str
    curriculum: str
    seed: int
    steps: int

    @property
    def settings(self) -> dict[str, Any]:
        """What is chosen beside the preset."""
        own = {"level": self.level, "curriculum": self.curriculum, "seed": self.seed, "steps": self.steps}
        return {"model": "ppo"} | own | ONE_PROCESS | {"stop_at": GOAL}

    def config(self) -> TrainingConfig:
        """All settings."""
        return build(self.settings, "laptop")

    @property
    def name(self) -> str:
        """See `named_after`."""
        return named_after(f"curriculum-{self.level}-{self.curriculum}-seed{self.seed}", self.config())

    @property
    def arguments(self) -> list[str]:
        """The command line's."""
        flags = [(f"--{name.replace('_', '-')}", str(value)) for name, value in self.settings.items()]
        return ["--preset", "laptop", *(word for flag in flags for word in flag)]


def planned_runs(levels: Sequence[str], seeds: int, steps: int) -> list[PlannedRun]:
    """Seed by seed, so that what there is after a while is about everything."""
    return [
        PlannedRun(level, curriculum, seed, steps)
        for seed in range(seeds)
        for level in levels
        for curriculum in CURRICULA
    ]


def planned_controls(runs: Sequence[dict[str, Any]], steps: int) -> list[PlannedRun]:
    """Plain runs with more steps, on levels where a curriculum got to the goal and a plain run did not."""
    reached = {run["level"] for run in runs if run["curriculum"] != "off" and run["steps_to_goal"] is not None}
    not_reached = {run["level"] for run in runs if run["curriculum"] == "off" and run["steps_to_goal"] is None}
    return [
        PlannedRun(run["level"], "off", run["seed"], CONTROL * steps)
        for run in runs
        if run["curriculum"] == "off" and run["level"] in reached & not_reached
    ]


def main() -> int:
    """Train, evaluate, print, write; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.curriculum", description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="where the figures go; - is stdout")
    parser.add_argument("--quick", action="store_true", help="two levels, one seed, few steps: does it run?")
    parser.add_argument("--steps", type=int, help=f"environment steps of a run ({STEPS:,})")
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 1, help="runs side by side (%(default)s)")
    parser.add_argument(
        "--checkpoints", type=Path, default=SOURCE_TREE / "checkpoints" / "results", help="where the runs are kept"
    )
    add_cluster(parser)
    options = parser.parse_args()
    if options.at_once < 1 or (options.steps is not None and options.steps < 1):
        parser.error("--steps and --at-once are at least 1")
    check_json_directory(parser, options.json)

    levels = QUICK_LEVELS if options.quick else LEVELS
    steps = options.steps or (QUICK_STEPS if options.quick else STEPS)
    episodes = QUICK_EPISODES if options.quick else EPISODES
    planned = planned_runs(levels, 1 if options.quick else SEEDS, steps)
    report: dict[str, Any] = {"benchmark": "curriculum", "quick": options.quick, "machine": machine()}
    report |= {"steps": steps, "episodes": episodes, "goal": GOAL, "runs": []}
    checkpoints = options.checkpoints.resolve()
    checkpoints.mkdir(parents=True, exist_ok=True)
    with nodes_of(options.cluster, cores=1) as nodes:
        if nodes is not None:
            report["machine"] |= machine_of_nodes()
        trial = Trial(checkpoints, episodes, options.at_once, nodes)
        report["runs"] += trial.carry_out_all(planned)
        report["runs"] += trial.carry_out_all(planned_controls(report["runs"], steps))
    write_report(report, curriculum_table(report), options.json)
    return 0


@dataclass(frozen=True)
class Trial:
    """How planned runs become figures."""

    checkpoints: Path
    episodes: int
    at_once: int
    nodes: Nodes | None

    def carry_out_all(self, plans: list[PlannedRun]) -> list[dict[str, Any]]:
        """So many at a time, or all a cluster has room for; a line about each when it and those before are done."""
        stop = stop_commands if self.nodes is None else self.nodes.stop
        runs = []
        for run in side_by_side(self.carry_out, plans, self.at_once if self.nodes is None else len(plans), stop):
            runs.append(run)
            say(f"{len(runs)} of {len(plans)}: {in_words(run)}")
        return runs

    def carry_out(self, plan: PlannedRun) -> dict[str, Any]:
        """Train, evaluate, and gather what came of it. What the commands say goes to a file beside the run."""
        with (self.checkpoints / f"{plan.name}.log").open("a") as log:
            run = train(plan.name, plan.arguments, self.checkpoints, log, self.nodes)
            evaluate(run, self.episodes, log, self.nodes)
        return figures(plan, run)


def figures(plan: PlannedRun, run: RunDirectory) -> dict[str, Any]:
    """What became of a run; steps count from the first explored one on."""
    status = run.status()
    good_steps, _ = first_good_evaluation(run, status, GOAL)
    return {
        "level": plan.level,
        "curriculum": plan.curriculum,
        "seed": plan.seed,
        "allowed_steps": plan.steps,
        "steps_to_first_flag": status.steps_to_first_flag,
        "steps_to_goal": good_steps,
        "steps": status.steps,
        "minutes": status.minutes_trained,
        "protocols": json.loads(run.evaluation_json.read_text())["protocols"],
    }


def in_words(run: dict[str, Any]) -> str:
    """One line about a run."""
    rates = ", ".join(f"{name} {outcome['rate']:.0%}" for name, outcome in run["protocols"].items())
    reached = "never" if run["steps_to_goal"] is None else f"after {run['steps_to_goal']:,} steps"
    arm = f"{run['curriculum']} ({run['allowed_steps']:,} steps)"
    return f"{run['level']} {arm} seed {run['seed']}: {GOAL:.0%} {reached}; in the end {rates}"


if __name__ == "__main__":
    exit_with_status(main)
