"""`mario-rl selfplay train` as a user calls it: both kinds of agents, from the first line to the player."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mario_rl import cli
from mario_rl.selfplay.players import ButtonPlayer, make_player

PLACEMENT = ["--envs", "8", "--rollout", "128", "--batch-size", "64", "--hidden", "8", "--value-hidden", "8"]
PLACEMENT += ["--level", "0", "--evaluate-every", "0"]
FRAMES = ["--env", "frames", "--level", "0", "--imitation-rounds", "2", "--imitation-lanes", "8", "--width", "8"]
FRAMES += ["--envs", "2", "--n-steps", "16", "--batch-size", "8", "--epochs", "1"]


def mario_rl(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ending:
        cli.main(list(arguments))
    assert isinstance(ending.value.code, int)
    return ending.value.code


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_run_of_placements_and_what_is_said_of_it(capfd: pytest.CaptureFixture[str]) -> None:
    assert mario_rl("selfplay", "train", *PLACEMENT, "--steps", "300", "--name", "mine") == 0
    said = capfd.readouterr()
    assert "SUCCESS: all decisions made" in said.out
    assert "mario-rl selfplay evaluate checkpoints/mine search" in said.out
    assert "decisions" in said.err
    assert mario_rl("selfplay", "evaluate", "mine", "random", "--games", "4", "--level", "0", "--json", "-") == 0
    figures = json.loads(capfd.readouterr().out)
    assert (figures["a"], figures["b"], figures["games"]) == ("mine", "random", 4)

    assert mario_rl("selfplay", "train", "--resume", "mine", "--steps", "600") == 0
    assert json.loads(Path("checkpoints/mine/status.json").read_text())["steps"] >= 600

    assert mario_rl("selfplay", "train", "--resume", "mine", "--hidden", "16") == 2
    assert "--hidden 16 does not fit checkpoints/mine, which has 8: leave it out" in capfd.readouterr().err
    assert mario_rl("selfplay", "train", *PLACEMENT, "--name", "mine") == 2
    advice = (
        "checkpoints/mine exists already; choose another --name, or go on with it: mario-rl selfplay train --resume"
    )
    assert advice in capfd.readouterr().err


def test_minutes_end_a_run(capfd: pytest.CaptureFixture[str]) -> None:
    assert mario_rl("selfplay", "train", *PLACEMENT, "--minutes", "0.01", "--name", "short") == 0
    assert "SUCCESS: the time is over" in capfd.readouterr().out


def test_a_run_of_buttons(capfd: pytest.CaptureFixture[str]) -> None:
    assert mario_rl("selfplay", "train", *FRAMES, "--steps", "32", "--name", "buttons") == 0
    assert "SUCCESS" in capfd.readouterr().out
    assert isinstance(make_player("buttons"), ButtonPlayer)
    assert mario_rl("selfplay", "train", "--resume", "buttons", "--steps", "96") == 0
    assert json.loads(Path("checkpoints/buttons/status.json").read_text())["steps"] >= 96
    capfd.readouterr()
    assert mario_rl("selfplay", "evaluate", "buttons", "--games", "2", "--level", "0", "--json", "-") == 0
    assert json.loads(capfd.readouterr().out)["games"] == 2


def test_a_run_of_another_kind_is_not_taken_for_one(capfd: pytest.CaptureFixture[str]) -> None:
    other = Path("checkpoints/mario")
    other.mkdir(parents=True)
    (other / "config.yaml").write_text("model: ppo\n")
    assert mario_rl("selfplay", "train", "--resume", "mario") == 2
    assert "is no run of self-play" in capfd.readouterr().err
