"""Plots: the panels that there is data for, with that data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from mario_rl.config import TrainingConfig
from mario_rl.runs.directory import RunDirectory, RunError
from mario_rl.runs.plots import draw_run, plot_run
from mario_rl.runs.series import Series, read_series, without_rewound


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "run", TrainingConfig(model="ppo", seed=3))


def write_full_run(run: RunDirectory) -> None:
    run.coordinator_csv.write_text(
        "time,steps,loss,lr,flag_rate,evaluation_rate\n0,0,4,0.01,0,\n10,1000,3,0.005,0.5,0.25\n20,2000,2,0.001,1,\n"
    )
    for worker, offset in ((0, 0), (1, 10)):
        rows = "".join(f"{time},{time * 50},{time + offset},{time * 100},1.5,0.7\n" for time in (5, 10, 15))
        run.worker_csv(worker).write_text("time,steps,reward_mean,x_mean,value_loss,entropy\n" + rows)
    run.deaths_csv.write_text("time,level,area,x_pos\n1,1-1,42640,10\n2,1-1,42640,20\n3,1-1,42640,30\n")


def panels(run: RunDirectory) -> dict[str, object]:
    return {axis.get_title(loc="left"): axis for axis in draw_run(run).axes}


def test_every_panel_of_a_full_run(run: RunDirectory) -> None:
    write_full_run(run)
    drawn = panels(run)
    assert list(drawn) == [
        "Reward per episode",
        "Furthest x per episode, pixels",
        "Episodes at the flag",
        "Loss",
        "Value loss",
        "Entropy of the policy",
        "Learning rate",
        "Where Mario died in 1-1, 3 deaths",
    ]


def test_curves_hold_the_measurements_over_the_steps_of_all_workers(run: RunDirectory) -> None:
    write_full_run(run)
    drawn = panels(run)
    loss = drawn["Loss"].lines[0]
    assert loss.get_xdata().tolist() == [0, 1000, 2000]
    assert loss.get_ydata().tolist() == [4, 3, 2]
    one, other, mean = drawn["Reward per episode"].lines
    assert one.get_xdata().tolist() == [500, 1000, 1500], "second 5 is step 500 of all workers, not 250 of this one"
    assert (one.get_ydata().tolist(), other.get_ydata().tolist()) == ([5, 10, 15], [15, 20, 25])
    np.testing.assert_allclose(np.interp([500, 1000, 1500], mean.get_xdata(), mean.get_ydata()), [10, 15, 20])
    training, evaluations = drawn["Episodes at the flag"].lines
    assert training.get_ydata().tolist() == [0, 0.5, 1]
    assert evaluations.get_xdata().tolist() == [1000], "gaps are not drawn"


def test_deaths_are_counted_in_buckets_of_25_pixels(run: RunDirectory) -> None:
    write_full_run(run)
    bars = panels(run)["Where Mario died in 1-1, 3 deaths"].patches
    assert [(bar.get_x(), bar.get_height()) for bar in bars if bar.get_height()] == [(0, 2), (25, 1)]


def test_deaths_of_many_levels_and_below_zero(run: RunDirectory) -> None:
    levels = [f"{world}-{stage}" for world in (1, 2, 3) for stage in (1, 2, 3)]
    rows = "".join(f"0,{level},0,{-30 + 100 * number}\n" * (number + 1) for number, level in enumerate(levels))
    run.deaths_csv.write_text("time,level,area,x_pos\n" + rows)
    ((title, axis),) = panels(run).items()
    assert title == "Where Mario died, 45 deaths"
    assert [text.get_text() for text in axis.get_legend().get_texts()] == [*levels[3:], "others"]


def test_without_a_coordinator_workers_count_for_all(run: RunDirectory) -> None:
    for worker in (0, 1):
        run.worker_csv(worker).write_text("time,steps,reward_mean\n1,100,7\n2,200,8\n")
    drawn = panels(run)
    assert list(drawn) == ["Reward per episode"]
    assert drawn["Reward per episode"].lines[0].get_xdata().tolist() == [200, 400]


@pytest.mark.parametrize("content", [None, "", "time,steps,loss\n", "time,steps,loss\n1,2,\n", "nothing of ours\n1\n"])
def test_nothing_to_plot(run: RunDirectory, content: str | None) -> None:
    if content is not None:
        run.coordinator_csv.write_text(content)
        run.worker_csv(0).write_text(content)
        run.deaths_csv.write_text(content)
    with pytest.raises(RunError, match=r"nothing to plot in .*run yet"):
        plot_run(run)
    assert not run.plots.exists()


def test_the_picture_is_a_png(run: RunDirectory, tmp_path: Path) -> None:
    write_full_run(run)
    assert plot_run(run) == run.plots / "training.png"
    with Image.open(run.plots / "training.png") as picture:
        assert picture.format == "PNG"
        assert picture.width > 1000
        assert len(set(np.asarray(picture.convert("L")).flatten().tolist())) > 20
    assert plot_run(run, tmp_path / "other.png").stat().st_size > 10_000


# --- reading ------------------------------------------------------------------------------------------------------


def test_a_line_that_is_being_written_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("time,steps,loss\n1,2,3\n4,,nan\n5,6,\n7,8")
    series = read_series(file)
    np.testing.assert_array_equal(series["time"], [1, 4, 5])
    np.testing.assert_array_equal(series["steps"], [2, np.nan, 6])
    np.testing.assert_array_equal(series["loss"], [3, np.nan, np.nan])
    assert series.has("loss")
    assert not series.has("reward")


@given(st.lists(st.integers(0, 20), max_size=30))
def test_rows_that_a_resume_made_void_are_left_out(steps: list[int]) -> None:
    """A row is void if a later one is of fewer steps: the run went back before it."""
    rows = list(range(len(steps)))
    series = Series({"steps": np.array(steps, float), "row": np.array(rows, float)})
    expected = [row for row in rows if all(steps[row] <= later for later in steps[row + 1 :])]
    assert without_rewound(series)["row"].tolist() == expected


def test_a_dreamer_s_health_is_drawn_beside_what_it_should_be(run: RunDirectory) -> None:
    rows = "".join(f"{time},{time * 50},{0.1 / time},0.95,{time - 6},{time},0.4,0.3\n" for time in (5, 10, 15))
    head = "time,steps,recon_mse,ssim,value_mean,imagined_return,ends_seen,ends_foreseen\n"
    run.worker_csv(0).write_text(head + rows)
    drawn = panels(run)
    assert list(drawn) == [
        "Mean squared error of what is recalled",
        "Similarity (SSIM) of what is recalled",
        "Ends of episodes: how sure it is of them",
        "Imagined return, value of what is seen",
    ]
    error, similarity, _, value = drawn.values()
    assert error.get_yscale() == "log" and error.lines[-1].get_ydata()[0] == 0.01
    assert similarity.lines[-1].get_ydata()[0] == 0.9 and value.lines[-1].get_ydata()[0] == 0.0
    assert value.lines[1].get_ydata().tolist() == [-1, 4, 9]
