"""The directory of a run and its status: made once, found again, never run twice at a time."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from mario_rl.config import TrainingConfig
from mario_rl.runs.directory import RunDirectory, RunError
from mario_rl.runs.status import RunStatus, read_status, write_status


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path / "checkpoints", "mine", TrainingConfig(level="1-2", lr=0.5, lr_min=1e-5))


# --- making one ---------------------------------------------------------------------------------------------------


def test_a_new_run_knows_its_configuration(run: RunDirectory) -> None:
    assert run.path.name == "mine"
    assert run.config() == TrainingConfig(level="1-2", lr=0.5, lr_min=1e-5, name="mine")
    assert run.status().state == "INTERRUPTED"
    assert {path.name for path in run.path.iterdir()} == {"config.yaml", "status.json"}


def test_an_existing_run_is_never_overwritten(run: RunDirectory) -> None:
    before = run.config_yaml.read_bytes()
    with pytest.raises(RunError, match=r"exists already.*--name.*--resume .*mine"):
        RunDirectory.create(run.path.parent, "mine", TrainingConfig())
    assert run.config_yaml.read_bytes() == before


def test_runs_without_a_name_get_their_own_directories(tmp_path: Path) -> None:
    runs = [RunDirectory.create(tmp_path, None, TrainingConfig()) for _ in range(3)]
    assert len({run.path for run in runs}) == 3
    assert all(run.name.startswith(time.strftime("%Y-")) for run in runs)
    assert all(run.config().name == run.name for run in runs)


@pytest.mark.parametrize("name", ["", ".", "..", ".hidden", "a/b", "../elsewhere", "-rf", "x" * 300, "a\0b"])
def test_names_that_cannot_be(name: str, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="plain directory name"):
        RunDirectory.create(tmp_path / "checkpoints", name, TrainingConfig())
    assert not list(tmp_path.iterdir())


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"not a directory.*--checkpoints"):
        RunDirectory.create(tmp_path / "file", "x", TrainingConfig())
    with pytest.raises(RunError, match="cannot make a run"):
        RunDirectory.create(tmp_path / "file" / "deeper", "x", TrainingConfig())


def test_a_full_disk_leaves_no_half_run(tmp_path: Path, full_disk) -> None:
    with full_disk(100), pytest.raises(RunError, match=r"cannot make a run in .*: File too large"):
        RunDirectory.create(tmp_path, "x", TrainingConfig())
    assert not list(tmp_path.iterdir())


# --- finding one --------------------------------------------------------------------------------------------------


def test_a_run_is_found_by_path_name_and_file(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    run.weights_pt.write_bytes(b"")
    monkeypatch.chdir(run.path.parent.parent)
    for target in (run.path, str(run.path), "mine", "checkpoints/mine"):
        found = RunDirectory.open(target)
        assert found.path.resolve() == run.path
        assert found.chosen_file is None
    found = RunDirectory.open(run.weights_pt)
    assert found.path == run.path
    assert found.chosen_file == run.weights_pt
    assert RunDirectory.open("mine", run.path.parent).path == run.path


def test_what_is_not_a_run(run: RunDirectory, tmp_path: Path) -> None:
    checkpoints = run.path.parent
    with pytest.raises(RunError, match=r"no run 'other'; the latest in .*: mine"):
        RunDirectory.open("other", checkpoints)
    with pytest.raises(RunError, match=r"there are none in .* yet: `mario-rl train`"):
        RunDirectory.open("other", tmp_path / "nowhere")
    with pytest.raises(RunError, match=r"is not a run: it has no config.yaml"):
        RunDirectory.open(tmp_path, checkpoints)
    with pytest.raises(RunError, match="neither a run's directory nor a checkpoint"):
        RunDirectory.open(run.status_json)
    (tmp_path / "lost.pt").write_bytes(b"")
    with pytest.raises(RunError, match="is not a run"):
        RunDirectory.open(tmp_path / "lost.pt")


@pytest.mark.parametrize(
    ("content", "words"),
    [("a: [", "not YAML"), ("speed: 9", "unknown setting 'speed'"), ("lr: fast", "--lr is a number"), ("- 1", "lines")],
)
def test_a_damaged_configuration(run: RunDirectory, content: str, words: str) -> None:
    run.config_yaml.write_text(content)
    with pytest.raises(RunError, match=words):
        run.config()


def test_files_with_numbers_come_in_their_order(run: RunDirectory) -> None:
    for name in ("worker_10.csv", "worker_9.csv", "worker_x.csv", "checkpoint-9.pt", "checkpoint-10.pt"):
        (run.path / name).write_text("")
    (run.path / "checkpoint-11.pt.tmp").write_text("")
    (run.path / ".checkpoint-12.pt.3.tmp").write_text("")
    assert run.worker_csvs() == [run.worker_csv(9), run.worker_csv(10)]
    assert run.numbered_checkpoints() == [run.numbered_checkpoint(10), run.numbered_checkpoint(9)]


# --- its status ---------------------------------------------------------------------------------------------------


def test_a_run_from_begin_to_end(run: RunDirectory) -> None:
    assert run.begin().pid == os.getpid()
    assert run.status().state == "RUNNING"
    run.update_status(steps=500, minutes_trained=1.5, steps_to_first_flag=400)
    run.finish("SUCCESS", "all steps done", steps=600)
    status = run.status()
    assert (status.state, status.why, status.pid) == ("SUCCESS", "all steps done", None)
    assert (status.steps, status.minutes_trained, status.steps_to_first_flag) == (600, 1.5, 400)
    again = run.begin()
    assert (again.state, again.why, again.steps) == ("RUNNING", "", 600), "counters go on after a resume"


def running_in(process: psutil.Process) -> RunStatus:
    return RunStatus(state="RUNNING", pid=process.pid, process_started=process.create_time(), steps=7)


def test_a_run_that_is_running_is_not_begun_again(run: RunDirectory) -> None:
    other = subprocess.Popen(["sleep", "60"])
    try:
        write_status(run.status_json, running_in(psutil.Process(other.pid)))
        assert run.status().state == "RUNNING"
        with pytest.raises(RunError, match=f"running already, as process {other.pid}; stop it first"):
            run.begin()
    finally:
        other.kill()
    os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)  # it has ended, but nobody has taken notice
    assert run.status().state == "INTERRUPTED", "a zombie does not run"
    other.wait()
    status = run.status()
    assert status.state == "INTERRUPTED"
    assert "died" in status.why
    assert run.begin().steps == 7


def test_a_reused_process_id_does_not_count(run: RunDirectory) -> None:
    parent = running_in(psutil.Process(os.getppid()))
    assert parent.process_started is not None
    write_status(run.status_json, dataclasses.replace(parent, process_started=parent.process_started - 60))
    assert run.status().state == "INTERRUPTED"
    assert run.begin().pid == os.getpid()


BEGINS = """
import sys
from mario_rl.runs.directory import RunDirectory, RunError
run = RunDirectory.open(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
try:
    run.begin()
    print("began", flush=True)
except RunError as problem:
    print(problem, flush=True)
sys.stdin.readline()
"""


def test_of_several_that_begin_at_once_one_wins(run: RunDirectory) -> None:
    begin = [sys.executable, "-c", BEGINS, str(run.path)]
    processes = [subprocess.Popen(begin, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    answers = []
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        assert process.stdout is not None
        answers.append(process.stdout.readline().strip())
    for process in processes:
        process.communicate("\n")
    assert answers.count("began") == 1, answers
    winner = processes[answers.index("began")]
    assert sum(f"running already, as process {winner.pid}" in answer for answer in answers) == 3


def test_several_can_update_the_status(run: RunDirectory) -> None:
    """Coordinator and parent both do: nobody's change is lost."""
    run.begin()

    def count(counter: str) -> None:
        for number in range(1, 31):
            run.update_status(**{counter: number})

    threads = [threading.Thread(target=count, args=(name,)) for name in ("steps", "minutes_trained")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    status = run.status()
    assert (status.steps, status.minutes_trained, status.state) == (30, 30, "RUNNING")


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"state": "DANCING"}', '{"state": "RUNNING", "pid": "x"}', '{"state": []}']
)
def test_a_damaged_status(run: RunDirectory, content: str) -> None:
    run.status_json.write_text(content)
    with pytest.raises(RunError, match=r"status\.json is damaged"):
        run.status()
    assert run.begin().state == "RUNNING", "it can be begun all the same"


def test_a_missing_status(run: RunDirectory) -> None:
    run.status_json.unlink()
    with pytest.raises(RunError, match="cannot read"):
        run.status()
    assert run.begin().state == "RUNNING"


def test_the_status_is_plain_json_with_everything_in_it(run: RunDirectory) -> None:
    status = write_status(run.status_json, RunStatus(state="FAILED", why="worker 3 was given up", steps=3))
    assert json.loads(run.status_json.read_text()) == dataclasses.asdict(status)
    assert read_status(run.status_json) == status
