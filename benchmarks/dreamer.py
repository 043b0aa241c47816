"""Dreamer beside DDQN: how many steps and minutes each needs for 1-1; a level beyond; pixels.

`python -m benchmarks.dreamer --json benchmarks/results/dreamer.json` trains and evaluates with the commands that users
have. Both models are trained on 1-1 from tiles with `--preset laptop`, seed by seed, and evaluated greedily every 2,500
steps, until their preset's end. Then Dreamer alone: another level, and 1-1 from pixels, where its health is measured
rather than its skill. A run that is there already is not trained again, one that was interrupted is gone on with.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.dreamer_report import runs_table
from benchmarks.measurement import machine, say
from benchmarks.training import (
    LONGEST_GAP_SECONDS,
    check_json_directory,
    evaluate,
    exit_with_status,
    first_good_evaluation,
    named_after,
    train,
    write_report,
)
from benchmarks.worker import SOURCE_TREE
from mario_rl.config import TrainingConfig, build, flag
from mario_rl.runs.directory import RunDirectory
from mario_rl.runs.series import read_series

SEEDS = 3
EPISODES = 500
GOOD_RATE = 0.9
MINUTES = 20.0  # at most, of a run from tiles
PIXEL_MINUTES = 30.0
BEYOND = "4-1"
# Six pits instead of two are learned one after the other: more steps, each with half as many gradients. (With the
# preset as it is, the best greedy evaluation of one run was 68 %, after 60,000 of its 90,000 steps.)
LONGER = {"steps": 150_000, "gradients_per_collect": 2, "new_steps": 0}
HEALTH = {"recon_mse": (np.less, 0.01), "ssim": (np.greater, 0.9), "value_mean": (np.greater, 0.0)}
OFTEN = {"evaluate_protocol": "greedy", "evaluate_every": 2_500}
QUICK = {"steps": 4_000, "learning_starts": 500}


@dataclass(frozen=True)
class PlannedRun:
    """One run that is wanted."""

    part: str  # "1-1", "beyond" or "pixels"
    model: str
    seed: int
    quick: bool

    @property
    def settings(self) -> dict[str, Any]:
        """What is chosen beside the preset."""
        chosen: dict[str, Any] = {"model": self.model, "seed": self.seed} | OFTEN
        if self.model == "dreamer":
            chosen["minutes"] = MINUTES
        if self.part == "beyond":
            chosen |= {"level": BEYOND} | LONGER
        if self.part == "pixels":
            chosen |= {"observation": "pixels", "minutes": PIXEL_MINUTES, "batch_size": 8, "buffer_size": 40_000}
        return chosen | (QUICK if self.quick else {})

    def config(self) -> TrainingConfig:
        """All settings."""
        return build(self.settings, "laptop")

    @property
    def name(self) -> str:
        """See `named_after`."""
        return named_after(f"dreamer-{self.part}-{self.model}-seed{self.seed}", self.config())

    @property
    def arguments(self) -> list[str]:
        """The command line's."""
        words = [word for name, value in self.settings.items() for word in (flag(name), str(value))]
        return ["--preset", "laptop", *words]


def planned_runs(parts: list[str], quick: bool) -> list[PlannedRun]:
    """Those that are compared first, seed by seed."""
    plans = []
    if "1-1" in parts:
        for seed in range(1 if quick else SEEDS):
            plans += [PlannedRun("1-1", model, seed, quick) for model in ("dreamer", "ddqn")]
    plans += [PlannedRun(part, "dreamer", 0, quick) for part in ("beyond", "pixels") if part in parts]
    return plans


def main() -> int:
    """Train, evaluate, print, write; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dreamer", description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="where the figures go; - is stdout")
    parser.add_argument("--quick", action="store_true", help="one seed, few steps: does it run?")
    parser.add_argument("--parts", default="1-1,beyond,pixels", help="which parts, separated by commas (%(default)s)")
    parser.add_argument("--episodes", type=int, default=EPISODES, help="episodes of each protocol (%(default)s)")
    parser.add_argument(
        "--checkpoints", type=Path, default=SOURCE_TREE / "checkpoints" / "results", help="where the runs are kept"
    )
    options = parser.parse_args()
    parts = options.parts.split(",")
    if not set(parts) <= {"1-1", "beyond", "pixels"}:
        parser.error("--parts are some of 1-1, beyond and pixels")
    if options.episodes < 1:
        parser.error("--episodes is at least 1")
    check_json_directory(parser, options.json)

    report: dict[str, Any] = {"benchmark": "dreamer", "quick": options.quick, "machine": machine()}
    report |= {"episodes": options.episodes, "beyond": BEYOND, "runs": []}
    planned = planned_runs(parts, options.quick)
    for number, plan in enumerate(planned, start=1):
        say(f"run {number} of {len(planned)}: {plan.part}, {plan.model}, seed {plan.seed}")
        run = train(plan.name, plan.arguments, options.checkpoints.resolve())
        evaluate(run, options.episodes)
        report["runs"].append(figures(plan, run))
    write_report(report, runs_table(report), options.json)
    return 0


def figures(plan: PlannedRun, run: RunDirectory) -> dict[str, Any]:
    """What became of a run."""
    status = run.status()
    evaluation = json.loads(run.evaluation_json.read_text())
    good_steps, good_minutes = first_good_evaluation(run, status, GOOD_RATE)
    return {
        "part": plan.part,
        "model": plan.model,
        "seed": plan.seed,
        "level": evaluation["level"],
        "command": " ".join(["mario-rl train", *plan.arguments]),
        "ended": status.why,
        "steps_to_first_flag": status.steps_to_first_flag,
        "minutes_to_first_flag": status.minutes_to_first_flag,
        "steps_to_90": good_steps,
        "minutes_to_90": good_minutes,
        "steps": status.steps,
        "minutes": status.minutes_trained,
        "protocols": evaluation["protocols"],
        "health": health(run) if plan.model == "dreamer" else None,
    }


def health(run: RunDirectory) -> dict[str, Any]:
    """The first worker's health figures at the end, and the minutes after which they were all as they should be."""
    series = read_series(run.worker_csv(0))
    known = [name for name in HEALTH if series.has(name)]
    well = np.ones(len(series), np.bool_)
    for name in known:
        better, bound = HEALTH[name]
        well &= better(series[name], bound)  # where nothing was measured it is NaN, and not better
    gaps = np.diff(series["time"], prepend=series["time"][0])
    minutes = np.cumsum(np.where(gaps < LONGEST_GAP_SECONDS, gaps, 0)) / 60
    reached = np.flatnonzero(well)
    x = series["x_mean"][np.isfinite(series["x_mean"])]
    last = {name: float(series[name][np.isfinite(series[name])][-1]) for name in (*known, "ends_foreseen")}
    return last | {
        "minutes_to_well": round(float(minutes[reached[0]]), 1) if len(reached) else None,
        "x_first": float(x[: max(len(x) // 10, 1)].mean()),
        "x_last": float(x[-max(len(x) // 10, 1) :].mean()),
    }


if __name__ == "__main__":
    exit_with_status(main)
