"""`mario-rl explore` as a user meets it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
import typer
from typer.testing import CliRunner

from mario_rl import cli_explore
from mario_rl.snapshots.replayers import installed_oracles
from mario_rl.snapshots.routes import packaged_route
from tests.test_cli import assert_one_line_of_error, mario_rl


def run_here(*arguments: str) -> tuple[int, str]:
    """In this process: exit code and output."""
    app = typer.Typer()
    app.callback()(lambda: None)
    cli_explore.register(app)
    result = CliRunner().invoke(app, ["explore", *arguments])
    return result.exit_code, result.output


@contextmanager
def under_way(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """A command whose processes have begun to explore; whatever happens, it is gone afterwards."""
    command = [sys.executable, "-m", "mario_rl", "explore", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    explorers: list[psutil.Process] = []
    try:
        deadline = time.monotonic() + 60
        while not explorers and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
            explorers = [
                child
                for child in psutil.Process(process.pid).children()
                if "spawn_main" in " ".join(child.cmdline()) and child.cpu_times().user > 1.0
            ]
        yield process, explorers
    finally:
        process.kill()
        process.communicate()
        for explorer in explorers:
            with suppress(psutil.NoSuchProcess):
                explorer.kill()


def gone(processes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=10)
    return not alive


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "--level"),
        (["--level", "1-1", "--all"], "--level"),
        (["--all", "--verify", "routes"], "--verify"),
        (["--level", "9-1"], "9-1"),
        (["--level", "1-1", "--json", "/nowhere/at/all.json"], "/nowhere/at"),
        (["--level", "1-1", "--rom", "/nowhere/game.nes"], "/nowhere/game.nes"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], word: str, tmp_path: Path, smb_rom: Path) -> None:
    assert_one_line_of_error(mario_rl("explore", "-o", str(tmp_path / "routes"), *arguments), word)
    assert list(tmp_path.iterdir()) == []


def test_it_finds_a_way_and_says_so(tmp_path: Path, smb_rom: Path) -> None:
    result = mario_rl("explore", "--level", "3-4", "-o", str(tmp_path), "--no-pictures", "--json", "-")
    assert result.returncode == 0, result
    figures = json.loads(result.stdout)
    assert (figures["found"], figures["verified"], list(figures["levels"])) == (1, 1, ["3-4"])
    level = figures["levels"]["3-4"]
    assert level["found"] is True and level["verified"] is True
    assert level["verified_on"] == ["embedded", *installed_oracles()] and "cynes" in level["verified_on"]
    assert all(level[name] > 0 for name in ("frames", "cpu_s", "route_steps", "clock_left"))
    assert [file.name for file in tmp_path.iterdir()] == ["3-4.json"]
    assert "1/1 3-4  found after" in result.stderr and "1 verified" in result.stderr


def test_what_was_not_found_in_time_is_named(tmp_path: Path, smb_rom: Path) -> None:
    file = tmp_path / "figures.json"
    output = ["-o", str(tmp_path / "routes"), "--json", str(file)]
    result = mario_rl("explore", "--level", "8-4,8-1", "--minutes", "0.01", *output)
    assert result.returncode == 1
    assert "not found    8-1, 8-4" in result.stdout
    figures = json.loads(file.read_text())
    assert (figures["found"], figures["verified"], sorted(figures["levels"])) == (0, 0, ["8-1", "8-4"])
    assert list((tmp_path / "routes").iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_it_cleanly(number: signal.Signals, tmp_path: Path, smb_rom: Path) -> None:
    arguments = ["--level", "8-4,8-1", "--processes", "2", "-o", str(tmp_path), "--json", "-"]
    with under_way(*arguments) as (process, explorers):
        assert explorers
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        assert process.returncode == 130
        assert gone(explorers)
    assert "Traceback" not in err
    assert "interrupted" in err and "not found    8-1, 8-4" in err
    assert json.loads(out)["interrupted"] is True
    assert list(tmp_path.iterdir()) == []


def test_nothing_survives_a_kill_of_the_command(tmp_path: Path, smb_rom: Path) -> None:
    with under_way("--level", "8-4,8-1", "--processes", "2", "-o", str(tmp_path)) as (process, explorers):
        assert explorers
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert gone(explorers)


def test_without_other_emulators_it_says_so_and_claims_nothing(
    tmp_path: Path, smb_rom: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cynes", None)
    monkeypatch.setenv("MARIO_RL_MEDNAFEN", "/nowhere")
    packaged_route("1-4").save(tmp_path / "1-4.json")
    code, output = run_here("--verify", str(tmp_path / "1-4.json"), "--json", str(tmp_path / "figures.json"))
    assert code == 1
    assert "pip install cynes" in output and "not verified 1-4" in output
    level = json.loads((tmp_path / "figures.json").read_text())["levels"]["1-4"]
    assert level["found"] is True and level["verified"] is False and level["verified_on"] == ["embedded"]


def test_without_pillow_there_are_no_pictures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli_explore._can_draw(sys.stdout)
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert not cli_explore._can_draw(sys.stdout)
    assert "no maps and videos without pillow: pip install 'mario-rl[train]'" in capsys.readouterr().out


def test_verify_needs_routes(tmp_path: Path, smb_rom: Path) -> None:
    assert_one_line_of_error(mario_rl("explore", "--verify", str(tmp_path)), "has no routes")
    (tmp_path / "1-1.json").write_text("{}")
    assert_one_line_of_error(mario_rl("explore", "--verify", str(tmp_path)), "1-1.json is no route")


def test_on_a_terminal_there_is_a_sign_of_life() -> None:
    from mario_rl.snapshots.survey import Finding, Sign

    class Terminal:
        written = ""

        def isatty(self) -> bool:
            return True

        def write(self, text: str) -> None:
            self.written += text

        def flush(self) -> None:
            pass

    terminal = Terminal()
    progress = cli_explore._Progress(2, terminal)  # type: ignore[arg-type]
    progress.show(Sign("8-4", "exploring", 120_000))
    assert terminal.written.endswith("0/2 done, 0 s: 8-4 exploring 120,000")
    progress.show(Finding("8-4", found=True, frames=5, route_steps=7))
    assert "1/2 8-4  found after" in terminal.written
    assert terminal.written.endswith("1/2 done, 0 s: ")
