"""Early and late in a run: by its steps, with the episodes of each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mario_rl.config import TrainingConfig
from mario_rl.runs.deaths import read_deaths
from mario_rl.runs.directory import RunDirectory
from mario_rl.runs.periods import Period, periods


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "run", TrainingConfig(model="ppo", workers=2))


def periods_of(run: RunDirectory) -> tuple[Period, Period]:
    return periods(run, read_deaths(run.deaths_csv))


def test_quarters_are_of_steps_not_of_time(run: RunDirectory) -> None:
    """The first half of the steps took 100 seconds, the second half 1000."""
    run.coordinator_csv.write_text("time,steps,episodes\n0,0,0\n100,2000,100\n1100,4000,140\n")
    early, late = periods_of(run)
    assert (early.begin, early.end, late.begin, late.end) == (-np.inf, 50, 600, np.inf)
    assert early.name == "Early (first quarter of the run, up to step 1,000)"
    assert late.name == "Late (last quarter, from step 3,000 to 4,000)"
    assert (early.episodes, late.episodes) == (" in 50 episodes", " in 20 episodes")
    assert early.holds(np.array([-5.0, 50.0, 51.0])).tolist() == [True, True, False]
    assert late.holds(np.array([599.0, 600.0, 9999.0])).tolist() == [False, True, True]


def test_practice_is_said_apart(run: RunDirectory) -> None:
    run.coordinator_csv.write_text("time,steps,episodes\n0,0,0\n100,4000,100\n")
    for worker in (0, 1):
        run.worker_csv(worker).write_text("time,steps,practice_episodes\n0,0,0\n100,2000,1000\n")
    early, _ = periods_of(run)
    assert early.episodes == " in 25 episodes from a level's start and 500 of practice"


def test_episodes_of_a_run_on_several_levels_are_those_of_all(run: RunDirectory) -> None:
    run.coordinator_csv.write_text("time,steps,episodes\n0,0,0\n100,4000,100\n")
    run.deaths_csv.write_text("time,level,area,x_pos\n1,1-1,5,100\n99,1-2,5,100\n")
    assert [part.episodes for part in periods_of(run)] == [" in 25 episodes, all levels together"] * 2


def test_rows_that_a_resume_made_void_do_not_count(run: RunDirectory) -> None:
    run.coordinator_csv.write_text("time,steps\n0,0\n10,4000\n20,100\n30,2000\n40,4000\n")
    early, late = periods_of(run)
    assert (early.end, late.begin) == (pytest.approx(20 + 10 * 900 / 1900), 35)


@pytest.mark.parametrize("coordinator", [None, "", "time,steps\n", "time,steps\n5,0\n"])
def test_without_steps_the_time_decides(run: RunDirectory, coordinator: str | None) -> None:
    if coordinator is not None:
        run.coordinator_csv.write_text(coordinator)
    run.deaths_csv.write_text("time,level,area,x_pos\n100,1-1,5,100\n150,1-1,5,1\n500,1-1,5,100\n")
    early, late = periods_of(run)
    assert (early.end, late.begin) == (200, 400)
    assert (early.name, early.episodes) == ("Early (first quarter of the run, by time)", "")
    run.deaths_csv.unlink()
    assert periods_of(run)[0].end == 0
