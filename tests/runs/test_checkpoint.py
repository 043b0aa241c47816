"""Checkpoints: whole or not there, whatever happens to them."""

from __future__ import annotations

import hashlib
import io
import os
import struct
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mario_rl.config import TrainingConfig
from mario_rl.runs import checkpoint
from mario_rl.runs.checkpoint import (
    CheckpointError,
    load_checkpoint,
    load_newest_good,
    save_checkpoint,
    save_run_checkpoint,
)
from mario_rl.runs.directory import RunDirectory

leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
states = st.dictionaries(
    st.text(max_size=5),
    st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.integers(), inner, max_size=3)),
    max_size=4,
)
per_example = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)


def state_at(steps: int, size: int = 4) -> dict[str, object]:
    return {"model": {"weight": torch.full((size,), float(steps))}, "counters": {"steps": steps}, "config": {}}


def files_in(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "run", TrainingConfig())


# --- one file -----------------------------------------------------------------------------------------------------


@per_example
@given(state=states)
def test_what_is_saved_is_loaded(state: dict[str, object], tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "x.pt", {"content": state})
    assert load_checkpoint(tmp_path / "x.pt") == {"content": state}


def test_models_and_optimisers_survive(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    optimiser = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 3)).sum().backward()
    optimiser.step()
    state = {"model": model.state_dict(), "optimizer": optimiser.state_dict(), "rng": torch.get_rng_state()}
    save_checkpoint(tmp_path / "x.pt", state)
    loaded = load_checkpoint(tmp_path / "x.pt")
    assert torch.equal(loaded["model"]["weight"], model.weight)
    assert torch.equal(loaded["optimizer"]["state"][0]["exp_avg"], optimiser.state_dict()["state"][0]["exp_avg"])
    assert torch.equal(loaded["rng"], state["rng"])
    assert type(loaded["model"]) is OrderedDict


@per_example
@given(data=st.data())
def test_every_cut_is_found(data: st.DataObject, tmp_path: Path) -> None:
    file = tmp_path / "x.pt"
    save_checkpoint(file, state_at(7))
    whole = file.read_bytes()
    file.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(CheckpointError, match=r"cut short|damaged"):
        load_checkpoint(file)


@per_example
@given(data=st.data())
def test_every_flipped_bit_is_found(data: st.DataObject, tmp_path: Path) -> None:
    file = tmp_path / "x.pt"
    save_checkpoint(file, state_at(7))
    content = bytearray(file.read_bytes())
    # half of them in the header, which is short and easily missed
    position = data.draw(st.integers(0, 59) | st.integers(0, len(content) - 1))
    content[position] ^= 1 << data.draw(st.integers(0, 7))
    file.write_bytes(content)
    with pytest.raises(CheckpointError):
        load_checkpoint(file)


def test_something_appended_is_found(tmp_path: Path) -> None:
    file = tmp_path / "x.pt"
    save_checkpoint(file, state_at(7))
    file.write_bytes(file.read_bytes() + b"x")
    with pytest.raises(CheckpointError, match="damaged"):
        load_checkpoint(file)


def as_checkpoint(body: bytes, version: int = 1) -> bytes:
    """The documented format, written out once more."""
    facts = struct.pack("<8sIQQ", b"MARIO-RL", version, 0, len(body))
    return facts + hashlib.sha256(facts + body).digest() + body


def torch_bytes(content: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


class RunsCode:
    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("trap",)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not a checkpoint"),
        (b"MARIO-RL", "cut short"),
        (torch_bytes({"model": {}}), "not a checkpoint of mario-rl"),
        (as_checkpoint(torch_bytes({}), version=2), "format 2"),
        (as_checkpoint(torch_bytes([1, 2])), "a list instead of"),
        (as_checkpoint(torch_bytes({"trap": RunsCode()})), "not ours"),
        (as_checkpoint(b"nonsense"), "not ours"),
    ],
)
def test_foreign_files_are_refused_and_never_run(
    content: bytes, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "x.pt"
    file.write_bytes(content)
    with pytest.raises(CheckpointError, match=words):
        load_checkpoint(file)
    assert files_in(tmp_path) == {"x.pt"}


def test_the_format_is_the_documented_one(tmp_path: Path) -> None:
    (tmp_path / "x.pt").write_bytes(as_checkpoint(torch_bytes({"a": 1})))
    assert load_checkpoint(tmp_path / "x.pt") == {"a": 1}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"nowhere\.pt: No such file"):
        load_checkpoint(tmp_path / "nowhere.pt")


