"""A worker in a process of its own is the worker in one process, to the last bit."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from mario_rl import config as configuration
from mario_rl.runs import training
from mario_rl.runs.checkpoint import load_checkpoint
from tests.faults.runs import Place, wait_until

COMMON = {"lanes": 2, "hidden": 16, "sticky": 0.1, "evaluate_every": 0, "seed": 3, "checkpoint_minutes": 0.01}
PPO = COMMON | {
    "model": "ppo", "collect_steps": 16, "batch_size": 10, "epochs": 2, "steps": 20 * 32, "lr": 1e-3, "entropy": 0.05,
}  # fmt: skip
DREAMER = COMMON | {
    "model": "dreamer", "collect_steps": 4, "gradients_per_collect": 2, "batch_size": 3, "sequence_length": 6,
    "horizon": 4, "imagined": 12, "learning_starts": 40, "buffer_size": 200, "steps": 20 * 8,
}  # fmt: skip


@pytest.mark.parametrize(("settings", "updates"), [(PPO, 20 * 2 * 4), (DREAMER, (20 - 4) * 2)], ids=["ppo", "dreamer"])
def test_one_worker_process_ends_with_the_weights_of_a_run_in_one_process(
    settings: dict[str, Any], updates: int, place: Place
) -> None:
    ends = []
    for workers in (0, 1):
        config = configuration.from_dict(
            settings | {"workers": workers, "name": f"{place.name}-{workers}", "checkpoints": str(place.checkpoints)}
        )
        run, before = training.begin(config)
        session = training.open_session(run, config, before)
        wait_until(lambda session=session: not session.tick(), "the run has ended")
        assert session.close() == "SUCCESS", session.problem
        ends.append(load_checkpoint(run.checkpoint_pt))
    alone, apart = ends
    assert alone["counters"]["updates"] == apart["counters"]["updates"] == updates
    assert alone["counters"]["steps"] == apart["counters"]["steps"] == settings["steps"]
    for name, weights in alone["model"].items():
        assert torch.equal(weights, apart["model"][name]), name
