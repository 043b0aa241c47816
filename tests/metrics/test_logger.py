"""The CSV file is whole at every moment, whatever happens to the process that writes it."""

from __future__ import annotations

import csv
import math
import resource
import signal
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mario_rl.distributed.events import LocalEvents
from mario_rl.metrics.logger import MetricLogger, last_values, read_rows

NAMES = ("steps", "loss", "reward")


def rows_of(path):
    """What an independent reader finds."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_rows_are_on_disk_as_they_are_logged_and_published(tmp_path):
    events = []
    path = tmp_path / "worker_0.csv"
    logger = MetricLogger(path, NAMES, LocalEvents("worker_0", events.append), clock=lambda: 12.3456)
    logger.log({"steps": 64, "loss": 0.123456789})
    assert rows_of(path) == [{"time": "12.346", "steps": "64", "loss": "0.1234568", "reward": ""}]
    logger.log({"steps": 128.0, "loss": math.nan, "reward": math.inf, "secret": 1})
    assert rows_of(path)[1] == {"time": "12.346", "steps": "128", "loss": "", "reward": "inf"}
    assert [event["values"] for event in events] == [
        {"steps": 64, "loss": 0.123456789},
        {"steps": 128, "reward": math.inf},
    ]
    logger.close()
    logger.close()


def test_a_file_is_continued_under_one_header(tmp_path):
    path = tmp_path / "worker_0.csv"
    for steps in (64, 128):
        logger = MetricLogger(path, NAMES)
        logger.log({"steps": steps})
        logger.close()
    assert [row["steps"] for row in rows_of(path)] == ["64", "128"]
    assert path.read_text().count("steps") == 1
    assert last_values(path)["steps"] == 128
    assert last_values(tmp_path / "nothing.csv") == {}


@given(st.integers(0, 200))
@settings(max_examples=60, deadline=None)
def test_a_file_torn_anywhere_is_repaired(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("torn") / "worker_0.csv"
    logger = MetricLogger(path, NAMES, clock=lambda: 1.5)
    for steps in range(64, 64 * 9, 64):
        logger.log({"steps": steps, "reward": -steps})
    logger.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    expected = max(whole[:cut].count(b"\n") - 1, 0)
    assert len(read_rows(path)) == expected

    logger = MetricLogger(path, NAMES, clock=lambda: 1.5)
    logger.log({"steps": 7})
    logger.close()
    assert [row["steps"] for row in rows_of(path)] == [str(64 * n) for n in range(1, expected + 1)] + ["7"]
    assert list(path.parent.iterdir()) == [path]


def test_rows_of_zeros_after_a_power_cut_are_removed(tmp_path):
    path = tmp_path / "worker_0.csv"
    path.write_bytes(b"time,steps,loss,reward\n1.0,64,,\n" + b"\0" * 40 + b"\n2.0,128,,\n3.0,192\n")
    MetricLogger(path, NAMES).close()
    assert [row["steps"] for row in rows_of(path)] == ["64", "128"]


def test_a_killed_writer_leaves_whole_rows_to_the_next(tmp_path):
    path = tmp_path / "worker_0.csv"
    program = (
        "import sys, pathlib; from mario_rl.metrics.logger import MetricLogger\n"
        "logger = MetricLogger(pathlib.Path(sys.argv[1]), ('steps', 'loss'))\n"
        "for steps in range(10**9):\n"
        "    logger.log({'steps': steps, 'loss': -steps})\n"
        "    if steps == 500: print('going', flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE) as writer:
        writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
    MetricLogger(path, ("steps", "loss")).close()
    rows = rows_of(path)
    assert len(rows) > 500
    assert [row["steps"] for row in rows] == [str(steps) for steps in range(len(rows))]
    assert all(int(row["loss"]) == -int(row["steps"]) for row in rows)


def test_a_resumed_run_drops_the_rows_it_will_go_through_again(tmp_path):
    path = tmp_path / "worker_0.csv"
    logger = MetricLogger(path, NAMES)
    for steps in (64, 128, 192, 256):
        logger.log({"steps": steps})
    logger.close()
    logger = MetricLogger(path, NAMES, keep_steps=150)
    logger.log({"steps": 160})
    logger.close()
    assert [row["steps"] for row in rows_of(path)] == ["64", "128", "160"]


def test_other_columns_keep_the_rows(tmp_path):
    path = tmp_path / "worker_0.csv"
    path.write_text("time,loss,steps,gone\n1.5,0.25,64,9\n2.5,,128,9\n")
    logger = MetricLogger(path, NAMES, clock=lambda: 3.5)
    logger.log({"steps": 192, "reward": 1})
    logger.close()
    assert path.read_text() == "time,steps,loss,reward\n1.500,64,0.25,\n2.500,128,,\n3.500,192,,1\n"


def test_a_full_disk_costs_rows_and_is_said_once(tmp_path):
    """A limit on the size of files stands for the full disk: the write that crosses it is cut short, the next fails."""
    events = []
    path = tmp_path / "worker_0.csv"
    logger = MetricLogger(path, NAMES, LocalEvents("worker_0", events.append), clock=lambda: 1.5)
    logger.log({"steps": 1})
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 5, limits[1]))
        for steps in (2, 3, 4):
            logger.log({"steps": steps})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, previous)
    assert logger.failed_writes == 3
    logger.log({"steps": 5})
    logger.close()
    assert [row["steps"] for row in rows_of(path)] == ["1", "5"]
    warnings = [event["text"] for event in events if event["type"] == "log"]
    assert len(warnings) == 1 and "training goes on" in warnings[0]
    assert [event["values"]["steps"] for event in events if event["type"] == "metrics"] == [1, 2, 3, 4, 5]


def test_a_directory_that_is_not_there_is_an_error_at_once(tmp_path):
    with pytest.raises(FileNotFoundError):
        MetricLogger(tmp_path / "nowhere" / "worker_0.csv", NAMES)
