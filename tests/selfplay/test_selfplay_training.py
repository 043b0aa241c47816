"""A run of self-play from beginning to end: it learns, stops, goes on exactly, and survives its faults."""

from __future__ import annotations

import csv
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch

from mario_rl.runs.checkpoint import load_checkpoint, load_newest_good
from mario_rl.runs.directory import RunError
from mario_rl.selfplay import config as configuration
from mario_rl.selfplay.config import SelfPlayConfig
from mario_rl.selfplay.players import make_player
from mario_rl.selfplay.run_directory import SelfPlayDirectory
from mario_rl.selfplay.training import SelfPlay, train

TINY: dict[str, Any] = {
    "envs": 16, "rollout": 512, "batch_size": 128, "hidden": 8, "value_hidden": 8, "level": "0", "solo_level": "0-1",
    "solo_steps": 1000, "snapshot_every": 600, "pool_gate": 0.0, "checkpoint_every": 1000, "evaluate_every": 0,
}  # fmt: skip


def run_of(tmp_path: Path, name: str, **settings: Any) -> tuple[SelfPlayDirectory, SelfPlayConfig]:
    config = configuration.from_dict(TINY | {"checkpoints": str(tmp_path), "name": name} | settings)
    return SelfPlayDirectory.create(config.checkpoints, config.name, config), config


def after(updates: int) -> Callable[[], bool]:
    """A `stop` that says yes when it has been asked so often."""
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > updates

    return stop


def workers_of_this_process() -> list[int]:
    """Without Python's own resource tracker, which stays."""
    children = psutil.Process().children()
    return [child.pid for child in children if "spawn_main" in " ".join(child.cmdline())]


def silent(text: str) -> None:
    pass


def test_it_learns_to_clear_the_easiest_bottle_in_seconds(tmp_path: Path) -> None:
    run, config = run_of(
        tmp_path, "learns", envs=64, rollout=1024, hidden=16, lr=0.01, epochs=4, solo_level="0", solo_virus=1.0,
        solo_clear=0.1, solo_steps=10**9, solo_first=1.0, steps=30_000, checkpoint_every=10**9,
    )  # fmt: skip
    assert train(run, config, None, lambda: False, silent, silent) == "SUCCESS"
    with run.selfplay_csv.open(newline="") as file:
        rows = list(csv.DictReader(file))
    first, last = float(rows[0]["solo/clear_rate"]), float(rows[-1]["solo/clear_rate"])
    assert first < 0.05
    assert last > 0.3
    assert make_player(str(run.path)).name == str(run.path)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_stopped_run_goes_on_exactly(tmp_path: Path, workers: int) -> None:
    # all games against the candidate, so that it joins soon
    settings = {"workers": workers, "checkpoint_every": 512, "steps": 5000, "self_prob": 0.0, "solo_share": 0.0}
    whole, config = run_of(tmp_path, "whole", **settings, pool_bots="none")
    assert train(whole, config, None, lambda: False, silent, silent) == "SUCCESS"

    parts, config = run_of(tmp_path, "parts", **settings, pool_bots="none")
    said: list[str] = []
    assert train(parts, config, None, after(3), silent, said.append) == "INTERRUPTED"
    assert parts.status().state == "INTERRUPTED"
    saved, _, _ = load_newest_good(parts)
    assert saved["counters"]["steps"] < 5000
    assert train(parts, config, saved, lambda: False, silent, said.append) == "SUCCESS"
    assert any("joined the pool" in line for line in said)

    one, other = load_checkpoint(whole.checkpoint_pt), load_checkpoint(parts.checkpoint_pt)
    assert one["counters"] == other["counters"]
    for name, weight in one["policy"].items():
        assert torch.equal(weight, other["policy"][name]), name
    assert [member["steps"] for member in one["pool"]["members"]] == [m["steps"] for m in other["pool"]["members"]]
    assert workers_of_this_process() == []


def test_the_pools_files_are_its_members_whatever_happened_to_them(tmp_path: Path) -> None:
    """Some could not be written, others are of a future that was given up."""
    run, config = run_of(tmp_path, "pool", steps=12_000, self_prob=0.0, pool_bots="none")
    train(run, config, None, after(12), silent, silent)
    members, candidate = run.pool_members(), run.candidate()
    assert members and candidate is not None
    kept = members[0].read_bytes()
    members[0].unlink()
    candidate.unlink()
    for stray in (run.pool_member(999_999_999), run.candidate_file(999_999_999)):
        stray.write_bytes(kept)
    train(run, config, load_checkpoint(run.checkpoint_pt), lambda: False, silent, silent)
    pool = load_checkpoint(run.checkpoint_pt)["pool"]
    assert run.pool_members() == [run.pool_member(member["steps"]) for member in pool["members"]]
    assert run.candidates() == [run.candidate_file(pool["candidate"]["steps"])]
    assert make_player(str(run.candidate())).name == run.candidates()[0].stem
    assert members[0] in run.pool_members() and len(run.pool_members()) > len(members)


