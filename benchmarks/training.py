"""How long training takes and how good it gets: every preset and model, several seeds, one run after the other.

`python -m benchmarks.training --json benchmarks/results/training.json` trains and evaluates with the same commands that
users have, each in its own process, and gathers what they wrote. A run that is there already is not trained again, one
that was interrupted is gone on with, so the whole can be stopped and started at will.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np

from benchmarks.measurement import machine, say
from benchmarks.nodes import Nodes, add_cluster, machine_of_nodes, nodes_of, side_by_side
from benchmarks.training_report import runs_table
from benchmarks.worker import SOURCE_TREE
from mario_rl.config import TrainingConfig, build
from mario_rl.presets import PRESETS
from mario_rl.runs.directory import RunDirectory
from mario_rl.runs.series import read_series, without_rewound
from mario_rl.runs.status import RunStatus

SEEDS = {"laptop": 3, "robust": 2}  # of every other preset, one seed is trained
ELSEWHERE = ("dreamer",)  # benchmarks/dreamer.py has it beside ddqn
CORES = 2  # of a node, that a run gets
EPISODES = 500  # of 100, luck alone moves a rate of 85 % by 7 points in one case of twenty
GOOD_RATE = 0.95
# The coordinator writes a row every few seconds; a longer gap is the pause before a resume, which is no training.
LONGEST_GAP_SECONDS = 60.0


class CommandFailed(RuntimeError):
    """A command of ours ended badly; what it said is on the screen."""


@dataclass(frozen=True)
class PlannedRun:
    """One run that is wanted."""

    preset: str
    model: str
    seed: int

    def config(self) -> TrainingConfig:
        """Its settings."""
        return build({"model": self.model, "seed": self.seed}, self.preset)

    @property
    def name(self) -> str:
        """See `named_after`."""
        return named_after(f"{self.preset}-{self.model}-seed{self.seed}", self.config())

    @property
    def arguments(self) -> list[str]:
        """The command line's."""
        return ["--preset", self.preset, "--model", self.model, "--seed", str(self.seed)]


def named_after(what: str, config: TrainingConfig) -> str:
    """A directory name that changes with the settings: a run of older ones is never taken for this one."""
    settings = json.dumps(dataclasses.asdict(config), sort_keys=True)
    return f"{what}-{hashlib.sha256(settings.encode()).hexdigest()[:8]}"


def planned_runs(quick: bool) -> list[PlannedRun]:
    """All of them, in order; `quick` has one seed of everything."""
    return [
        PlannedRun(preset, model, seed)
        for preset, models in PRESETS.items()
        for model in models
        if model not in ELSEWHERE
        for seed in range(1 if quick else SEEDS.get(preset, 1))
    ]


