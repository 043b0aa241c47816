"""The training benchmark runs what is missing and gathers what runs wrote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import report, training, training_report
from benchmarks.training import CommandFailed, PlannedRun
from mario_rl.presets import PRESETS
from mario_rl.runs.directory import RunDirectory
from mario_rl.runs.status import RunStatus, State, write_status

PPO = PlannedRun("laptop", "ppo", 1)


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """What would have been run."""
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(training, "mario_rl", lambda *arguments, output=None: asked.append(arguments))
    return asked


def run_there(checkpoints: Path, state: State) -> RunDirectory:
    run = RunDirectory.create(checkpoints, PPO.name, PPO.config())
    write_status(run.status_json, RunStatus(state=state, steps=200_000, minutes_trained=4.0))
    return run


def test_all_seeds_of_the_laptop_preset_are_planned() -> None:
    plans = training.planned_runs(quick=False)
    assert [plan.seed for plan in plans if (plan.preset, plan.model) == ("laptop", "ppo")] == [0, 1, 2]
    assert {(plan.preset, plan.model) for plan in plans} == {
        (p, model) for p in PRESETS for model in PRESETS[p] if model != "dreamer"
    }
    assert {plan.seed for plan in training.planned_runs(quick=True)} == {0}
    assert len({plan.name for plan in plans}) == len(plans)


def test_a_run_of_older_settings_is_not_taken_for_the_planned_one(monkeypatch: pytest.MonkeyPatch) -> None:
    before = PPO.name
    monkeypatch.setitem(PRESETS["laptop"], "ppo", PRESETS["laptop"]["ppo"] | {"lr": 0.123})
    assert PPO.name != before


def test_a_run_that_is_not_there_is_trained(tmp_path: Path, commands: list[tuple[str, ...]]) -> None:
    run = training.train(PPO.name, PPO.arguments, tmp_path)
    assert run.path == tmp_path / PPO.name
    asked = " ".join(commands[0])
    assert asked.startswith("train --preset laptop --model ppo --seed 1 ")
    assert f"--name {PPO.name} --checkpoints {tmp_path} --no-ui" in asked


@pytest.mark.parametrize("state", ["INTERRUPTED", "FAILED", "RUNNING"])
def test_a_run_that_is_not_finished_is_gone_on_with(
    tmp_path: Path, commands: list[tuple[str, ...]], state: State
) -> None:
    run = run_there(tmp_path, state)
    run.checkpoint_pt.touch()
    training.train(PPO.name, PPO.arguments, tmp_path)
    assert commands == [("train", "--resume", str(run.path), "--no-ui")]
    assert run.checkpoint_pt.is_file()


def test_a_run_that_was_stopped_before_its_first_checkpoint_begins_anew(
    tmp_path: Path, commands: list[tuple[str, ...]]
) -> None:
    run = run_there(tmp_path, "INTERRUPTED")
    training.train(PPO.name, PPO.arguments, tmp_path)
    assert "--preset" in commands[0]
    assert not run.path.exists(), "the command refuses a directory that is there"


def test_a_run_that_is_running_elsewhere_is_not_touched(tmp_path: Path, commands: list[tuple[str, ...]]) -> None:
    run = run_there(tmp_path, "INTERRUPTED")
    run.begin()  # in this process
    training.train(PPO.name, PPO.arguments, tmp_path)
    assert commands == [("train", "--resume", str(run.path), "--no-ui")], "which says that it is running"
    assert run.path.is_dir()


def test_a_finished_run_is_left_alone(tmp_path: Path, commands: list[tuple[str, ...]]) -> None:
    run_there(tmp_path, "SUCCESS")
    training.train(PPO.name, PPO.arguments, tmp_path)
    assert commands == []


def outcome(successes: int, episodes: int = 100) -> dict[str, Any]:
    return {"episodes": episodes, "successes": successes, "rate": successes / episodes, "low": 0.5, "high": 0.99}


def evaluated(run: RunDirectory, episodes: int = 100) -> None:
    protocols = {"stochastic": outcome(97, episodes), "sticky": outcome(60, episodes)}
    run.evaluation_json.write_text(json.dumps({"level": "1-1", "model": "ppo", "protocols": protocols}))


def test_it_evaluates_unless_these_weights_were_evaluated_so(tmp_path: Path, commands: list[tuple[str, ...]]) -> None:
    run = run_there(tmp_path, "SUCCESS")
    run.weights_pt.touch()
    asked = ("evaluate", str(run.path), "--episodes", "100")
    training.evaluate(run, 100)
    assert commands == [asked]
    evaluated(run)
    os.utime(run.weights_pt, (1, 1))
    training.evaluate(run, 100)
    assert commands == [asked], "done already"
    evaluated(run, episodes=101)
    training.evaluate(run, 100)
    assert commands == [asked] * 2, "with another number of episodes"
    evaluated(run)
    os.utime(run.evaluation_json, (0, 0))
    training.evaluate(run, 100)
    assert commands == [asked] * 3, "trained on since then"


def test_a_command_that_fails_is_named() -> None:
    with pytest.raises(CommandFailed, match=r"`mario-rl frobnicate` ended with exit code 2"):
        training.mario_rl("frobnicate")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(0, 0, ""), (30, 20_000, 0.5), (60, 40_000, 0.9)], (None, None)),
        # 4 minutes in all; the last good minute of them comes after the evaluation
        ([(0, 0, ""), (30, 20_000, 0.94), (60, 40_000, 0.95), (90, 60_000, 0.2), (120, 80_000, 1.0)], (40_000, 3.0)),
        # a resume an hour later is not training, and rows that were gone through again do not count
        ([(0, 0, ""), (30, 40_000, 0.97), (60, 90_000, 1.0), (3700, 60_000, 0.97), (3730, 70_000, 0.3)], (40_000, 3.5)),
    ],
)
def test_when_95_percent_were_reached(
    tmp_path: Path, rows: list[tuple[float, int, float | str]], expected: tuple[int | None, float | None]
) -> None:
    run = run_there(tmp_path, "SUCCESS")
    lines = ["time,steps,evaluation_rate", *(",".join(map(str, row)) for row in rows)]
    run.coordinator_csv.write_text("\n".join(lines) + "\n")
    assert training.first_good_evaluation(run, run.status()) == expected


def test_the_figures_of_a_run(tmp_path: Path) -> None:
    run = run_there(tmp_path, "SUCCESS")
    run.coordinator_csv.write_text("time,steps,evaluation_rate\n")
    evaluated(run)
    found = training.figures(PPO, run)
    assert found["steps"] == 200_000
    assert found["minutes"] == 4.0
    assert found["steps_to_95"] is None
    assert found["protocols"]["sticky"]["successes"] == 60


# --- the page -------------------------------------------------------------------------------------------------------


def run_figures(model: str, seed: int, **changes: Any) -> dict[str, Any]:
    figures = {
        "preset": "laptop",
        "model": model,
        "seed": seed,
        "level": "1-1",
        "ended": "reached 97% flags",
        "steps_to_first_flag": 31_000,
        "minutes_to_first_flag": 0.7,
        "steps_to_95": 120_000,
        "minutes_to_95": 2.5,
        "steps": 140_000,
        "minutes": 3.0,
        "protocols": {"stochastic": outcome(98), "sticky": outcome(70)},
    }
    return figures | changes


def page(*runs: dict[str, Any]) -> str:
    machine = {
        "date": "2026-01-02",
        "cpu": "a CPU",
        "cores": 2,
        "system": "Linux",
        "python": "3.11",
        "load_at_start": 0,
    }
    return training_report.training_section({"quick": False, "machine": machine, "episodes": 100, "runs": list(runs)})


def row(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(f"| {start}"))


def test_the_worst_seed_counts_for_a_goal() -> None:
    text = page(
        run_figures("ppo", 0),
        run_figures("ppo", 1, minutes_to_first_flag=2.5, protocols={"stochastic": outcome(94), "sticky": outcome(99)}),
        run_figures("ddqn", 0, steps=150_000),
        run_figures("ppo", 0, preset="robust", protocols={"stochastic": outcome(98), "sticky": outcome(83)}),
        run_figures("ppo", 1, preset="robust", protocols={"stochastic": outcome(98), "sticky": outcome(85)}),
    )
    assert row(text, "PPO, first flag") == "| PPO, first flag, slowest seed | **2.5 min** | at most 2 min (missed) |"
    assert "**94 %** | at least 95 % (missed)" in row(text, "PPO, flags")
    assert row(text, "PPO, whole").endswith("**3 min** | at most 6 min |")
    assert row(text, "DDQN, environment steps").endswith("**150,000** | at most 150,000 |")
    assert row(text, "robust PPO, flags").endswith("**83 %** | at least 80 % |")
    assert row(text, "laptop | ppo | 0").endswith(
        "31,000 steps, 0.7 min | 120,000 steps, 2.5 min | 140,000 steps, 3.0 min | 98/100 (50% to 99%) |"
        " 70/100 (50% to 99%) |"
    )


def test_a_flag_that_was_never_reached_is_shown() -> None:
    text = page(run_figures("ppo", 0), run_figures("ppo", 1, steps_to_first_flag=None, minutes_to_first_flag=None))
    assert "**never** | at most 2 min (missed)" in row(text, "PPO, first flag")
    assert "| never |" in row(text, "laptop | ppo | 1")
    assert "DDQN, whole" not in text, "no such run, no such row"


def test_other_presets_do_not_count_for_the_laptop_s_goals() -> None:
    text = page(run_figures("ppo", 0), run_figures("ppo", 0, preset="robust", minutes=55.0))
    assert row(text, "PPO, whole").endswith("**3 min** | at most 6 min |")


def test_the_page_has_the_section_if_there_are_figures() -> None:
    reports = {name: report.load_reports()[name] for name in ("emulators", "environment", "gradients")}
    without = report.results_page(reports)
    assert "## Training" not in without
    machine = {"date": "x", "cpu": "x", "cores": 2, "system": "x", "python": "x", "load_at_start": 0.5}
    figures = {"quick": True, "machine": machine, "episodes": 100, "runs": [run_figures("ppo", 0)]}
    reports["training"] = figures
    assert report.results_page(reports) == without + training_report.training_section(figures)
    assert all(row in report.summary_table(reports) for row in training_report.goal_rows(figures))


def test_a_benchmark_that_is_terminated_stops_its_commands(tmp_path: Path) -> None:
    arguments = ("train", "--workers", "0", "--no-ui", "--name", "run", "--checkpoints", str(tmp_path))
    program = f"from benchmarks.training import *; exit_with_status(lambda: mario_rl(*{arguments!r}) or 0)"
    benchmark = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
    run = RunDirectory(tmp_path / "run")
    assert benchmark.stderr is not None
    for line in benchmark.stderr:
        if "steps" in line:  # it trains
            break
    benchmark.terminate()
    said = benchmark.stderr.read()
    assert benchmark.wait() == 130 and "interrupted; start again to go on from here" in said, said
    assert run.status().state == "INTERRUPTED" and run.checkpoint_pt.is_file()
