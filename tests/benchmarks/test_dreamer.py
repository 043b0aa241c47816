"""The benchmark of Dreamer: what it plans, what it reads from runs, what its table says about runs made up here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import dreamer
from benchmarks.dreamer_report import dreamer_section, goal_rows
from mario_rl.runs.directory import RunDirectory


def test_both_models_have_every_seed_and_the_same_evaluations() -> None:
    plans = dreamer.planned_runs(["1-1", "beyond", "pixels"], quick=False)
    assert len({plan.name for plan in plans}) == len(plans) == 2 * 3 + 2
    for plan in plans:
        config = plan.config()
        assert config.evaluate_protocol == "greedy" and config.evaluate_every == 2500
        assert (config.minutes is not None) == (plan.model == "dreamer")
        assert plan.arguments[:2] == ["--preset", "laptop"] and "--evaluate-protocol" in plan.arguments
    assert [plan.config().observation for plan in plans if plan.part == "pixels"] == ["pixels"]
    assert [plan.config().level for plan in plans if plan.part == "beyond"] == [dreamer.BEYOND]
    assert len(dreamer.planned_runs(["1-1"], quick=True)) == 2


def test_health_is_read_from_the_worker_s_measurements(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "run", dreamer.PlannedRun("pixels", "dreamer", 0, False).config())
    rows = [
        "0,100,0.05,0.2,-1,0.1", "30,200,0.02,nan,1,0.2", "60,300,0.008,0.85,5,0.3", "90,300,0.008,0.95,-1,0.3",
        "9000,400,0.005,0.95,9,0.7",  # after a pause: a resume
        "9030,500,0.012,0.97,9,0.8",
    ]  # fmt: skip
    head = "time,x_mean,recon_mse,ssim,value_mean,ends_foreseen\n"
    run.worker_csv(0).write_text(head + "\n".join(rows) + "\n")
    found = dreamer.health(run)
    assert found["minutes_to_well"] == 1.5 and (found["x_first"], found["x_last"]) == (100, 500)
    assert (found["recon_mse"], found["ssim"], found["value_mean"]) == (0.012, 0.97, 9)


def made_up(part: str, model: str, seed: int, **changes: Any) -> dict[str, Any]:
    outcome = {"successes": 95, "episodes": 100, "rate": 0.95, "low": 0.89, "high": 0.98}
    well = {"recon_mse": 0.004, "value_mean": 20.0, "ends_foreseen": 0.9, "minutes_to_well": 12.0}
    well |= {"x_first": 500.0, "x_last": 2500.0, "ssim": 0.95}
    run = {
        "part": part, "model": model, "seed": seed, "level": "1-1", "steps_to_first_flag": 9000,
        "minutes_to_first_flag": 1.5, "steps_to_90": 50_000, "minutes_to_90": 8.0, "steps": 60_000, "minutes": 9.0,
        "protocols": {"greedy": outcome, "stochastic": outcome, "sticky": outcome},
        "health": well if model == "dreamer" else None, "command": f"mario-rl train --model {model} --seed {seed}",
    }  # fmt: skip
    return run | changes


def report(*runs: dict[str, Any]) -> dict[str, Any]:
    machine = {"date": "today", "cpu": "a CPU", "cores": 2, "system": "a system", "python": "3", "load_at_start": 0}
    return {"quick": False, "machine": machine, "episodes": 100, "beyond": "1-2", "runs": list(runs)}


def test_the_worst_seed_counts_and_what_is_missed_is_said() -> None:
    good = [made_up("1-1", "dreamer", seed) for seed in range(3)]
    peers = [made_up("1-1", "ddqn", seed, steps_to_90=100_000) for seed in range(3)]
    rows = goal_rows(report(*good, *peers, made_up("pixels", "dreamer", 0), made_up("beyond", "dreamer", 0)))
    assert len(rows) == 8 and not any("missed" in row for row in rows)
    assert "**2×**" in rows[4] and "**12 min**" in rows[-2] and "**5×**" in rows[-1]
    said = dreamer_section(report(*good, *peers))
    assert "60,000" in said and "--seed 2" not in said
    assert "    mario-rl train --model dreamer --seed 0\n    mario-rl train --model ddqn --seed 0\n" in said

    late = made_up("1-1", "dreamer", 1, minutes_to_first_flag=None, steps_to_90=None, minutes=21.0, steps=130_000)
    rows = goal_rows(report(good[0], late))
    assert ["(missed)" in row for row in rows] == [True, True, True, False]
    assert "**never**" in rows[0] and "**130,000**" in rows[2]
    slow = [made_up("1-1", "dreamer", seed, steps_to_90=200_000) for seed in range(3)]
    assert "**0.5×** | at least 1× (missed)" in goal_rows(report(*slow, *peers))[4]
    never = [made_up("1-1", "ddqn", seed, steps_to_90=None) for seed in range(3)]
    assert "**never reached by DDQN**" in goal_rows(report(*good, *never))[4]


def test_a_part_that_does_not_exist_is_one_line(monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setattr("sys.argv", ["dreamer", "--parts", "9-9"])
    with pytest.raises(SystemExit) as ending:
        dreamer.main()
    assert ending.value.code == 2 and "--parts are some of" in capfd.readouterr().err
