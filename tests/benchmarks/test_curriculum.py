"""The curriculum benchmark: what it plans, and what its table says about runs made up here."""

from __future__ import annotations

from typing import Any

from benchmarks import curriculum
from benchmarks.curriculum_report import curriculum_section, curriculum_table, verdict


def test_every_curriculum_has_every_level_and_seed() -> None:
    plans = curriculum.planned_runs(curriculum.LEVELS, 3, 1000)
    assert len({plan.name for plan in plans}) == len(plans) == 6 * 4 * 3
    for plan in plans:
        config = plan.config()
        assert (config.steps, config.stop_at, config.workers, config.curriculum) == (
            plan.steps,
            0.8,
            0,
            plan.curriculum,
        )
        words = plan.arguments
        assert words[words.index("--level") + 1] == plan.level and words[words.index("--seed") + 1] == str(plan.seed)
    assert {plan.curriculum for plan in plans} == {"off", "snapshots", "archive", "demo"}
    assert len({(plan.config().lr, plan.config().gamma, plan.config().epochs) for plan in plans}) == 1


def made_up(level: str, name: str, steps: list[int | None], allowed: int = 400_000) -> list[dict[str, Any]]:
    return [
        {
            "level": level,
            "curriculum": name,
            "seed": seed,
            "allowed_steps": allowed,
            "steps_to_first_flag": reached,
            "steps_to_goal": reached,
            "protocols": {"stochastic": {"rate": 0.5}, "sticky": {"rate": 0.25}},
        }
        for seed, reached in enumerate(steps)
    ]


def test_controls_are_where_only_a_curriculum_got_there() -> None:
    runs = made_up("1-1", "off", [100_000, 200_000]) + made_up("1-1", "demo", [50_000, None])
    runs += made_up("1-2", "off", [None, None]) + made_up("1-2", "demo", [None, None])
    runs += made_up("1-3", "off", [None, 300_000]) + made_up("1-3", "demo", [None, 60_000])
    controls = curriculum.planned_controls(runs, 400_000)
    assert [(plan.level, plan.curriculum, plan.seed, plan.steps) for plan in controls] == [
        ("1-3", "off", 0, 800_000),
        ("1-3", "off", 1, 800_000),
    ]
    assert controls[0].config().steps == 800_000


def test_the_verdict_is_the_ratio_of_medians_and_never_is_worse_than_any_number() -> None:
    runs = made_up("1-1", "off", [100_000, 200_000, 300_000]) + made_up("1-1", "demo", [50_000, 80_000, None])
    runs += made_up("8-1", "off", [None, None, 90_000]) + made_up("8-1", "demo", [60_000, 100_000, None])
    runs += made_up("8-1", "off", [None] * 3, 800_000)
    runs += made_up("4-1", "off", [None] * 3) + made_up("4-1", "demo", [400_000] * 3)
    runs += made_up("4-1", "off", [500_000] * 3, 800_000)
    runs += made_up("2-1", "off", [None] * 3) + made_up("2-1", "demo", [None] * 3)
    machine = {"date": "today", "cpu": "a", "cores": 2, "system": "Linux", "python": "3"}
    report = {"runs": runs, "goal": 0.8, "steps": 400_000, "episodes": 200, "quick": False, "machine": machine}
    lines = verdict(report).splitlines()
    assert "- 1-1: demo 2.5×" in lines
    assert "- 8-1: demo more than 8.0× (100,000 steps, off never there)" in lines
    assert "- 4-1: demo 1.2×" in lines, "the control got there"
    assert "- 2-1: demo never there, nor is off" in lines
    assert lines[-1] == "At least 2 times fewer: demo on 1-1, demo on 8-1."
    rows = [line for line in curriculum_table(report).splitlines() if line.startswith("| 8-1 |")]
    assert rows[1] == "| 8-1 | demo | 60k · 100k · never | 60k · 100k · never | 50% · 50% · 50% | 25% · 25% · 25% |"
    assert rows[2].startswith("| 8-1 | off, 800k steps | never · never · never |")
    assert "| 1-1 | off, 800k" not in curriculum_table(report), "no control there"
    assert "seeds 0 to 2" in curriculum_section(report)
