"""What users get wrong: one clear line each, exit code 2, and nothing changed or left behind."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mario_rl.cli import main

TINY = ["--workers", "0", "--lanes", "2", "--hidden", "16", "--collect-steps", "4", "--batch-size", "8"]
TINY += ["--evaluate-every", "0", "--steps", "16"]


@pytest.fixture(scope="module")
def finished_runs(tmp_path_factory: pytest.TempPathFactory, smb_rom: Path) -> Path:
    """A directory with the runs `ppo` and `ddqn`."""
    directory = tmp_path_factory.mktemp("finished") / "checkpoints"
    for model in ("ppo", "ddqn"):
        with pytest.raises(SystemExit) as end:
            main(["train", "--no-ui", "--model", model, "--name", model, "--checkpoints", str(directory), *TINY])
        assert end.value.code == 0
    return directory


@pytest.fixture
def here(tmp_path: Path, finished_runs: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with copies of the runs; whatever goes wrong in it must change nothing."""
    shutil.copytree(finished_runs, tmp_path / "checkpoints")
    monkeypatch.chdir(tmp_path)
    yield tmp_path


def everything_in(directory: Path) -> dict[str, bytes | None]:
    return {str(file): file.read_bytes() if file.is_file() else None for file in sorted(directory.rglob("*"))}


def complaint(arguments: list[str], here: Path, capfd: pytest.CaptureFixture[str]) -> str:
    """The one line that a wrong command ends with."""
    before = everything_in(here)
    capfd.readouterr()
    with pytest.raises(SystemExit) as end:
        main(["train", "--no-ui", *arguments])
    output, errors = capfd.readouterr()
    assert end.value.code == 2, errors
    assert output == ""
    assert errors.startswith("mario-rl: ")
    assert errors.count("\n") == 1
    assert everything_in(here) == before
    return errors


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--resume nowhere", "no run 'nowhere'; the latest in checkpoints/: "),
        ("--resume .", "is not a run: it has no config.yaml"),
        ("--resume checkpoints/ppo/config.yaml", "neither a run's directory nor a checkpoint"),
        ("--resume checkpoints/ppo/checkpoint-7.pt", "no run 'checkpoints/ppo/checkpoint-7.pt'"),
        ("--resume checkpoints/ppo/weights.pt", "cannot be resumed, it is without an optimizer"),
        ("--resume ppo --model ddqn", "--model ddqn does not fit checkpoints/ppo, which has ppo"),
        ("--resume ppo --hidden 32", "--hidden 32 does not fit checkpoints/ppo, which has 16"),
        ("--resume ppo --level 9-9", "unknown level '9-9'"),
        ("--level 1-1,9-9", "unknown level '9-9'"),
        ("--model a3c", "unknown model 'a3c'; use one of ddqn, dreamer, ppo"),
        ("--preset desktop", "unknown preset 'desktop'"),
        ("--steps -5", "--steps is a whole number from 1 on, not -5"),
        ("--workers -1", "--workers is a whole number from 0 on, not -1"),
        ("--lr -1", "--lr is above 0"),
        ("--lr nan", "--lr is a finite number"),
        ("--checkpoint-minutes -1", "--checkpoint-minutes is above 0"),
        ("--steps many", "--steps"),
        ("--device toaster", "--device toaster cannot be used"),
        ("--device meta", "--device meta cannot be used"),
        ("--rom nowhere.nes", "nowhere.nes (from --rom): no such ROM file"),
        ("--rom checkpoints/ppo/config.yaml", "not an NES ROM"),
        ("--name ppo", "checkpoints/ppo exists already; choose another --name, or go on with it"),
        ("--name a/b", "a run's name is a plain directory name"),
        ("--checkpoints checkpoints/ppo/config.yaml", "is not a directory"),
        ("--config nowhere.yaml", "cannot read nowhere.yaml"),
    ],
)
def test_a_wrong_option(arguments: str, words: str, here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert words in complaint(arguments.split(), here, capfd)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a: [1,\n b: }", "is not YAML"),
        ("\0\1\2", "is not YAML"),
        ("- 1\n- 2\n", "should hold lines such as"),
        ("learning_rate: 3", "unknown setting 'learning_rate'"),
        ("lanes: many", "--lanes is a whole number, not 'many'"),
        ("preset: 3", "unknown preset 3"),
        ("steps: -1", "--steps is a whole number from 1 on, not -1"),
    ],
)
def test_a_wrong_settings_file(content: str, words: str, here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "settings.yaml").write_text(content)
    assert words in complaint(["--config", "settings.yaml"], here, capfd)


def test_a_checkpoint_of_another_model(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    shutil.copy("checkpoints/ddqn/checkpoint.pt", "checkpoints/ppo/checkpoint.pt")
    words = complaint(["--resume", "ppo"], here, capfd)
    assert "checkpoints/ppo/checkpoint.pt cannot be resumed, it is of the model ddqn" in words


def test_a_run_whose_settings_are_garbage(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "checkpoints/ppo/config.yaml").write_bytes(b"\xff\xfe: [")
    assert "the run checkpoints/ppo cannot be used" in complaint(["--resume", "ppo"], here, capfd)


def test_other_settings_than_those_a_worker_remembers(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """That is no mistake, but what it remembers is lost, and it says so."""
    with pytest.raises(SystemExit) as end:
        main(["train", "--no-ui", "--resume", "ddqn", "--lanes", "3", "--level", "1-2", "--steps", "60"])
    assert end.value.code == 0
    assert "worker 0 begins anew, what it remembered does not fit" in capfd.readouterr().err