@pytest.mark.parametrize(
    "value", [np.float64(1), b"x", np.arange(3), {1, 2}, Path(), np.int64(3)], ids=lambda v: str(type(v))
)
def test_what_could_not_be_loaded_is_not_saved(value: object, tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "x.pt", state_at(1))
    with pytest.raises(TypeError, match=r"state\['counters'\]\[0\]"):
        save_checkpoint(tmp_path / "x.pt", {"counters": [value], "steps": 2})
    assert load_checkpoint(tmp_path / "x.pt")["counters"] == {"steps": 1}


# --- accidents while saving ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("old_steps", [None, 1])
def test_a_full_disk_leaves_the_old_checkpoint(old_steps: int | None, run: RunDirectory, full_disk) -> None:
    if old_steps is not None:
        save_run_checkpoint(run, state_at(old_steps), keep=3)
    before = {name: (run.path / name).read_bytes() for name in files_in(run.path)}
    with (
        full_disk(100_000),
        pytest.raises(CheckpointError, match=r"cannot save .*checkpoint\.pt: File too large.*untouched"),
    ):
        save_run_checkpoint(run, state_at(2, size=1_000_000), keep=3)
    assert {name: (run.path / name).read_bytes() for name in files_in(run.path)} == before


SAVES_FOREVER = """
import sys
from pathlib import Path
import torch
from mario_rl.runs.checkpoint import save_run_checkpoint
from mario_rl.runs.directory import RunDirectory
import os, random, signal, time
torch.set_num_threads(1)
run = RunDirectory.open(sys.argv[1])
chance = random.Random(0)
for round in range(25):
    child = os.fork()
    if child == 0:
        steps = 1 + 1000 * round
        while True:
            save_run_checkpoint(run, {"model": torch.full((200_000,), float(steps)), "steps": steps}, keep=2)
            steps += 1
    time.sleep(chance.uniform(0.01, 0.06))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print(round, flush=True)
    sys.stdin.readline()
"""