def main() -> int:
    """Train, evaluate, print, write; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training", description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="where the figures go; - is stdout")
    parser.add_argument("--quick", action="store_true", help="one seed instead of several")
    parser.add_argument("--episodes", type=int, default=EPISODES, help="episodes of each protocol (%(default)s)")
    parser.add_argument(
        "--checkpoints", type=Path, default=SOURCE_TREE / "checkpoints" / "results", help="where the runs are kept"
    )
    add_cluster(parser)
    options = parser.parse_args()
    if options.episodes < 1:
        parser.error("--episodes is at least 1")
    check_json_directory(parser, options.json)

    report: dict[str, Any] = {"benchmark": "training", "quick": options.quick, "machine": machine()}
    report |= {"episodes": options.episodes, "runs": []}
    planned = planned_runs(options.quick)
    with nodes_of(options.cluster, CORES) as nodes:
        trial = Trial(options.checkpoints.resolve(), options.episodes, nodes)
        if nodes is None:  # one after the other, which tells how long each takes
            report["runs"] += map(trial.carry_out, planned)
        else:
            report["machine"] |= machine_of_nodes()
            report["runs"] += side_by_side(trial.carry_out, planned, len(planned), nodes.stop)

    write_report(report, runs_table(report), options.json)
    return 0


@dataclass(frozen=True)
class Trial:
    """How planned runs become figures."""

    checkpoints: Path
    episodes: int
    nodes: Nodes | None

    def carry_out(self, plan: PlannedRun) -> dict[str, Any]:
        """Train, evaluate, and gather what came of it; what nodes say goes to a file beside the run."""
        say(f"{plan.name}: preset {plan.preset}, {plan.model}, seed {plan.seed}")
        if self.nodes is None:
            run = train(plan.name, plan.arguments, self.checkpoints)
            evaluate(run, self.episodes)
            return figures(plan, run)
        self.checkpoints.mkdir(parents=True, exist_ok=True)
        with (self.checkpoints / f"{plan.name}.log").open("a") as log:
            run = train(plan.name, plan.arguments, self.checkpoints, log, self.nodes)
            evaluate(run, self.episodes, log, self.nodes)
        say(f"{plan.name}: done")
        return figures(plan, run)


def check_json_directory(parser: argparse.ArgumentParser, destination: str | None) -> None:
    """Find out now, not after hours, that the figures would have nowhere to go."""
    if destination not in (None, "-") and not Path(destination).resolve().parent.is_dir():
        parser.error(f"{Path(destination).resolve().parent}: no such directory for --json")


def write_report(report: dict[str, Any], table: str, destination: str | None) -> None:
    """Print the table, write the JSON object where it is wanted."""
    print(table, file=sys.stderr if destination == "-" else sys.stdout)
    text = json.dumps(report, indent=2) + "\n"
    if destination == "-":
        print(text, end="")
    elif destination is not None:
        Path(destination).write_text(text)


def train(
    name: str, settings: Sequence[str], checkpoints: Path, output: IO[str] | None = None, nodes: Nodes | None = None
) -> RunDirectory:
    """The finished run: as it is there, gone on with, or from its beginning."""
    run = RunDirectory(checkpoints / name)
    state = run.status().state if run.config_yaml.is_file() else None
    if state == "SUCCESS":
        say(f"{name} is there already")
        return run
    if run.checkpoint_pt.is_file() or state == "RUNNING":  # if it is, the command says so
        arguments = ["train", "--resume", str(run.path), "--no-ui"]
    else:
        shutil.rmtree(run.path, ignore_errors=True)  # stopped before there was anything to keep
        arguments = ["train", *settings, "--name", name, "--checkpoints", str(checkpoints), "--no-ui"]
    if not _done(run, arguments, output, nodes):
        return train(name, settings, checkpoints, output, nodes)  # from the last checkpoint that arrived
    return run


def evaluate(run: RunDirectory, episodes: int, output: IO[str] | None = None, nodes: Nodes | None = None) -> None:
    """Have the finished run evaluated, unless that was done."""
    if run.evaluation_json.is_file() and run.evaluation_json.stat().st_mtime > run.weights_pt.stat().st_mtime:
        known = json.loads(run.evaluation_json.read_text())
        if all(protocol["episodes"] == episodes for protocol in known["protocols"].values()):
            return
    while not _done(run, ["evaluate", str(run.path), "--episodes", str(episodes)], output, nodes):
        pass


def _done(run: RunDirectory, arguments: Sequence[str], output: IO[str] | None, nodes: Nodes | None) -> bool:
    """Whether a command about a run was carried out, here or on a node; False if the node was lost."""
    if nodes is None:
        mario_rl(*arguments, output=output)
        return True
    code = nodes.mario_rl(run, arguments, output)
    if code:
        raise CommandFailed(_about_exit_code(code, arguments))
    return code is not None


_running: set[subprocess.Popen[bytes]] = set()


def stop_commands() -> None:
    """End the commands that are running, in good order: they save what they have."""
    for process in list(_running):
        process.terminate()


def mario_rl(*arguments: str, output: IO[str] | None = None) -> None:
    """Run a command of ours. Its lines go to stderr, or to `output`: stdout may be the JSON object's."""
    command = [sys.executable, "-m", "mario_rl", *arguments]
    process = subprocess.Popen(command, cwd=SOURCE_TREE, stdout=output or sys.stderr, stderr=output or sys.stderr)
    _running.add(process)
    try:
        code = process.wait()
    except KeyboardInterrupt:
        process.wait()  # Ctrl-C reached it, too, and it is saving what it has
        raise
    except BaseException:
        process.terminate()
        process.wait()
        raise
    finally:
        _running.discard(process)
    if code:
        raise CommandFailed(_about_exit_code(code, arguments))


def _about_exit_code(code: int, arguments: Sequence[str]) -> str:
    return (
        f"`mario-rl {' '.join(arguments)}` ended with exit code {code}; once that is put right,"
        " start again: what is done stays done"
    )


def figures(plan: PlannedRun, run: RunDirectory) -> dict[str, Any]:
    """What became of a run."""
    status = run.status()
    evaluation = json.loads(run.evaluation_json.read_text())
    good_steps, good_minutes = first_good_evaluation(run, status)
    return {
        "preset": plan.preset,
        "model": plan.model,
        "seed": plan.seed,
        "level": evaluation["level"],
        "ended": status.why,
        "steps_to_first_flag": status.steps_to_first_flag,
        "minutes_to_first_flag": status.minutes_to_first_flag,
        "steps_to_95": good_steps,
        "minutes_to_95": good_minutes,
        "steps": status.steps,
        "minutes": status.minutes_trained,
        "protocols": evaluation["protocols"],
    }


def first_good_evaluation(
    run: RunDirectory, status: RunStatus, rate: float = GOOD_RATE
) -> tuple[int | None, float | None]:
    """Steps and minutes of training until an evaluation during training first had this share of flags; None: never."""
    series = without_rewound(read_series(run.coordinator_csv))
    good = np.flatnonzero(series["evaluation_rate"] >= rate) if series.has("evaluation_rate") else np.array([])
    if not len(good):
        return None, None
    first = good[0]
    gaps = np.diff(series["time"][first:])
    seconds_since = float(gaps[gaps < LONGEST_GAP_SECONDS].sum())
    return int(series["steps"][first]), round(max(status.minutes_trained - seconds_since / 60, 0.0), 2)


def _terminated(*_: object) -> NoReturn:
    """As Ctrl-C, which reaches the commands by itself: nothing goes on without its benchmark."""
    stop_commands()
    raise KeyboardInterrupt


def exit_with_status(main: Callable[[], int], can_go_on: bool = True) -> NoReturn:
    """Run a benchmark; what the user can put right, or wanted, is one line."""
    signal.signal(signal.SIGTERM, _terminated)
    try:
        sys.exit(main())
    except (CommandFailed, ValueError, ConnectionError) as problem:  # a damaged file of a run is a ValueError
        say(str(problem))
        sys.exit(1)
    except KeyboardInterrupt:
        say("interrupted; start again to go on from here" if can_go_on else "interrupted")
        sys.exit(130)


if __name__ == "__main__":
    exit_with_status(main)
