"""Players of self-play as folders: the same decisions in ONNX, in Stable-Baselines3, and in mario-rl."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO

from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.environment.drmario.observation import falling
from mario_rl.environment.drmario.rules import RulesBatch
from mario_rl.export import drmario
from mario_rl.export.drmario import export_drmario, find_player, is_player
from mario_rl.export.drmario_policies import policy_of, samples_of
from mario_rl.export.onnx_file import OnnxMismatch, Sample, check_onnx, write_onnx
from mario_rl.export.options import ExportOptions
from mario_rl.export.stable_baselines import check_zip, write_zip
from mario_rl.runs.directory import RunDirectory, RunError
from mario_rl.selfplay.frames.network import make_network
from mario_rl.selfplay.frames.player import FramesPlayer
from mario_rl.selfplay.placement_player import PlacementPlayer
from mario_rl.selfplay.players import make_player
from mario_rl.selfplay.scorer import ScorerPolicy, seen_bytes
from tests.export.conftest import assert_names_nobody, small_player

CHECKPOINTS = Path("checkpoints")
FILES = {"README.md", "config.yaml", "evaluation.json", "export.json", "policy.onnx", "sb3.zip", "weights.pt"}


@dataclasses.dataclass
class Export:
    player: PlacementPlayer | FramesPlayer
    folder: Path
    samples: list[Sample]


@pytest.fixture(scope="module")
def champion(tmp_path_factory: pytest.TempPathFactory) -> Export:
    folder = tmp_path_factory.mktemp("champion") / "hub"
    found = find_player("champion", CHECKPOINTS)
    export_drmario(found, folder, ExportOptions(count=4, video=False))
    return Export(found.player, folder, samples_of(found.player))


@pytest.fixture(scope="module")
def buttons(tmp_path_factory: pytest.TempPathFactory) -> Export:
    place = tmp_path_factory.mktemp("buttons")
    torch.manual_seed(0)
    player = FramesPlayer(make_network("landing", 8, 8.0), "mine", card={"trained": "not at all", "steps": 0})
    player.save(place / "mine.pt")
    export_drmario(find_player(str(place / "mine.pt"), CHECKPOINTS), place / "hub", ExportOptions(count=2, video=False))
    return Export(player, place / "hub", samples_of(player))


def examples(folder: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", (folder / "README.md").read_text(), re.DOTALL | re.MULTILINE)


# --- who chooses placements ---------------------------------------------------------------------------------------


def test_the_champion_in_onnx_decides_as_the_player(champion: Export) -> None:
    found = check_onnx(champion.folder / "policy.onnx", champion.samples)
    assert found.observations >= 500
    assert found.largest_difference < 1e-9
    assert found.ties == 0


def test_the_champion_in_sb3_predicts_what_the_player_decides(champion: Export) -> None:
    assert check_zip(champion.folder / "sb3.zip", champion.player, champion.samples) >= 500
    model = MaskablePPO.load(champion.folder / "sb3.zip", device="cpu")
    same = 0
    for sample in champion.samples:
        rows = sample.inputs["prospects"].reshape(sample.rows, -1)
        seen = np.concatenate([rows, sample.inputs["situation"]], axis=1)
        chosen, _ = model.predict(seen, action_masks=sample.inputs["possible"], deterministic=True)
        same += int((chosen == sample.choices["log_probabilities"]).sum())
    assert same == sum(sample.rows for sample in champion.samples)


def test_sb3_needs_nothing_of_mario_rl(champion: Export, tmp_path: Path) -> None:
    """In a process that cannot import it, the file gives the same answers."""
    sample = champion.samples[0]
    rows = sample.inputs["prospects"].reshape(sample.rows, -1)
    np.save(tmp_path / "seen.npy", np.concatenate([rows, sample.inputs["situation"]], axis=1))
    np.save(tmp_path / "masks.npy", sample.inputs["possible"])
    script = """