def test_killed_while_saving(run: RunDirectory) -> None:
    """Killed at 25 random moments: the newest good checkpoint is whole and nothing is skipped on the way to it."""
    save_run_checkpoint(run, {"model": torch.zeros(1), "steps": 0}, keep=2)
    saver = subprocess.Popen(
        [sys.executable, "-c", SAVES_FOREVER, str(run.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    newest = -1
    for _ in range(25):
        assert saver.stdout is not None
        assert saver.stdin is not None
        assert saver.stdout.readline()
        state, _, warnings = load_newest_good(run)
        assert warnings == []
        assert (state["model"] == state["steps"]).all()
        assert state["steps"] >= newest
        newest = state["steps"]
        saver.stdin.write("\n")
        saver.stdin.flush()
    saver.communicate()
    assert newest > 1000, "it did save"
    save_run_checkpoint(run, state_at(1_000_000), keep=2)
    assert not [name for name in files_in(run.path) if "tmp" in name], "leftovers of the killed go with the next save"


def test_killed_before_the_new_checkpoint_takes_its_name(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    save_run_checkpoint(run, state_at(1), keep=2)

    def killed(source: Path, target: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(checkpoint, "take_name", killed)
    with pytest.raises(KeyboardInterrupt):
        save_run_checkpoint(run, state_at(2), keep=2)
    assert load_checkpoint(run.checkpoint_pt)["counters"] == {"steps": 1}, "there is one at any moment"
    monkeypatch.undo()
    save_run_checkpoint(run, state_at(3), keep=2)
    assert [
        load_checkpoint(file)["counters"]["steps"] for file in (run.checkpoint_pt, *run.numbered_checkpoints())
    ] == [
        3,
        1,
    ]


def test_killed_between_the_two_renames_of_a_disk_without_links(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_run_checkpoint(run, state_at(1), keep=2)
    renames = []

    def only_once(source: Path, target: Path) -> None:
        if renames:
            raise KeyboardInterrupt
        renames.append(source.rename(target))

    def no_links(source: Path, target: Path) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(checkpoint, "take_name", only_once)
    monkeypatch.setattr("os.link", no_links)
    with pytest.raises(KeyboardInterrupt):
        save_run_checkpoint(run, state_at(2), keep=2)
    assert load_newest_good(run)[0]["counters"] == {"steps": 1}


# --- the checkpoints of a run -------------------------------------------------------------------------------------


@settings(per_example, max_examples=12)
@given(increments=st.lists(st.integers(0, 5), max_size=8), keep=st.integers(1, 4))
def test_the_latest_and_its_predecessors_are_kept(
    increments: list[int], keep: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run = RunDirectory.create(tmp_path_factory.mktemp("runs"), "run", TrainingConfig())
    saved: list[int] = []
    for steps in np.cumsum([1, *increments]).tolist():
        save_run_checkpoint(run, state_at(steps), keep)
        saved.append(steps)
    assert load_checkpoint(run.checkpoint_pt)["counters"]["steps"] == saved[-1]
    older = sorted(set(saved) - {saved[-1]}, reverse=True)[:keep]
    assert run.numbered_checkpoints() == [run.numbered_checkpoint(steps) for steps in older]
    for steps in older:
        assert load_checkpoint(run.numbered_checkpoint(steps))["counters"]["steps"] == steps


def test_going_back_gives_the_later_ones_up(run: RunDirectory) -> None:
    for steps in (10, 20, 30, 40):
        save_run_checkpoint(run, state_at(steps), keep=3)
    save_run_checkpoint(run, state_at(25), keep=3)  # resumed from 20
    assert load_newest_good(run)[0]["counters"]["steps"] == 25
    assert [file.name for file in run.numbered_checkpoints()] == ["checkpoint-20.pt", "checkpoint-10.pt"]


def damage(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def test_falls_back_to_the_newest_good_one_and_says_so(run: RunDirectory) -> None:
    for steps in (9, 10, 100, 101):
        save_run_checkpoint(run, state_at(steps), keep=3)
    damage(run.checkpoint_pt)
    run.numbered_checkpoint(100).write_bytes(b"")
    (run.path / ".checkpoint.pt.1.tmp").write_bytes(b"newest of all")
    (run.path / "checkpoint-9999.pt.tmp").write_bytes(b"newest of all")
    state, file, warnings = load_newest_good(run)
    assert state["counters"]["steps"] == 10, "by number, not by name"
    assert file == run.numbered_checkpoint(10)
    assert len(warnings) == 2
    assert "checkpoint.pt is damaged" in warnings[0]
    assert "checkpoint-100.pt" in warnings[1]


def test_a_damaged_one_is_not_kept_as_a_predecessor(run: RunDirectory) -> None:
    save_run_checkpoint(run, state_at(1), keep=3)
    run.checkpoint_pt.write_bytes(b"nonsense")
    save_run_checkpoint(run, state_at(2), keep=3)
    assert run.numbered_checkpoints() == []


def test_the_one_that_was_named_or_an_error(run: RunDirectory) -> None:
    for steps in (1, 2, 3):
        save_run_checkpoint(run, state_at(steps), keep=3)
    named = RunDirectory.open(run.numbered_checkpoint(1))
    state, file, _ = load_newest_good(named)
    assert state["counters"]["steps"] == 1
    assert file == run.numbered_checkpoint(1)
    damage(run.numbered_checkpoint(1))
    with pytest.raises(CheckpointError, match="damaged"):
        load_newest_good(named)


def test_none_and_none_good(run: RunDirectory) -> None:
    with pytest.raises(CheckpointError, match=r"no checkpoint yet.*--name"):
        load_newest_good(run)
    save_run_checkpoint(run, state_at(1), keep=3)
    damage(run.checkpoint_pt)
    with pytest.raises(CheckpointError, match=r"no checkpoint of .* can be read.*damaged"):
        load_newest_good(run)
