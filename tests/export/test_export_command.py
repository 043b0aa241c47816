"""`mario-rl export` as a user calls it; each mistake is one line and exit code 2, and leaves nothing behind."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mario_rl.export import folder as folders
from mario_rl.export import mario
from mario_rl.export.folder import new_folder, read_facts, write_facts
from mario_rl.export.onnx_file import OnnxMismatch
from mario_rl.runs.directory import RunDirectory, RunError
from tests.export.conftest import shaken_run


@pytest.fixture
def run(tmp_path: Path, smb_rom: Path, monkeypatch: pytest.MonkeyPatch) -> RunDirectory:
    monkeypatch.chdir(tmp_path)
    return shaken_run(Path("checkpoints"), "mine", "ddqn")


def test_a_run_becomes_a_folder_and_again(
    run: RunDirectory,
    mario_rl: Callable[..., int],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mario, "TAKES", 1)
    assert mario_rl("export", "mine", "--hub-folder", "hub", "--episodes", "2") == 0
    said = capfd.readouterr()
    assert "policy.onnx agrees: 512 observations" in said.out
    assert "hub/replay.mp4 (" in said.out
    assert "hf upload <you>/hub hub" in said.out
    assert said.err == ""
    monkeypatch.setattr(mario, "_write_policy", lambda building, trained: mario.Agreement(512, 0.0, 0))
    assert mario_rl("export", "mine", "--hub-folder", "hub", "--no-video") == 0
    assert not Path("hub/replay.mp4").exists(), "it is the new export, and nothing of the one before"
    assert json.loads(Path("hub/evaluation.json").read_text())["protocols"]["greedy"]["episodes"] == 2


def test_mistakes(
    run: RunDirectory, mario_rl: Callable[..., int], capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    Path("full").mkdir()
    Path("full/letter.txt").write_text("dear")
    Path("file").write_text("")
    Path("bare").mkdir()
    empty = RunDirectory.create("checkpoints", "empty", run.config())
    damaged = shaken_run(Path("checkpoints"), "damaged", "ddqn")
    damaged.weights_pt.write_bytes(b"nonsense")
    before = sorted(tmp_path.rglob("*"))
    hub = ["--hub-folder", "hub"]
    for arguments, words in {
        ("mine",): ["nothing to do", "--hub-folder", "--wandb"],
        ("nobody", *hub): ["no run 'nobody'", "mine"],
        ("bare", *hub): ["bare is not a run"],
        ("greedy", *hub): ["no run 'greedy'"],
        (str(empty.path), *hub): ["has no weights that can be used"],
        (str(damaged.path), *hub): ["has no weights that can be used", "not a checkpoint"],
        (str(damaged.weights_pt), *hub): ["not a checkpoint of mario-rl"],
        ("mine", *hub, "--weights", "best"): ["no best.pt", "--weights latest"],
        ("mine", *hub, "--games", "4"): ["--games: only for players of self-play"],
        ("mine", *hub, "--games", "3"): ["--games 3 is odd"],
        ("champion", *hub, "--episodes", "4"): ["--episodes: only for runs of Super Mario Bros."],
        ("champion", "--wandb", "mario"): ["champion is a player without a run", "--wandb"],
        ("mine", "--wandb", "mario"): ["has no curves"],
        ("mine", "--hub-folder", "full"): ["full is not empty and no export of mario-rl"],
        ("mine", "--hub-folder", "file"): ["file is a file"],
        ("mine", "--hub-folder", "no/where"): ["no such directory for the folder where"],
        ("mine", "--hub-folder", str(run.path)): ["not empty and no export"],
    }.items():
        assert mario_rl("export", *arguments) == 2, arguments
        shown = capfd.readouterr()
        assert shown.out == ""
        assert shown.err.startswith("mario-rl: ") and shown.err.count("\n") == 1, shown.err
        for word in words:
            assert word in shown.err
        assert sorted(tmp_path.rglob("*")) == before, "a mistake leaves nothing behind"


@pytest.mark.parametrize("package", ["onnx", "onnxruntime", "onnxscript", "sb3_contrib"])
def test_a_missing_package(
    package: str,
    run: RunDirectory,
    mario_rl: Callable[..., int],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == package else found(name, *rest)
    )
    assert mario_rl("export", "mine", "--hub-folder", "hub") == 2
    assert capfd.readouterr().err == f"mario-rl: {package} is not installed: pip install 'mario-rl[export]'\n"
    assert not Path("hub").exists()


@pytest.mark.parametrize(
    ("trouble", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (OnnxMismatch("policy.onnx is another policy"), 2, "policy.onnx is another policy"),
        (OSError(28, "No space left on device"), 2, "cannot write hub: No space left on device"),
    ],
    ids=["Ctrl-C", "another policy", "a full disk"],
)
def test_an_export_that_is_broken_off_leaves_nothing(
    trouble: BaseException,
    code: int,
    said: str,
    run: RunDirectory,
    mario_rl: Callable[..., int],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    def broken(file: Path, samples: object) -> None:
        assert file.is_file(), "it was in the middle of it"
        raise trouble

    monkeypatch.setattr(mario, "write_onnx", lambda file, policy, example: file.write_bytes(b"something"))
    monkeypatch.setattr(mario, "check_onnx", broken)
    before = sorted(tmp_path.rglob("*"))
    assert mario_rl("export", "mine", "--hub-folder", "hub") == code
    shown = capfd.readouterr()
    assert said in shown.err and shown.err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


# --- the folder ---------------------------------------------------------------------------------------------------


def make_export(place: Path, text: str) -> None:
    with new_folder(place) as building:
        (building / "README.md").write_text(text)
        write_facts(building, {"version": "1"})


def test_an_export_takes_the_place_of_an_export_and_of_nothing_else(tmp_path: Path) -> None:
    place = tmp_path / "hub"
    place.mkdir()  # an empty one is as good as none
    make_export(place, "one")
    make_export(place, "two")
    assert (place / "README.md").read_text() == "two"
    assert read_facts(place)["files"] == ["README.md"]
    (place / "notes.txt").write_text("mine")
    with pytest.raises(RunError, match=r"holds notes\.txt, which is not of an export"):
        make_export(place, "three")
    assert (place / "README.md").read_text() == "two"
    assert list(tmp_path.iterdir()) == [place]


def test_until_it_is_complete_the_one_before_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "hub"
    make_export(place, "one")
    with pytest.raises(KeyboardInterrupt), new_folder(place) as building:
        (building / "README.md").write_text("two")
        assert (place / "README.md").read_text() == "one"
        raise KeyboardInterrupt
    assert (place / "README.md").read_text() == "one"
    rename = Path.rename

    def full(self: Path, target: Path) -> Path:
        if target == place and self.suffix == ".tmp":
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(RunError, match="No space left"):
        make_export(place, "three")
    assert (place / "README.md").read_text() == "one"
    assert list(tmp_path.iterdir()) == [place]


def test_what_a_killed_export_left_goes_with_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left, other = tmp_path / ".hub.12345.tmp", tmp_path / ".hub.777.tmp"
    left.mkdir()
    other.mkdir()
    monkeypatch.setattr(folders.psutil, "pid_exists", lambda process: process == 777)
    make_export(tmp_path / "hub", "one")
    assert not left.exists()
    assert other.exists(), "somebody is still at it"
