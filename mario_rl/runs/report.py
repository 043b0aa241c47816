"""What `mario-rl evaluate` says about a run: a table for people, a dictionary for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mario_rl.atomic_file import write_atomically
from mario_rl.runs.directory import RunDirectory, RunError
from mario_rl.runs.evaluate import Outcome, Protocol
from mario_rl.runs.trained_model import TrainedModel


def report(
    run: RunDirectory, trained: TrainedModel, level: str, outcomes: Mapping[Protocol, Outcome]
) -> dict[str, Any]:
    """All figures, as in evaluation.json. Steps and minutes are the whole run's."""
    try:
        status = run.status()
    except RunError:  # the weights are good without it
        status = None
    return {
        "level": level,
        "model": trained.config.model,
        "protocols": {protocol: outcome.summary() for protocol, outcome in outcomes.items()},
        "steps_trained": status.steps if status is not None and status.steps else trained.steps,
        "minutes_trained": status.minutes_trained if status is not None else None,
        "steps_to_first_flag": status.steps_to_first_flag if status is not None else None,
        "minutes_to_first_flag": status.minutes_to_first_flag if status is not None else None,
    }


def report_file(run: RunDirectory, trained: TrainedModel, level: str) -> Path:
    """Where it is kept: on another level than the trained one, in a file of its own."""
    return run.evaluation_json if level == trained.config.level else run.path / f"evaluation-{level}.json"


def write_report(file: Path, figures: Mapping[str, Any]) -> None:
    """Save the figures; an OSError says why not."""
    write_atomically(file, as_json(figures).encode())


def as_json(figures: Mapping[str, Any]) -> str:
    """One JSON object."""
    return json.dumps(figures, indent=2) + "\n"


def table(figures: Mapping[str, Any], sticky: float) -> str:
    """The protocols, one a line."""
    names = {"stochastic": "stochastic policy", "greedy": "greedy", "sticky": f"greedy, sticky {sticky:g}"}
    lines = [f"{'level ' + figures['level']:<22}{'flags':>10}{'rate':>8}{'95 % interval':>17}{'mean x':>9}{'steps':>8}"]
    for protocol, found in figures["protocols"].items():
        flags = f"{found['successes']}/{found['episodes']}"
        interval = f"{found['low']:.1%} to {found['high']:.1%}"
        lines.append(
            f"{names[protocol]:<22}{flags:>10}{found['rate']:>8.1%}{interval:>17}"
            f"{found['mean_x']:>9.0f}{found['mean_steps']:>8.0f}"
        )
    return "\n".join(lines)
