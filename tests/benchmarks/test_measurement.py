"""The benchmark's arithmetic and its worker protocol, on figures and processes made up here."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import smb_run
from benchmarks.measurement import System, publish, ratio
from benchmarks.worker import Worker, WorkerFailed, timed


def answers(*rates: float) -> list[dict[str, float]]:
    return [{"units": rate * 2, "cpu_s": 2.0, "wall_s": 4.0} for rate in rates]


def test_ratio_is_the_median_of_the_rounds() -> None:
    # The third round fell into a busy moment for both; the ratio of that round does not suffer from it.
    assert ratio([100.0, 110.0, 10.0], [10.0, 10.0, 1.0]) == 10.0
    assert ratio([], [1.0]) is None


def test_summary_gives_both_clocks() -> None:
    system = System("x", "python", "x", ["ram"], worker=object(), answers={"ram": answers(5, 1, 3)})  # type: ignore[arg-type]
    assert system.summary()["ram"] == {"per_cpu_second": 3.0, "per_second": 1.5, "rounds": 3}
    assert System("x", "python", "x", ["ram"]).summary() == {"available": False}


def test_a_missing_ratio_is_visible_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    report = {"systems": {"mario-rl": {"available": True}}, "ratios": {"a_vs_b": None, "c_vs_d": 2.0}}
    assert publish(report, "-") == 1
    printed = capsys.readouterr()
    assert json.loads(printed.out) == report, "stdout is the JSON object and nothing else"
    assert "not measured: a_vs_b" in printed.err


def test_json_goes_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = {"systems": {}, "ratios": {"c_vs_d": 2.0}}
    assert publish(report, str(tmp_path / "figures.json")) == 0
    assert json.loads((tmp_path / "figures.json").read_text()) == report
    assert "c_vs_d" in capsys.readouterr().out


def test_a_worker_that_cannot_start_says_so() -> None:
    with pytest.raises(WorkerFailed, match="exit code 1"):
        Worker(sys.executable, "no_such_worker")


def test_timed_counts_whole_units() -> None:
    answer = timed(lambda: 7, seconds=0.01)
    assert answer["units"] % 7 == 0
    assert answer["wall_s"] >= 0.01
    assert answer["cpu_s"] >= 0


def test_the_run_is_the_same_every_time_and_runs_right() -> None:
    pads = smb_run.pads_of_the_run()
    assert pads == smb_run.pads_of_the_run()
    assert len(pads) * smb_run.FRAMES_PER_PAD == smb_run.RUN_FRAMES
    assert all(pad & smb_run.RIGHT and pad & smb_run.B for pad in pads)
    assert any(pad & smb_run.A for pad in pads)


def test_our_worker_measures_the_run(smb_rom: Path) -> None:
    worker = Worker(sys.executable, "mario_rl_console", str(smb_rom))
    try:
        for measurement in ("ram", "render"):
            answer = worker.ask(measurement, seconds=0.01)
            assert answer["units"] > 0
            assert answer["units"] % smb_run.FRAMES_PER_PAD == 0
        assert worker.ask("save_load")["microseconds"] > 0
    finally:
        worker.close()