def test_what_a_run_leaves_behind(tmp_path: Path) -> None:
    measuring = {"evaluate_every": 4000, "evaluate_games": 4}
    run, config = run_of(tmp_path, "files", steps=6000, self_prob=0.0, pool_bots="none", **measuring)
    assert train(run, config, None, lambda: False, silent, silent) == "SUCCESS"
    assert json.loads(run.status_json.read_text())["steps"] >= 5000
    assert run.player_pt.stat().st_size < 2_000_000
    assert len(run.pool_members()) >= 1
    assert make_player(str(run.pool_members()[0])).name == run.pool_members()[0].stem
    assert list(run.tensorboard.glob("events.*"))
    with run.selfplay_csv.open(newline="") as file:
        last = list(csv.DictReader(file))[-1]
    wanted = ["ppo/entropy", "ppo/value_loss", "ppo/explained_variance", "win_rate/random", "win_rate/greedy"]
    wanted += ["win_rate/search", "solo/viruses", "versus/seconds", "run/decisions_per_second"]
    assert all(last[name] for name in wanted)
    assert run.config() == config.__class__(**vars(config))


def test_killed_workers_are_replaced_until_there_are_too_many(tmp_path: Path) -> None:
    run, config = run_of(tmp_path, "killed", workers=1, steps=2500)
    said: list[str] = []
    killed = 0

    def kill_the_first_two() -> bool:
        nonlocal killed
        if killed < 2:
            for worker in workers_of_this_process():
                os.kill(worker, signal.SIGKILL)
                killed += 1
        return False

    assert train(run, config, None, kill_the_first_two, silent, said.append) == "SUCCESS"
    assert killed == 2
    assert sum("a worker died (exit code -9); another one begins new games" in line for line in said) == 2
    assert workers_of_this_process() == []

    doomed, config = run_of(tmp_path, "doomed", workers=1, steps=10**9)

    def kill_always() -> bool:
        for worker in workers_of_this_process():
            os.kill(worker, signal.SIGKILL)
        return False

    with pytest.raises(RunError, match="a worker died"):
        train(doomed, config, None, kill_always, silent, silent)
    assert doomed.status().state == "FAILED"
    assert workers_of_this_process() == []


def test_weights_that_are_no_numbers_are_not_saved(tmp_path: Path) -> None:
    run, config = run_of(tmp_path, "nan", steps=10**9)
    training: list[SelfPlay] = []
    begin = SelfPlay.__init__

    def remember(self: SelfPlay, *arguments: Any) -> None:
        begin(self, *arguments)
        training.append(self)

    def spoil() -> bool:
        if training[0].steps > 1500:
            with torch.no_grad():
                next(training[0].ppo.policy.parameters()).fill_(float("nan"))
            training[0]._collects = False
        return False

    SelfPlay.__init__ = remember  # type: ignore[method-assign]
    try:
        with pytest.raises((RunError, RuntimeError)):
            train(run, config, None, spoil, silent, silent)
    finally:
        SelfPlay.__init__ = begin  # type: ignore[method-assign]
    assert run.status().state == "FAILED"
    good = load_checkpoint(run.checkpoint_pt)
    assert all(torch.isfinite(weight).all() for weight in good["policy"].values())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"level": "5-30"}, "--level is 0 to 20"),
        ({"level": "five"}, "--level is 0 to 20"),
        ({"speed": "warp"}, "--speed is one or several of low, med, hi"),
        ({"pool_strategy": "best"}, "--pool-strategy is one of latest"),
        ({"pool_bots": "deep"}, "--pool-bots is none, or some of"),
        ({"self_prob": 1.5}, "--self-prob is between 0 and 1"),
        ({"workers": 5}, "--envs is a multiple of --workers"),
        ({"minutes": 0.0}, "--minutes is above 0"),
        ({"colour": "blue"}, "unknown setting 'colour'"),
    ],
)
def test_impossible_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(configuration.ConfigError) as caught:
        configuration.from_dict(TINY | settings)
    assert message in str(caught.value)
