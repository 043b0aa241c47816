"""TensorBoard finds our metrics under our names."""

from __future__ import annotations

import math

from mario_rl.metrics.tensorboard import TensorBoardWriter


def scalars(directory):
    """What TensorBoard itself reads."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    reader = EventAccumulator(str(directory))
    reader.Reload()
    return {tag: [(s.step, s.value) for s in reader.Scalars(tag)] for tag in reader.Tags()["scalars"]}


def test_tags_steps_and_values(tmp_path):
    writer = TensorBoardWriter(tmp_path, seconds_between=0)
    writer.add("worker_0", {"reward_mean": 12.5, "loss": math.nan}, 64)
    writer.add("all", {"flag_rate": 0.25}, 64)
    writer.add("worker_0", {"reward_mean": 25.0, "loss": math.inf}, 128)
    writer.close()
    writer.close()
    assert scalars(tmp_path) == {"worker_0/reward_mean": [(64, 12.5), (128, 25.0)], "all/flag_rate": [(64, 0.25)]}


def test_a_resumed_run_hides_what_it_will_write_again(tmp_path):
    writer = TensorBoardWriter(tmp_path, seconds_between=0)
    for steps in (64, 128, 192):
        writer.add("all", {"best_x": steps}, steps)
    writer.close()
    writer = TensorBoardWriter(tmp_path, first_steps=129, seconds_between=0)
    writer.add("all", {"best_x": 500.0}, 160)
    writer.close()
    assert scalars(tmp_path) == {"all/best_x": [(64, 64), (128, 128), (160, 500)]}


def test_nothing_is_made_before_there_is_something_to_write(tmp_path):
    writer = TensorBoardWriter(tmp_path / "tensorboard")
    writer.close()
    assert not (tmp_path / "tensorboard").exists()


def test_points_of_a_source_keep_their_distance(tmp_path):
    now = 0.0
    writer = TensorBoardWriter(tmp_path, seconds_between=2, clock=lambda: now)
    for tick in range(9):  # every half second
        now = tick / 2
        writer.add("worker_0", {"steps": tick}, tick)
        if tick in (3, 4):
            writer.add("all", {"steps": tick}, tick)  # a source of its own
    writer.close()
    assert scalars(tmp_path) == {"worker_0/steps": [(0, 0), (4, 4), (8, 8)], "all/steps": [(3, 3)]}