import sys
sys.modules["mario_rl"] = None  # what an import then says: not there
import numpy as np
from sb3_contrib import MaskablePPO
model = MaskablePPO.load(sys.argv[1], device="cpu")
chosen, _ = model.predict(np.load("seen.npy"), action_masks=np.load("masks.npy"), deterministic=True)
print(chosen.tolist())
"""
    command = [sys.executable, "-c", script, str(champion.folder / "sb3.zip")]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert json.loads(said) == sample.choices["log_probabilities"].tolist()


def test_with_mario_rl_the_class_in_the_file_is_not_needed(champion: Export) -> None:
    """What the card advises under another Python."""
    model = MaskablePPO.load(champion.folder / "sb3.zip", device="cpu", custom_objects={"policy_class": ScorerPolicy})
    assert type(model.policy) is ScorerPolicy
    sample = champion.samples[0]
    rows = sample.inputs["prospects"].reshape(sample.rows, -1)
    seen = np.concatenate([rows, sample.inputs["situation"]], axis=1)
    chosen, _ = model.predict(seen, action_masks=sample.inputs["possible"], deterministic=True)
    assert (chosen == sample.choices["log_probabilities"]).all()


def test_the_weights_are_the_same_player(champion: Export) -> None:
    again = make_player(str(champion.folder / "weights.pt"))
    assert isinstance(again, PlacementPlayer)
    assert isinstance(champion.player, PlacementPlayer)
    for name, values in champion.player.scorer.state_dict().items():
        assert torch.equal(again.scorer.state_dict()[name], values)


def test_the_card_of_the_champion(
    champion: Export, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert {file.name for file in champion.folder.iterdir()} == FILES
    assert_names_nobody(champion.folder, str(champion.folder.parent))
    _, front, body = (champion.folder / "README.md").read_text().split("---\n", 2)
    metadata = yaml.safe_load(front)
    assert metadata["library_name"] == "stable-baselines3"
    (entry,) = metadata["model-index"]
    assert [result["metrics"][0]["type"] for result in entry["results"]] == ["clear_rate", "score", "score"]
    for words in (
        "mario-rl selfplay train --preset laptop",
        "mario-rl selfplay evaluate weights.pt search --games 4 --level 10 --speed med --backend rules --seed 0",
        "| against greedy | Dr. Mario, level 10 MED |",
        "boards 0 to 3",
        "26,837,065 decisions in 25 minutes",
        "mario-rl need not be installed",
        "No ROM is included",
    ):
        assert words in body
    monkeypatch.chdir(champion.folder)
    played: dict[str, object] = {}
    for code in examples(champion.folder):
        exec(code, played)
    assert played["waiting"] == [0], "the example plays a round to its end"
    assert 20 < int(str(played["capsules"])) < 300
    assert capfd.readouterr().out.startswith("clear after ")


def test_the_observation_of_sb3_is_what_the_policy_learned_from(champion: Export) -> None:
    games, first = RulesBatch(1), np.zeros(1, np.int32)
    games.reset(seeds=2, levels=5)
    games.skip_intro()
    games.next_decision()
    prospects = games.prospects(first, first)
    expected = np.concatenate([prospects.features.reshape(1, -1), prospects.situations], axis=1)
    assert (seen_bytes(prospects) == expected).all()


def test_another_player_is_noticed(champion: Export, tmp_path: Path) -> None:
    other = small_player(tmp_path / "other.pt")
    with pytest.raises(OnnxMismatch, match="another policy"):
        check_onnx(champion.folder / "policy.onnx", samples_of(other))
    write_zip(tmp_path / "other.zip", other, 0)
    with pytest.raises(RunError, match=r"other\.zip plays otherwise than the player"):
        check_zip(tmp_path / "other.zip", champion.player, champion.samples)


def test_matches_of_the_same_weights_are_not_played_again(champion: Export, monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_player("champion", CHECKPOINTS)
    before = json.loads((champion.folder / "evaluation.json").read_text())
    monkeypatch.setattr(drmario, "play_match", None)
    assert drmario._figures(found, Path("weights.pt"), champion.folder, ExportOptions()) == before
    with pytest.raises(TypeError):
        drmario._figures(found, Path("weights.pt"), champion.folder, ExportOptions(count=6))


# --- who presses buttons ------------------------------------------------------------------------------------------


def test_buttons_in_onnx_and_sb3(buttons: Export) -> None:
    found = check_onnx(buttons.folder / "policy.onnx", buttons.samples)
    assert found.observations >= 200
    assert found.largest_difference < 1e-4
    assert check_zip(buttons.folder / "sb3.zip", buttons.player, buttons.samples) == found.observations
    model = PPO.load(buttons.folder / "sb3.zip", device="cpu")
    for sample in buttons.samples[:20]:
        chosen, _ = model.predict(dict(sample.inputs), deterministic=True)
        assert (chosen == sample.choices["steering_log_probabilities"]).all()


def test_the_card_of_buttons(buttons: Export, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {file.name for file in buttons.folder.iterdir()} == FILES
    assert_names_nobody(buttons.folder, str(buttons.folder.parent))
    readme = (buttons.folder / "README.md").read_text()
    for words in ("The policy is a class of mario-rl's", "mario-rl selfplay train --env frames", "not at all"):
        assert words in readme
    monkeypatch.chdir(buttons.folder)
    chosen = []
    for code in examples(buttons.folder):
        played: dict[str, Any] = {}
        exec(code, played)
        assert falling(GameMemory(played["games"].ram), 0).all()
        chosen.append(int(np.ravel(played["action"])[0]))
    assert chosen[0] == chosen[1], "both files press the same"


def test_the_cnn_of_buttons(buttons: Export, tmp_path: Path) -> None:
    torch.manual_seed(1)
    player = FramesPlayer(make_network("cnn", 8, 8.0), "cnn")
    samples = samples_of(player)
    write_onnx(tmp_path / "policy.onnx", policy_of(player), samples[0].inputs)
    assert check_onnx(tmp_path / "policy.onnx", samples).observations >= 200
    with pytest.raises(OnnxMismatch):
        check_onnx(tmp_path / "policy.onnx", buttons.samples)


# --- which player is meant ----------------------------------------------------------------------------------------


def test_names_of_players(selfplay_run: RunDirectory, tmp_path: Path) -> None:
    checkpoints = selfplay_run.path.parent
    assert is_player("champion", checkpoints)
    assert is_player("duel", checkpoints)
    assert is_player(str(selfplay_run.path / "player.pt"), checkpoints)
    assert not is_player("nobody", checkpoints)
    found = find_player("duel", checkpoints)
    assert (found.name, found.kind, found.steps) == ("duel", "placements", 1234)
    assert found.config is not None and found.config.seed == 3
    small_player(tmp_path / "step-7.pt")
    assert find_player(str(tmp_path / "step-7.pt"), checkpoints).name == "step-7"
    (selfplay_run.path / "player.pt").unlink()
    assert is_player("duel", checkpoints)
    with pytest.raises(RunError, match="no player 'duel'"):
        find_player("duel", checkpoints)
