"""evaluate, record and plot as a user calls them; each mistake is one line and exit code 2."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from mario_rl import cli
from mario_rl.config import TrainingConfig
from mario_rl.runs.checkpoint import load_checkpoint, save_checkpoint, save_run_checkpoint
from mario_rl.runs.directory import RunDirectory
from mario_rl.runs.trained_model import load_trained_model
from tests.runs.players import make_run, weights


@pytest.fixture
def run(tmp_path: Path, smb_rom: Path, monkeypatch: pytest.MonkeyPatch) -> RunDirectory:
    monkeypatch.chdir(tmp_path)
    run = make_run(Path("checkpoints"), "mine")
    run.begin()
    run.finish("SUCCESS", "done", steps=5000, minutes_trained=2.5, steps_to_first_flag=400, minutes_to_first_flag=0.5)
    return run


def mario_rl(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ending:
        cli.main(list(arguments))
    assert isinstance(ending.value.code, int)
    return ending.value.code


# --- evaluate -----------------------------------------------------------------------------------------------------


def test_evaluate_gives_exactly_the_documented_json(run: RunDirectory, capfd: pytest.CaptureFixture[str]) -> None:
    assert mario_rl("evaluate", "mine", "--episodes", "3", "--json", "-") == 0
    shown = capfd.readouterr().out
    figures = json.loads(shown)
    assert list(figures) == [
        "level",
        "model",
        "protocols",
        "steps_trained",
        "minutes_trained",
        "steps_to_first_flag",
        "minutes_to_first_flag",
    ]
    assert list(figures["protocols"]) == ["stochastic", "greedy", "sticky"]
    for protocol in figures["protocols"].values():
        assert list(protocol) == ["episodes", "successes", "rate", "low", "high", "mean_x", "mean_steps"]
        assert protocol["episodes"] == 3
    assert (figures["level"], figures["model"]) == ("1-1", "ddqn")
    assert (figures["steps_trained"], figures["minutes_trained"]) == (5000, 2.5)
    assert (figures["steps_to_first_flag"], figures["minutes_to_first_flag"]) == (400, 0.5)
    assert json.loads(run.evaluation_json.read_text()) == figures


def test_evaluate_on_another_level_is_kept_apart(run: RunDirectory, capfd: pytest.CaptureFixture[str]) -> None:
    assert mario_rl("evaluate", "mine", "--episodes", "2", "--level", "1-2", "--json", "figures.json") == 0
    assert not run.evaluation_json.exists()
    assert json.loads((run.path / "evaluation-1-2.json").read_text())["level"] == "1-2"
    assert json.loads(Path("figures.json").read_text())["level"] == "1-2"
    shown = capfd.readouterr().out
    for words in (
        "level 1-2",
        "stochastic policy",
        "greedy, sticky 0.25",
        "0/2",
        "0.0% to 65.8%",
        "weights.pt after 1,000",
    ):
        assert words in shown


def test_evaluate_without_a_status_says_what_it_knows(run: RunDirectory, capfd: pytest.CaptureFixture[str]) -> None:
    run.status_json.unlink()
    assert mario_rl("evaluate", "mine", "--episodes", "1", "--json", "-") == 0
    figures = json.loads(capfd.readouterr().out)
    assert (figures["steps_trained"], figures["minutes_trained"]) == (1000, None)


# --- which weights ------------------------------------------------------------------------------------------------


def test_the_best_weights_come_first(run: RunDirectory) -> None:
    config = run.config()
    save_run_checkpoint(run, weights(config, steps=3000), keep=1)
    assert load_trained_model(run).file == run.weights_pt
    save_checkpoint(run.best_pt, weights(config, steps=2000, seed=1))
    best = load_trained_model(run)
    assert (best.file, best.steps) == (run.best_pt, 2000)
    stored = load_checkpoint(run.best_pt)["model"]
    assert all(torch.equal(tensor, stored[name]) for name, tensor in best.model.state_dict().items())
    assert load_trained_model(run, "latest").file == run.weights_pt
    assert load_trained_model(RunDirectory.open(run.checkpoint_pt)).steps == 3000


def test_damaged_weights_are_passed_over_and_named(run: RunDirectory, capfd: pytest.CaptureFixture[str]) -> None:
    save_run_checkpoint(run, weights(run.config(), steps=3000), keep=1)
    run.best_pt.write_bytes(b"nonsense")
    run.weights_pt.write_bytes(run.weights_pt.read_bytes()[:-1])
    assert mario_rl("evaluate", "mine", "--episodes", "1") == 0
    shown = capfd.readouterr()
    assert "checkpoint.pt after 3,000 steps" in shown.out
    assert "best.pt is not a checkpoint" in shown.err
    assert "weights.pt is damaged" in shown.err


# --- record and plot ----------------------------------------------------------------------------------------------


def test_record_writes_both_videos_into_the_run(run: RunDirectory, capfd: pytest.CaptureFixture[str]) -> None:
    assert mario_rl("record", "mine", "--episodes", "1") == 0
    assert {path.name for path in run.videos.iterdir()} == {"1-1.mp4", "1-1.gif"}
    shown = capfd.readouterr().out
    assert "not at the flag, x " in shown
    assert "1-1.mp4 (" in shown


def test_record_where_it_is_told_to(run: RunDirectory) -> None:
    assert mario_rl("record", "mine", "--episodes", "1", "-o", "death.gif", "--level", "1-3", "--sticky", "0.25") == 0
    assert Path("death.gif").read_bytes().startswith(b"GIF89a")
    assert not run.videos.exists()


def test_plot_prints_its_file(run: RunDirectory, capfd: pytest.CaptureFixture[str]) -> None:
    run.coordinator_csv.write_text("time,steps,loss\n1,2,3\n2,4,3\n")
    assert mario_rl("plot", "mine") == 0
    assert capfd.readouterr().out == "checkpoints/mine/plots/training.png\n"


# --- mistakes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["evaluate", "other"], ["no run 'other'", "mine"]),
        (["evaluate", "checkpoints"], ["not a run", "mine"]),
        (["evaluate", "mine", "--level", "9-9"], ["unknown level '9-9'"]),
        (["evaluate", "mine", "--sticky", "1.5"], ["--sticky"]),
        (["evaluate", "mine", "--episodes", "0"], ["episodes"]),
        (["evaluate", "mine", "--weights", "best"], ["no best.pt", "--weights latest"]),
        (["evaluate", "mine", "--weights", "worst"], ["worst"]),
        (["evaluate", "mine", "--json", "nowhere/x.json"], ["nowhere", "no such directory"]),
        (["evaluate", "checkpoints/mine/best.pt"], ["best.pt"]),
        (["watch", "other"], ["no run 'other'"]),
        (["watch", "mine"], ["needs a screen or a terminal"]),
        (["record", "mine", "-o", "x.avi"], [".mp4 or .gif"]),
        (["record", "mine", "-o", "nowhere/x.mp4"], ["nowhere", "no such directory"]),
        (["plot", "mine"], ["nothing to plot"]),
        (["plot", "mine", "-o", "x.jpg"], [".png"]),
        (["plot", "mine", "-o", "nowhere/x.png"], ["nowhere", "no such directory"]),
    ],
    ids=lambda part: " ".join(part),
)
def test_mistakes(
    arguments: list[str],
    words: list[str],
    run: RunDirectory,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    before = sorted(Path().rglob("*"))
    assert mario_rl(*arguments) == 2
    shown = capfd.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("mario-rl: ")
    assert shown.err.count("\n") == 1, shown.err
    for word in words:
        assert word in shown.err
    assert sorted(Path().rglob("*")) == before, "a mistake leaves nothing behind"


def test_weights_of_another_run_are_refused(run: RunDirectory, capfd: pytest.CaptureFixture[str]) -> None:
    other = make_run(Path("checkpoints"), "other", model="ppo")
    shutil.copy(other.weights_pt, run.weights_pt)
    assert mario_rl("evaluate", "mine") == 2
    assert "trained with model ppo, but the run's config.yaml says ddqn" in capfd.readouterr().err
    state = load_checkpoint(other.weights_pt)
    del state["config"]
    save_checkpoint(run.weights_pt, state)
    assert mario_rl("evaluate", "mine") == 2
    assert "does not fit the model ddqn" in capfd.readouterr().err


def test_a_run_without_weights(run: RunDirectory, capfd: pytest.CaptureFixture[str]) -> None:
    run.weights_pt.unlink()
    assert mario_rl("evaluate", "mine") == 2
    assert "has no weights that can be used" in capfd.readouterr().err
    save_checkpoint(run.weights_pt, {"steps": 3})
    assert mario_rl("evaluate", "mine") == 2
    assert "weights.pt holds no weights" in capfd.readouterr().err


def test_ctrl_c_is_a_quiet_end(run: RunDirectory) -> None:
    """In a real process, while it evaluates: exit code 130, one line, nothing saved."""
    command = [sys.executable, "-m", "mario_rl", "evaluate", "mine", "--episodes", "100000"]
    terminal, screen = os.openpty()  # so that progress is shown, from which we know that it has begun
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=screen, start_new_session=True)
    os.close(screen)
    try:
        seen = b""
        while b"of 100000 episodes" not in seen:
            seen += os.read(terminal, 1000)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        while b"interrupted" not in seen:
            seen += os.read(terminal, 1000)
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in seen
    assert not run.evaluation_json.exists()


def test_config_of_a_run_is_what_was_trained(run: RunDirectory) -> None:
    assert run.config() == TrainingConfig(hidden=8, name="mine")


# --- make train ---------------------------------------------------------------------------------------------------


def test_make_train_leaves_what_it_promises(tmp_path: Path, smb_rom: Path) -> None:
    """The commands of the Makefile one after the other, with a training that takes a moment."""
    source_tree = Path(__file__).resolve().parents[2]
    dry = ["make", "--dry-run", "--no-print-directory", "-C", str(source_tree), "train", "RUN=mine"]
    recipe = subprocess.run(dry, capture_output=True, text=True, check=True).stdout
    commands = [line.split("mario-rl ", 1)[1] for line in recipe.splitlines() if line.startswith(".venv/bin/mario-rl")]
    assert [command.split()[0] for command in commands] == ["train", "evaluate", "plot", "record"]
    tiny = "--steps 512 --workers 0 --lanes 8 --collect-steps 32 --hidden 8"
    for command in commands:
        words = command.replace("--preset laptop", tiny).replace("--episodes 100", "--episodes 2").split()
        done = subprocess.run([sys.executable, "-m", "mario_rl", *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}: {done.stderr}"
    run = tmp_path / "checkpoints" / "mine"
    left = {str(file.relative_to(run)) for file in run.rglob("*")}
    assert {"evaluation.json", "plots/training.png", "videos/1-1.mp4", "videos/1-1.gif"} <= left
